// REQUIRES: plugin-grouped_query_attention
// Attention on repeated heads and on shared ones gives PyTorch's values (tests/golden/cases); a `tile` order repeat is left as it is.
// RUN: %python %golden/fill.py %golden/cases %s | %tw-opt --reference-interpret -o /dev/null
// RUN: %python %golden/fill.py %golden/cases %s | %tw-opt --grouped-query-attention-share --reference-interpret -o /dev/null
// RUN: %python %golden/fill.py %golden/cases %s | %tw-opt --grouped-query-attention-share | FileCheck %s

// CHECK-LABEL: func.func @test_expand
// CHECK: tw.attention query(%{{.*}} : tensor<2x6x7x8xf32>) key(%{{.*}} : tensor<2x2x7x8xf32>)
func.func @test_expand() {
  %q = tw.constant {{attn_gqa_6_2:in.q}}
  %k = tw.constant {{attn_gqa_6_2:in.k}}
  %v = tw.constant {{attn_gqa_6_2:in.v}}
  %kl = tw.constant dense<0.0> : tensor<2x2x3x7x8xf32>
  %kb = tw.broadcast %k like %kl dims [0, 1, 3, 4] : tensor<2x2x7x8xf32>, tensor<2x2x3x7x8xf32> -> tensor<2x2x3x7x8xf32>
  %kr = tw.reshape %kb : tensor<2x2x3x7x8xf32> -> tensor<2x6x7x8xf32>
  %vl = tw.constant dense<0.0> : tensor<2x2x3x7x8xf32>
  %vb = tw.broadcast %v like %vl dims [0, 1, 3, 4] : tensor<2x2x7x8xf32>, tensor<2x2x3x7x8xf32> -> tensor<2x2x3x7x8xf32>
  %vr = tw.reshape %vb : tensor<2x2x3x7x8xf32> -> tensor<2x6x7x8xf32>
  %o = tw.attention query(%q : tensor<2x6x7x8xf32>) key(%kr : tensor<2x6x7x8xf32>) value(%vr : tensor<2x6x7x8xf32>) {scale = 0.35355339059327379 : f64} -> tensor<2x6x7x8xf32>
  %y = tw.constant {{attn_gqa_6_2:out.o}}
  check.expect_close %o, %y {absolute = {{attn_gqa_6_2:limit out.o}} : f64} : tensor<2x6x7x8xf32>
  return
}

// CHECK-LABEL: func.func @test_concat
// CHECK: tw.attention query(%{{.*}} : tensor<2x6x7x8xf32>) key(%{{.*}} : tensor<2x2x7x8xf32>)
func.func @test_concat() {
  %q = tw.constant {{attn_gqa_6_2:in.q}}
  %k = tw.constant {{attn_gqa_6_2:in.k}}
  %v = tw.constant {{attn_gqa_6_2:in.v}}
  %k0 = tw.slice %k dim 1 start 0 size 1 : tensor<2x2x7x8xf32> -> tensor<2x1x7x8xf32>
  %k1 = tw.slice %k dim 1 start 1 size 1 : tensor<2x2x7x8xf32> -> tensor<2x1x7x8xf32>
  %kr = tw.concat dim 1 %k0, %k0, %k0, %k1, %k1, %k1 : tensor<2x1x7x8xf32>, tensor<2x1x7x8xf32>, tensor<2x1x7x8xf32>, tensor<2x1x7x8xf32>, tensor<2x1x7x8xf32>, tensor<2x1x7x8xf32> -> tensor<2x6x7x8xf32>
  %v0 = tw.slice %v dim 1 start 0 size 1 : tensor<2x2x7x8xf32> -> tensor<2x1x7x8xf32>
  %v1 = tw.slice %v dim 1 start 1 size 1 : tensor<2x2x7x8xf32> -> tensor<2x1x7x8xf32>
  %vr = tw.concat dim 1 %v0, %v0, %v0, %v1, %v1, %v1 : tensor<2x1x7x8xf32>, tensor<2x1x7x8xf32>, tensor<2x1x7x8xf32>, tensor<2x1x7x8xf32>, tensor<2x1x7x8xf32>, tensor<2x1x7x8xf32> -> tensor<2x6x7x8xf32>
  %o = tw.attention query(%q : tensor<2x6x7x8xf32>) key(%kr : tensor<2x6x7x8xf32>) value(%vr : tensor<2x6x7x8xf32>) {scale = 0.35355339059327379 : f64} -> tensor<2x6x7x8xf32>
  %y = tw.constant {{attn_gqa_6_2:out.o}}
  check.expect_close %o, %y {absolute = {{attn_gqa_6_2:limit out.o}} : f64} : tensor<2x6x7x8xf32>
  return
}

// CHECK-LABEL: func.func @test_tile_expand
// CHECK: tw.attention query(%{{.*}} : tensor<2x6x7x8xf32>) key(%{{.*}} : tensor<2x6x7x8xf32>)
func.func @test_tile_expand() {
  %q = tw.constant {{attn_tile_order_not_gqa:in.q}}
  %k = tw.constant {{attn_tile_order_not_gqa:in.k}}
  %v = tw.constant {{attn_tile_order_not_gqa:in.v}}
  %kl = tw.constant dense<0.0> : tensor<2x3x2x7x8xf32>
  %kb = tw.broadcast %k like %kl dims [0, 2, 3, 4] : tensor<2x2x7x8xf32>, tensor<2x3x2x7x8xf32> -> tensor<2x3x2x7x8xf32>
  %kr = tw.reshape %kb : tensor<2x3x2x7x8xf32> -> tensor<2x6x7x8xf32>
  %vl = tw.constant dense<0.0> : tensor<2x3x2x7x8xf32>
  %vb = tw.broadcast %v like %vl dims [0, 2, 3, 4] : tensor<2x2x7x8xf32>, tensor<2x3x2x7x8xf32> -> tensor<2x3x2x7x8xf32>
  %vr = tw.reshape %vb : tensor<2x3x2x7x8xf32> -> tensor<2x6x7x8xf32>
  %o = tw.attention query(%q : tensor<2x6x7x8xf32>) key(%kr : tensor<2x6x7x8xf32>) value(%vr : tensor<2x6x7x8xf32>) {scale = 0.35355339059327379 : f64} -> tensor<2x6x7x8xf32>
  %y = tw.constant {{attn_tile_order_not_gqa:out.o}}
  check.expect_close %o, %y {absolute = {{attn_tile_order_not_gqa:limit out.o}} : f64} : tensor<2x6x7x8xf32>
  return
}

// CHECK-LABEL: func.func @test_tile_concat
// CHECK: tw.attention query(%{{.*}} : tensor<2x6x7x8xf32>) key(%{{.*}} : tensor<2x6x7x8xf32>)
func.func @test_tile_concat() {
  %q = tw.constant {{attn_tile_order_not_gqa:in.q}}
  %k = tw.constant {{attn_tile_order_not_gqa:in.k}}
  %v = tw.constant {{attn_tile_order_not_gqa:in.v}}
  %k0 = tw.slice %k dim 1 start 0 size 1 : tensor<2x2x7x8xf32> -> tensor<2x1x7x8xf32>
  %k1 = tw.slice %k dim 1 start 1 size 1 : tensor<2x2x7x8xf32> -> tensor<2x1x7x8xf32>
  %kr = tw.concat dim 1 %k0, %k1, %k0, %k1, %k0, %k1 : tensor<2x1x7x8xf32>, tensor<2x1x7x8xf32>, tensor<2x1x7x8xf32>, tensor<2x1x7x8xf32>, tensor<2x1x7x8xf32>, tensor<2x1x7x8xf32> -> tensor<2x6x7x8xf32>
  %v0 = tw.slice %v dim 1 start 0 size 1 : tensor<2x2x7x8xf32> -> tensor<2x1x7x8xf32>
  %v1 = tw.slice %v dim 1 start 1 size 1 : tensor<2x2x7x8xf32> -> tensor<2x1x7x8xf32>
  %vr = tw.concat dim 1 %v0, %v1, %v0, %v1, %v0, %v1 : tensor<2x1x7x8xf32>, tensor<2x1x7x8xf32>, tensor<2x1x7x8xf32>, tensor<2x1x7x8xf32>, tensor<2x1x7x8xf32>, tensor<2x1x7x8xf32> -> tensor<2x6x7x8xf32>
  %o = tw.attention query(%q : tensor<2x6x7x8xf32>) key(%kr : tensor<2x6x7x8xf32>) value(%vr : tensor<2x6x7x8xf32>) {scale = 0.35355339059327379 : f64} -> tensor<2x6x7x8xf32>
  %y = tw.constant {{attn_tile_order_not_gqa:out.o}}
  check.expect_close %o, %y {absolute = {{attn_tile_order_not_gqa:limit out.o}} : f64} : tensor<2x6x7x8xf32>
  return
}
