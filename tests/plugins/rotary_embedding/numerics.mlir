// REQUIRES: plugin-rotary_embedding
// The reference against Transformers' values (tests/golden/cases): both layouts, whole and partial, explicit positions.
// RUN: %python %golden/fill.py %golden/cases %s | %tw-opt --reference-interpret -o /dev/null
// RUN: %python %golden/fill.py %golden/cases %s | %tw-opt --reference-interpret=precision=f32 -o /dev/null

func.func @test_rope_half_q() {
  %x = tw.constant {{rope_half:in.q}}
  %p = tw.constant {{rope_half:in.position_ids as i32}}
  %y = tw.constant {{rope_half:out.q}}
  %r = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 16 : i64, layout = "half"} : tensor<2x3x6x16xf32>, tensor<2x6xi32>
  check.expect_close %r, %y {absolute = {{rope_half:limit out.q}} : f64} : tensor<2x3x6x16xf32>
  return
}

func.func @test_rope_half_k() {
  %x = tw.constant {{rope_half:in.k}}
  %p = tw.constant {{rope_half:in.position_ids as i32}}
  %y = tw.constant {{rope_half:out.k}}
  %r = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 16 : i64, layout = "half"} : tensor<2x1x6x16xf32>, tensor<2x6xi32>
  check.expect_close %r, %y {absolute = {{rope_half:limit out.k}} : f64} : tensor<2x1x6x16xf32>
  return
}

func.func @test_rope_half_partial_q() {
  %x = tw.constant {{rope_half_partial:in.q}}
  %p = tw.constant {{rope_half_partial:in.position_ids as i32}}
  %y = tw.constant {{rope_half_partial:out.q}}
  %r = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64, layout = "half"} : tensor<2x3x6x20xf32>, tensor<2x6xi32>
  check.expect_close %r, %y {absolute = {{rope_half_partial:limit out.q}} : f64} : tensor<2x3x6x20xf32>
  return
}

func.func @test_rope_half_partial_k() {
  %x = tw.constant {{rope_half_partial:in.k}}
  %p = tw.constant {{rope_half_partial:in.position_ids as i32}}
  %y = tw.constant {{rope_half_partial:out.k}}
  %r = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64, layout = "half"} : tensor<2x1x6x20xf32>, tensor<2x6xi32>
  check.expect_close %r, %y {absolute = {{rope_half_partial:limit out.k}} : f64} : tensor<2x1x6x20xf32>
  return
}

func.func @test_rope_interleaved_q() {
  %x = tw.constant {{rope_interleaved:in.q}}
  %p = tw.constant {{rope_interleaved:in.position_ids as i32}}
  %y = tw.constant {{rope_interleaved:out.q}}
  %r = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 16 : i64, layout = "interleaved"} : tensor<2x3x6x16xf32>, tensor<2x6xi32>
  check.expect_close %r, %y {absolute = {{rope_interleaved:limit out.q}} : f64} : tensor<2x3x6x16xf32>
  return
}

func.func @test_rope_interleaved_k() {
  %x = tw.constant {{rope_interleaved:in.k}}
  %p = tw.constant {{rope_interleaved:in.position_ids as i32}}
  %y = tw.constant {{rope_interleaved:out.k}}
  %r = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 16 : i64, layout = "interleaved"} : tensor<2x1x6x16xf32>, tensor<2x6xi32>
  check.expect_close %r, %y {absolute = {{rope_interleaved:limit out.k}} : f64} : tensor<2x1x6x16xf32>
  return
}

func.func @test_rope_interleaved_partial_q() {
  %x = tw.constant {{rope_interleaved_partial:in.q}}
  %p = tw.constant {{rope_interleaved_partial:in.position_ids as i32}}
  %y = tw.constant {{rope_interleaved_partial:out.q}}
  %r = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64, layout = "interleaved"} : tensor<2x3x6x20xf32>, tensor<2x6xi32>
  check.expect_close %r, %y {absolute = {{rope_interleaved_partial:limit out.q}} : f64} : tensor<2x3x6x20xf32>
  return
}

func.func @test_rope_interleaved_partial_k() {
  %x = tw.constant {{rope_interleaved_partial:in.k}}
  %p = tw.constant {{rope_interleaved_partial:in.position_ids as i32}}
  %y = tw.constant {{rope_interleaved_partial:out.k}}
  %r = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64, layout = "interleaved"} : tensor<2x1x6x20xf32>, tensor<2x6xi32>
  check.expect_close %r, %y {absolute = {{rope_interleaved_partial:limit out.k}} : f64} : tensor<2x1x6x20xf32>
  return
}

func.func @test_rope_position_ids_q() {
  %x = tw.constant {{rope_position_ids:in.q}}
  %p = tw.constant {{rope_position_ids:in.position_ids as i32}}
  %y = tw.constant {{rope_position_ids:out.q}}
  %r = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 16 : i64, layout = "half"} : tensor<2x3x6x16xf32>, tensor<2x6xi32>
  check.expect_close %r, %y {absolute = {{rope_position_ids:limit out.q}} : f64} : tensor<2x3x6x16xf32>
  return
}

func.func @test_rope_position_ids_k() {
  %x = tw.constant {{rope_position_ids:in.k}}
  %p = tw.constant {{rope_position_ids:in.position_ids as i32}}
  %y = tw.constant {{rope_position_ids:out.k}}
  %r = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 16 : i64, layout = "half"} : tensor<2x1x6x16xf32>, tensor<2x6xi32>
  check.expect_close %r, %y {absolute = {{rope_position_ids:limit out.k}} : f64} : tensor<2x1x6x16xf32>
  return
}

// The rows form is the dense form with one row per sequence: position 1, base 1 gives angle 1 for every pair.
func.func @test_rows_by_hand() {
  %x = tw.constant dense<[[[1.0, 0.0, 0.0, 1.0]], [[1.0, 2.0, 3.0, 4.0]]]> : tensor<2x1x4xf32>
  %p = tw.constant dense<[1, 0]> : tensor<2xi32>
  %y = tw.constant dense<[[[0.5403023, -0.84147098, 0.84147098, 0.5403023]], [[1.0, 2.0, 3.0, 4.0]]]> : tensor<2x1x4xf32>
  %r = rotary_embedding.rotate %x, %p {base = 1.0 : f64, rotary_dim = 4 : i64} : tensor<2x1x4xf32>, tensor<2xi32>
  check.expect_close %r, %y {absolute = 1.0e-06 : f64} : tensor<2x1x4xf32>
  return
}

// A factor divides the angle: position 2 with factors 2 is position 1 without.
func.func @test_factors() {
  %x = tw.constant dense<[[[1.0, 2.0, 3.0, 4.0]]]> : tensor<1x1x4xf32>
  %p1 = tw.constant dense<[1]> : tensor<1xi32>
  %p2 = tw.constant dense<[2]> : tensor<1xi32>
  %f = tw.constant dense<2.0> : tensor<2xf32>
  %a = rotary_embedding.rotate %x, %p1 {base = 10000.0 : f64, rotary_dim = 4 : i64} : tensor<1x1x4xf32>, tensor<1xi32>
  %b = rotary_embedding.rotate %x, %p2 factors(%f : tensor<2xf32>) {base = 10000.0 : f64, rotary_dim = 4 : i64} : tensor<1x1x4xf32>, tensor<1xi32>
  check.expect_close %b, %a {absolute = 1.0e-06 : f64} : tensor<1x1x4xf32>
  return
}

// Positions of one dimension serve every sequence of a dense batch.
func.func @test_shared_positions() {
  %x = tw.constant {{rope_half:in.q}}
  %p = tw.constant dense<[3, 1, 4, 1, 5, 9]> : tensor<6xi32>
  %pp = tw.constant dense<[[3, 1, 4, 1, 5, 9], [3, 1, 4, 1, 5, 9]]> : tensor<2x6xi32>
  %a = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 16 : i64} : tensor<2x3x6x16xf32>, tensor<6xi32>
  %b = rotary_embedding.rotate %x, %pp {base = 10000.0 : f64, rotary_dim = 16 : i64} : tensor<2x3x6x16xf32>, tensor<2x6xi32>
  check.expect_eq %a, %b : tensor<2x3x6x16xf32>
  return
}
