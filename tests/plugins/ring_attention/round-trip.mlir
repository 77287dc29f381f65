// REQUIRES: plugin-ring_attention
// RUN: %tw-opt %s | %tw-opt | FileCheck %s

// CHECK-LABEL: func.func @f
// CHECK: ring_attention.attention query(%{{.*}} : tensor<1x4x33x8xf32>) key(%{{.*}} : tensor<1x2x33x8xf32>) value(%{{.*}} : tensor<1x2x33x8xf32>) {causal = "end", num_shards = 5 : i64, scale = 3.500000e-01 : f64} -> tensor<1x4x33x8xf32>, tensor<1x4x33xf32>
func.func @f(%q: tensor<1x4x33x8xf32>, %k: tensor<1x2x33x8xf32>) -> (tensor<1x4x33x8xf32>, tensor<1x4x33xf32>) {
  %o, %l = ring_attention.attention query(%q : tensor<1x4x33x8xf32>) key(%k : tensor<1x2x33x8xf32>) value(%k : tensor<1x2x33x8xf32>)
      {scale = 0.35 : f64, causal = "end", num_shards = 5 : i64} -> tensor<1x4x33x8xf32>, tensor<1x4x33xf32>
  return %o, %l : tensor<1x4x33x8xf32>, tensor<1x4x33xf32>
}
