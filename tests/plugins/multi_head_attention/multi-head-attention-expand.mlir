// REQUIRES: plugin-multi_head_attention
// RUN: %tw-opt --multi-head-attention-expand %s | FileCheck %s

// The module's attention is one that other passes know: keys and values of 2 heads are not repeated.
// CHECK-LABEL: func.func @self
// CHECK-NOT: multi_head_attention
// CHECK: tw.attention query(%{{.*}} : tensor<2x4x?x4xf32>) key(%{{.*}} : tensor<2x2x?x4xf32>) value(%{{.*}} : tensor<2x2x?x4xf32>) {causal = "end", scale = 5.000000e-01 : f64}
// CHECK: tw.linear %{{.*}}, %arg3
// CHECK-NEXT: return
func.func @self(%x: tensor<2x?x16xf32>, %wq: tensor<16x16xf32>, %wk: tensor<8x16xf32>, %wo: tensor<16x16xf32>) -> tensor<2x?x16xf32> {
  %y = "multi_head_attention.self_attention"(%x, %wq, %wk, %wk, %wo) {heads = 4 : i64, kv_heads = 2 : i64, causal = "end",
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
    : (tensor<2x?x16xf32>, tensor<16x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<2x?x16xf32>
  return %y : tensor<2x?x16xf32>
}

// The encoder's padding hides keys; norms of heads come behind their projections.
// CHECK-LABEL: func.func @cross
// CHECK: tw.rsqrt
// CHECK: tw.rsqrt
// CHECK: tw.attention query(%{{.*}} : tensor<2x2x3x4xf32>) key(%{{.*}} : tensor<2x2x5x4xf32>) value(%{{.*}} : tensor<2x2x5x4xf32>) mask(%arg3 : tensor<2x1x3x5xi1>) {scale = 2.500000e-01 : f64}
func.func @cross(%x: tensor<2x3x8xf32>, %c: tensor<2x5x8xf32>, %w: tensor<8x8xf32>, %m: tensor<2x1x3x5xi1>) -> tensor<2x3x8xf32> {
  %y = "multi_head_attention.cross_attention"(%x, %c, %w, %w, %w, %m) {heads = 2 : i64, kv_heads = 2 : i64, scale = 0.25 : f64,
    qk_norm = "rms", qk_norm_epsilon = 1.0e-06 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0>}
    : (tensor<2x3x8xf32>, tensor<2x5x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<2x1x3x5xi1>) -> tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}

// A mask hides by its zeros, whatever its type.
// CHECK-LABEL: func.func @masked_by_integers
// CHECK: tw.attention {{.*}} mask(%arg2 : tensor<3x3xi32>)
func.func @masked_by_integers(%x: tensor<2x3x8xf32>, %w: tensor<8x8xf32>, %m: tensor<3x3xi32>) -> tensor<2x3x8xf32> {
  %y = "multi_head_attention.self_attention"(%x, %w, %w, %w, %w, %m) {heads = 2 : i64, kv_heads = 2 : i64,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0>}
    : (tensor<2x3x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<3x3xi32>) -> tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}

// The width of a head is that of its weights' rows, 16, not the model's width over the number of heads: so is the scale, 1/4.
// CHECK-LABEL: func.func @wide_heads
// CHECK: tw.attention query(%{{.*}} : tensor<2x4x3x16xf32>) key(%{{.*}} : tensor<2x2x3x16xf32>) value(%{{.*}} : tensor<2x2x3x16xf32>) {scale = 2.500000e-01 : f64}
func.func @wide_heads(%x: tensor<2x3x40xf32>, %q: tensor<64x40xf32>, %kv: tensor<32x40xf32>, %o: tensor<40x64xf32>) -> tensor<2x3x40xf32> {
  %y = "multi_head_attention.self_attention"(%x, %q, %kv, %kv, %o) {heads = 4 : i64, kv_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x40xf32>, tensor<64x40xf32>, tensor<32x40xf32>, tensor<32x40xf32>, tensor<40x64xf32>) -> tensor<2x3x40xf32>
  return %y : tensor<2x3x40xf32>
}
