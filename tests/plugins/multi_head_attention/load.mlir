// REQUIRES: plugin-multi_head_attention
// RUN: %tw-opt --plugin=%plugins/libtilewright_multi_head_attention.so %s | FileCheck %s
// RUN: not %tw-opt --no-plugin multi_head_attention %s 2>&1 | FileCheck %s --check-prefix=HIDDEN

// CHECK: multi_head_attention.self_attention
// HIDDEN: error: operation being parsed with an unregistered dialect
func.func @f(%x: tensor<2x3x4xf32>, %w: tensor<4x4xf32>) -> tensor<2x3x4xf32> {
  %0 = "multi_head_attention.self_attention"(%x, %w, %w, %w) {heads = 2 : i64, kv_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}
