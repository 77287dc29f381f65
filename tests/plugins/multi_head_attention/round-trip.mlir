// REQUIRES: plugin-multi_head_attention
// RUN: %tw-opt %s | %tw-opt | FileCheck %s

// CHECK-LABEL: func.func @self
func.func @self(%x: tensor<2x?x32xf32>, %w: tensor<32x32xf32>, %kw: tensor<16x32xf32>, %b: tensor<32xf32>) {
  // CHECK: "multi_head_attention.self_attention"(%{{.*}}) <{causal = "end", heads = 4 : i64, kv_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0>, qk_norm = "none", scale = 1.000000e+00 : f64}>
  %0 = "multi_head_attention.self_attention"(%x, %w, %kw, %kw, %w, %b, %b) {heads = 4 : i64, kv_heads = 2 : i64, causal = "end", scale = 1.0 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0>} : (tensor<2x?x32xf32>, tensor<32x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<2x?x32xf32>
  return
}

// CHECK-LABEL: func.func @cross
func.func @cross(%x: tensor<2x5x32xf32>, %c: tensor<2x?x24xf32>, %w: tensor<32x32xf32>, %kw: tensor<32x24xf32>, %m: tensor<2x1x5x?xi1>) {
  // CHECK: "multi_head_attention.cross_attention"(%{{.*}}) <{heads = 4 : i64, kv_heads = 4 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0>, qk_norm = "none"}>
  %0 = "multi_head_attention.cross_attention"(%x, %c, %w, %kw, %kw, %m) {heads = 4 : i64, kv_heads = 4 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0>} : (tensor<2x5x32xf32>, tensor<2x?x24xf32>, tensor<32x32xf32>, tensor<32x24xf32>, tensor<32x24xf32>, tensor<2x1x5x?xi1>) -> tensor<2x5x32xf32>
  return
}

// CHECK-LABEL: func.func @norms
func.func @norms(%x: tensor<2x3x4xf32>, %w: tensor<4x4xf32>, %g: tensor<2xf32>) {
  // CHECK: "multi_head_attention.self_attention"({{.*}}) <{{{.*}}qk_norm = "layer", qk_norm_epsilon = 1.000000e-05 : f64}>
  %0 = "multi_head_attention.self_attention"(%x, %w, %w, %w, %g, %g, %g, %g) {heads = 2 : i64, kv_heads = 2 : i64, qk_norm = "layer", qk_norm_epsilon = 1.0e-05 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1>} : (tensor<2x3x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x3x4xf32>
  return
}
