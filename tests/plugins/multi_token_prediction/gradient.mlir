// REQUIRES: plugin-multi_token_prediction
// Training reaches the heads and the hidden state through the losses. The loss has a derivative of its own, which
// `tilewright plugins check` compares with differences; no logarithm is in it.
// RUN: %tw-opt --differentiate-functions %s | FileCheck %s

// CHECK-LABEL: func.func @step.gradient(
// CHECK-NOT: tw.log
// CHECK: return {{.*}} : tensor<?x8x16xf32>, tensor<2x11x16xf32>
func.func @step(%h: tensor<?x8x16xf32>, %w: tensor<2x11x16xf32>, %labels: tensor<?x8xi32>) -> tensor<f32> attributes {tw.differentiate = array<i64: 0, 1>} {
  %y = multi_token_prediction.heads %h, %w : tensor<?x8x16xf32>, tensor<2x11x16xf32> -> tensor<2x?x8x11xf32>
  %loss, %heads = multi_token_prediction.loss %y, %labels : tensor<2x?x8x11xf32>, tensor<?x8xi32> -> tensor<f32>, tensor<2xf32>
  return %loss : tensor<f32>
}
