// REQUIRES: plugin-rms_norm
// The reference against PyTorch's values (tests/golden/cases). Sizes: rows with an odd width, a row of zeros, three dimensions.
// RUN: %python %golden/fill.py %golden/cases %s | %tw-opt --reference-interpret -o /dev/null
// RUN: %python %golden/fill.py %golden/cases %s | %tw-opt --reference-interpret=precision=f32 -o /dev/null

func.func @test_weight() {
  %x = tw.constant {{rms_weight:in.x}}
  %g = tw.constant {{rms_weight:in.weight}}
  %y = tw.constant {{rms_weight:out.y}}
  %n = rms_norm.norm %x weight(%g : tensor<48xf32>) {epsilon = 1.0e-06 : f64} : tensor<3x5x48xf32>
  check.expect_close %n, %y {absolute = {{rms_weight:limit out.y}} : f64} : tensor<3x5x48xf32>
  return
}

func.func @test_no_weight() {
  %x = tw.constant {{rms_none:in.x}}
  %y = tw.constant {{rms_none:out.y}}
  %n = rms_norm.norm %x {epsilon = 1.0e-06 : f64} : tensor<3x5x48xf32>
  check.expect_close %n, %y {absolute = {{rms_none:limit out.y}} : f64} : tensor<3x5x48xf32>
  return
}

func.func @test_unit_offset() {
  %x = tw.constant {{rms_plus_one:in.x}}
  %g = tw.constant {{rms_plus_one:in.weight}}
  %y = tw.constant {{rms_plus_one:out.y}}
  %n = rms_norm.norm %x weight(%g : tensor<48xf32>) {epsilon = 1.0e-06 : f64, unit_offset = true} : tensor<3x5x48xf32>
  check.expect_close %n, %y {absolute = {{rms_plus_one:limit out.y}} : f64} : tensor<3x5x48xf32>
  return
}

func.func @test_epsilon_outside() {
  %x = tw.constant {{rms_eps_outside:in.x}}
  %g = tw.constant {{rms_eps_outside:in.weight}}
  %y = tw.constant {{rms_eps_outside:out.y}}
  %n = rms_norm.norm %x weight(%g : tensor<48xf32>) {epsilon = 1.0e-03 : f64, epsilon_outside = true} : tensor<3x5x48xf32>
  check.expect_close %n, %y {absolute = {{rms_eps_outside:limit out.y}} : f64} : tensor<3x5x48xf32>
  return
}

func.func @test_large_epsilon() {
  %x = tw.constant {{rms_eps_inside_small:in.x}}
  %g = tw.constant {{rms_eps_inside_small:in.weight}}
  %y = tw.constant {{rms_eps_inside_small:out.y}}
  %n = rms_norm.norm %x weight(%g : tensor<48xf32>) {epsilon = 1.0e-03 : f64} : tensor<3x5x48xf32>
  check.expect_close %n, %y {absolute = {{rms_eps_inside_small:limit out.y}} : f64} : tensor<3x5x48xf32>
  return
}

func.func @test_bias() {
  %x = tw.constant {{rms_bias:in.x}}
  %g = tw.constant {{rms_bias:in.weight}}
  %b = tw.constant {{rms_bias:in.bias}}
  %y = tw.constant {{rms_bias:out.y}}
  %n = rms_norm.norm %x weight(%g : tensor<48xf32>) bias(%b : tensor<48xf32>) {epsilon = 1.0e-05 : f64} : tensor<3x5x48xf32>
  check.expect_close %n, %y {absolute = {{rms_bias:limit out.y}} : f64} : tensor<3x5x48xf32>
  return
}

func.func @test_odd_width() {
  %x = tw.constant {{rms_d257:in.x}}
  %g = tw.constant {{rms_d257:in.weight}}
  %y = tw.constant {{rms_d257:out.y}}
  %n = rms_norm.norm %x weight(%g : tensor<257xf32>) {epsilon = 1.0e-05 : f64} : tensor<3x257xf32>
  check.expect_close %n, %y {absolute = {{rms_d257:limit out.y}} : f64} : tensor<3x257xf32>
  return
}

func.func @test_row_of_zeros() {
  %x = tw.constant {{rms_zero_row:in.x}}
  %g = tw.constant {{rms_zero_row:in.weight}}
  %y = tw.constant {{rms_zero_row:out.y}}
  %n = rms_norm.norm %x weight(%g : tensor<48xf32>) {epsilon = 1.0e-06 : f64} : tensor<3x5x48xf32>
  check.expect_close %n, %y {absolute = {{rms_zero_row:limit out.y}} : f64} : tensor<3x5x48xf32>
  return
}

// Llama rounds to bf16 before the weight, Gemma after it: equal to the last bit, so the order is right.
func.func @test_bf16_rounds_before_the_weight() {
  %x = tw.constant {{rms_bf16_llama:in.x}}
  %g = tw.constant {{rms_bf16_llama:in.weight}}
  %y = tw.constant {{rms_bf16_llama:out.y}}
  %n = rms_norm.norm %x weight(%g : tensor<40xbf16>) {epsilon = 1.0e-06 : f64} : tensor<4x40xbf16>
  check.expect_eq %n, %y : tensor<4x40xbf16>
  return
}

func.func @test_bf16_rounds_after_the_offset_weight() {
  %x = tw.constant {{rms_bf16_gemma:in.x}}
  %g = tw.constant {{rms_bf16_gemma:in.weight}}
  %y = tw.constant {{rms_bf16_gemma:out.y}}
  %n = rms_norm.norm %x weight(%g : tensor<40xbf16>) {epsilon = 1.0e-06 : f64, unit_offset = true} : tensor<4x40xbf16>
  check.expect_eq %n, %y : tensor<4x40xbf16>
  return
}

// By hand: hidden 4, x = (1, 2, 3, 4), a stored weight of 0 is a factor of 1: x / sqrt(7.5 + 1e-6).
func.func @test_offset_weight_by_hand() {
  %x = tw.constant dense<[[1.0, 2.0, 3.0, 4.0]]> : tensor<1x4xf32>
  %g = tw.constant dense<0.0> : tensor<4xf32>
  %y = tw.constant dense<[[0.36514835, 0.7302967, 1.0954451, 1.4605934]]> : tensor<1x4xf32>
  %n = rms_norm.norm %x weight(%g : tensor<4xf32>) {epsilon = 1.0e-06 : f64, unit_offset = true} : tensor<1x4xf32>
  check.expect_close %n, %y {absolute = 1.0e-06 : f64} : tensor<1x4xf32>
  return
}

// The same with a stored weight of 0.5: a factor of 1.5.
func.func @test_offset_weight_of_a_half() {
  %x = tw.constant dense<[[1.0, 2.0, 3.0, 4.0]]> : tensor<1x4xf32>
  %g = tw.constant dense<0.5> : tensor<4xf32>
  %y = tw.constant dense<[[0.54772252, 1.0954451, 1.6431676, 2.1908902]]> : tensor<1x4xf32>
  %n = rms_norm.norm %x weight(%g : tensor<4xf32>) {epsilon = 1.0e-06 : f64, unit_offset = true} : tensor<1x4xf32>
  check.expect_close %n, %y {absolute = 1.0e-06 : f64} : tensor<1x4xf32>
  return
}

// ... and of each head, as norms of queries and keys have it.
func.func @test_offset_weight_of_heads() {
  %x = tw.constant dense<[[[1.0, 2.0, 3.0, 4.0], [-4.0, 3.0, -2.0, 1.0]]]> : tensor<1x2x4xf32>
  %g = tw.constant dense<[0.0, 0.5, 0.0, -1.0]> : tensor<4xf32>
  %y = tw.constant dense<[[[0.36514835, 1.0954451, 1.0954451, 0.0], [-1.4605934, 1.6431676, -0.7302967, 0.0]]]> : tensor<1x2x4xf32>
  %n = rms_norm.norm %x weight(%g : tensor<4xf32>) {epsilon = 1.0e-06 : f64, unit_offset = true} : tensor<1x2x4xf32>
  check.expect_close %n, %y {absolute = 1.0e-06 : f64} : tensor<1x2x4xf32>
  return
}
