// REQUIRES: plugin-multi_token_prediction
// RUN: %tw-opt --plugin=%plugins/libtilewright_multi_token_prediction.so %s | FileCheck %s
// RUN: not %tw-opt --no-plugin multi_token_prediction %s 2>&1 | FileCheck %s --check-prefix=HIDDEN

// CHECK: multi_token_prediction.offsets
// HIDDEN: error: Dialect `multi_token_prediction' not found for custom op 'multi_token_prediction.offsets'
func.func @f(%h: tensor<?x8xf32>, %a: tensor<2x8xf32>) -> tensor<3x?x8xf32> {
  %0 = multi_token_prediction.offsets %h, %a : tensor<?x8xf32>, tensor<2x8xf32> -> tensor<3x?x8xf32>
  return %0 : tensor<3x?x8xf32>
}
