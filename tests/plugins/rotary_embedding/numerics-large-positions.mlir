// REQUIRES: plugin-rotary_embedding
// Positions above 10000: angles are formed in f64 from exact integers, and rates are not rounded to f32.
// RUN: %python %golden/fill.py %golden/cases %s | %tw-opt --reference-interpret -o /dev/null

func.func @test_rope_base500k_q() {
  %x = tw.constant {{rope_base500k:in.q}}
  %p = tw.constant {{rope_base500k:in.position_ids as i32}}
  %y = tw.constant {{rope_base500k:out.q}}
  %r = rotary_embedding.rotate %x, %p {base = 500000.0 : f64, rotary_dim = 16 : i64, layout = "half"} : tensor<2x3x6x16xf32>, tensor<2x6xi32>
  check.expect_close %r, %y {absolute = {{rope_base500k:limit out.q}} : f64} : tensor<2x3x6x16xf32>
  return
}

func.func @test_rope_base500k_k() {
  %x = tw.constant {{rope_base500k:in.k}}
  %p = tw.constant {{rope_base500k:in.position_ids as i32}}
  %y = tw.constant {{rope_base500k:out.k}}
  %r = rotary_embedding.rotate %x, %p {base = 500000.0 : f64, rotary_dim = 16 : i64, layout = "half"} : tensor<2x1x6x16xf32>, tensor<2x6xi32>
  check.expect_close %r, %y {absolute = {{rope_base500k:limit out.k}} : f64} : tensor<2x1x6x16xf32>
  return
}
