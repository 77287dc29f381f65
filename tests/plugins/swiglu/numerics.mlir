// REQUIRES: plugin-swiglu
// Whole gated feed-forward blocks against PyTorch's values (tests/golden/cases), one per activation.
// RUN: %python %golden/fill.py %golden/cases %s | %tw-opt --reference-interpret -o /dev/null
// RUN: %python %golden/fill.py %golden/cases %s | %tw-opt --reference-interpret=precision=f32 -o /dev/null
// What the recogniser makes of the same blocks written in core ops is held to the same values.
// RUN: %python %golden/fill.py %golden/cases %s | %tw-opt --reference-lower --swiglu-recognise-glu | FileCheck %s
// RUN: %python %golden/fill.py %golden/cases %s | %tw-opt --reference-lower --swiglu-recognise-glu --reference-interpret -o /dev/null

// CHECK-LABEL: func.func @test_swiglu_nobias
// CHECK: swiglu.glu %{{.*}} {activation = "silu"}
func.func @test_swiglu_nobias() {
  %x = tw.constant {{swiglu_nobias:in.x}}
  %w_gate = tw.constant {{swiglu_nobias:in.w_gate}}
  %w_up = tw.constant {{swiglu_nobias:in.w_up}}
  %w_down = tw.constant {{swiglu_nobias:in.w_down}}
  %g = tw.linear %x, %w_gate : tensor<2x5x12xf32>, tensor<20x12xf32> -> tensor<2x5x20xf32>
  %u = tw.linear %x, %w_up : tensor<2x5x12xf32>, tensor<20x12xf32> -> tensor<2x5x20xf32>
  %a = swiglu.glu %g, %u {activation = "silu"} : tensor<2x5x20xf32>
  %d = tw.linear %a, %w_down : tensor<2x5x20xf32>, tensor<9x20xf32> -> tensor<2x5x9xf32>
  %y = tw.constant {{swiglu_nobias:out.y}}
  check.expect_close %d, %y {absolute = {{swiglu_nobias:limit out.y}} : f64} : tensor<2x5x9xf32>
  return
}

// CHECK-LABEL: func.func @test_geglu_erf
// CHECK: swiglu.glu %{{.*}} {activation = "gelu"}
func.func @test_geglu_erf() {
  %x = tw.constant {{geglu_erf:in.x}}
  %w_gate = tw.constant {{geglu_erf:in.w_gate}}
  %b_gate = tw.constant {{geglu_erf:in.b_gate}}
  %w_up = tw.constant {{geglu_erf:in.w_up}}
  %b_up = tw.constant {{geglu_erf:in.b_up}}
  %w_down = tw.constant {{geglu_erf:in.w_down}}
  %b_down = tw.constant {{geglu_erf:in.b_down}}
  %g = tw.linear %x, %w_gate bias %b_gate : tensor<2x5x12xf32>, tensor<20x12xf32>, tensor<20xf32> -> tensor<2x5x20xf32>
  %u = tw.linear %x, %w_up bias %b_up : tensor<2x5x12xf32>, tensor<20x12xf32>, tensor<20xf32> -> tensor<2x5x20xf32>
  %a = swiglu.glu %g, %u {activation = "gelu"} : tensor<2x5x20xf32>
  %d = tw.linear %a, %w_down bias %b_down : tensor<2x5x20xf32>, tensor<12x20xf32>, tensor<12xf32> -> tensor<2x5x12xf32>
  %y = tw.constant {{geglu_erf:out.y}}
  check.expect_close %d, %y {absolute = {{geglu_erf:limit out.y}} : f64} : tensor<2x5x12xf32>
  return
}

// CHECK-LABEL: func.func @test_geglu_tanh
// CHECK: swiglu.glu %{{.*}} {activation = "gelu_tanh"}
func.func @test_geglu_tanh() {
  %x = tw.constant {{geglu_tanh:in.x}}
  %w_gate = tw.constant {{geglu_tanh:in.w_gate}}
  %b_gate = tw.constant {{geglu_tanh:in.b_gate}}
  %w_up = tw.constant {{geglu_tanh:in.w_up}}
  %b_up = tw.constant {{geglu_tanh:in.b_up}}
  %w_down = tw.constant {{geglu_tanh:in.w_down}}
  %b_down = tw.constant {{geglu_tanh:in.b_down}}
  %g = tw.linear %x, %w_gate bias %b_gate : tensor<2x5x12xf32>, tensor<20x12xf32>, tensor<20xf32> -> tensor<2x5x20xf32>
  %u = tw.linear %x, %w_up bias %b_up : tensor<2x5x12xf32>, tensor<20x12xf32>, tensor<20xf32> -> tensor<2x5x20xf32>
  %a = swiglu.glu %g, %u {activation = "gelu_tanh"} : tensor<2x5x20xf32>
  %d = tw.linear %a, %w_down bias %b_down : tensor<2x5x20xf32>, tensor<12x20xf32>, tensor<12xf32> -> tensor<2x5x12xf32>
  %y = tw.constant {{geglu_tanh:out.y}}
  check.expect_close %d, %y {absolute = {{geglu_tanh:limit out.y}} : f64} : tensor<2x5x12xf32>
  return
}

// CHECK-LABEL: func.func @test_reglu
// CHECK: swiglu.glu %{{.*}} {activation = "relu"}
func.func @test_reglu() {
  %x = tw.constant {{reglu:in.x}}
  %w_gate = tw.constant {{reglu:in.w_gate}}
  %b_gate = tw.constant {{reglu:in.b_gate}}
  %w_up = tw.constant {{reglu:in.w_up}}
  %b_up = tw.constant {{reglu:in.b_up}}
  %w_down = tw.constant {{reglu:in.w_down}}
  %b_down = tw.constant {{reglu:in.b_down}}
  %g = tw.linear %x, %w_gate bias %b_gate : tensor<2x5x12xf32>, tensor<20x12xf32>, tensor<20xf32> -> tensor<2x5x20xf32>
  %u = tw.linear %x, %w_up bias %b_up : tensor<2x5x12xf32>, tensor<20x12xf32>, tensor<20xf32> -> tensor<2x5x20xf32>
  %a = swiglu.glu %g, %u {activation = "relu"} : tensor<2x5x20xf32>
  %d = tw.linear %a, %w_down bias %b_down : tensor<2x5x20xf32>, tensor<12x20xf32>, tensor<12xf32> -> tensor<2x5x12xf32>
  %y = tw.constant {{reglu:out.y}}
  check.expect_close %d, %y {absolute = {{reglu:limit out.y}} : f64} : tensor<2x5x12xf32>
  return
}

// CHECK-LABEL: func.func @test_glu_sigmoid
// CHECK: swiglu.glu %{{.*}} {activation = "sigmoid"}
func.func @test_glu_sigmoid() {
  %x = tw.constant {{glu_sigmoid:in.x}}
  %w_gate = tw.constant {{glu_sigmoid:in.w_gate}}
  %b_gate = tw.constant {{glu_sigmoid:in.b_gate}}
  %w_up = tw.constant {{glu_sigmoid:in.w_up}}
  %b_up = tw.constant {{glu_sigmoid:in.b_up}}
  %w_down = tw.constant {{glu_sigmoid:in.w_down}}
  %b_down = tw.constant {{glu_sigmoid:in.b_down}}
  %g = tw.linear %x, %w_gate bias %b_gate : tensor<2x5x12xf32>, tensor<20x12xf32>, tensor<20xf32> -> tensor<2x5x20xf32>
  %u = tw.linear %x, %w_up bias %b_up : tensor<2x5x12xf32>, tensor<20x12xf32>, tensor<20xf32> -> tensor<2x5x20xf32>
  %a = swiglu.glu %g, %u {activation = "sigmoid"} : tensor<2x5x20xf32>
  %d = tw.linear %a, %w_down bias %b_down : tensor<2x5x20xf32>, tensor<12x20xf32>, tensor<12xf32> -> tensor<2x5x12xf32>
  %y = tw.constant {{glu_sigmoid:out.y}}
  check.expect_close %d, %y {absolute = {{glu_sigmoid:limit out.y}} : f64} : tensor<2x5x12xf32>
  return
}

// The clamped form by hand: gate 3 is cut to 2, up -5 to -2, then 2 / (1 + exp(-2 alpha)) * (-2 + 1).
// CHECK-LABEL: func.func @test_clamped
func.func @test_clamped() {
  %g = tw.constant dense<[3.0, -3.0]> : tensor<2xf32>
  %u = tw.constant dense<[-5.0, 0.5]> : tensor<2xf32>
  %y = tw.constant dense<[-1.9356586, -0.02710696]> : tensor<2xf32>
  %a = swiglu.glu %g, %u {activation = "silu", alpha = 1.702 : f64, limit = 2.0 : f64, up_offset = 1.0 : f64} : tensor<2xf32>
  check.expect_close %a, %y {absolute = 1.0e-06 : f64} : tensor<2xf32>
  return
}
