// REQUIRES: plugin-multi_token_prediction
// RUN: %tw-opt %s | %tw-opt | FileCheck %s
// RUN: %tw-opt --mlir-print-op-generic %s | %tw-opt | FileCheck %s

// CHECK-LABEL: func.func @ops
func.func @ops(%h: tensor<?x8xf32>, %w: tensor<3x5x8xf32>, %b: tensor<3x5xf32>, %a: tensor<2x8xf32>, %m: tensor<2x8x8xf32>, %g: tensor<8xf32>, %j: tensor<8x16xf32>) {
  // CHECK: multi_token_prediction.heads %{{.*}}, %{{.*}} bias(%{{.*}} : tensor<3x5xf32>) : tensor<?x8xf32>, tensor<3x5x8xf32> -> tensor<3x?x5xf32>
  %0 = multi_token_prediction.heads %h, %w bias(%b : tensor<3x5xf32>) : tensor<?x8xf32>, tensor<3x5x8xf32> -> tensor<3x?x5xf32>
  // CHECK: multi_token_prediction.heads %{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<3x5x8xf32> -> tensor<3x?x5xf32>
  %1 = multi_token_prediction.heads %h, %w : tensor<?x8xf32>, tensor<3x5x8xf32> -> tensor<3x?x5xf32>
  // CHECK: multi_token_prediction.offsets %{{.*}}, %{{.*}} matrix(%{{.*}} : tensor<2x8x8xf32>) : tensor<?x8xf32>, tensor<2x8xf32> -> tensor<3x?x8xf32>
  %2 = multi_token_prediction.offsets %h, %a matrix(%m : tensor<2x8x8xf32>) : tensor<?x8xf32>, tensor<2x8xf32> -> tensor<3x?x8xf32>
  // CHECK: multi_token_prediction.offsets %{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<2x8xf32> -> tensor<3x?x8xf32>
  %3 = multi_token_prediction.offsets %h, %a : tensor<?x8xf32>, tensor<2x8xf32> -> tensor<3x?x8xf32>
  // CHECK: multi_token_prediction.join %{{.*}}, %{{.*}} norms(%{{.*}}, %{{.*}}) weight(%{{.*}} : tensor<8x16xf32>) {epsilon = 9.9999999999999995E-7 : f64} : tensor<?x8xf32>, tensor<8xf32>
  %4 = multi_token_prediction.join %h, %h norms(%g, %g) weight(%j : tensor<8x16xf32>) {epsilon = 1.0e-06 : f64} : tensor<?x8xf32>, tensor<8xf32>
  // CHECK: order = "hidden_first"
  %5 = multi_token_prediction.join %h, %h norms(%g, %g) weight(%j : tensor<8x16xf32>) {epsilon = 0.0 : f64, order = "hidden_first"} : tensor<?x8xf32>, tensor<8xf32>
  return
}

// CHECK-LABEL: func.func @loss
func.func @loss(%y: tensor<2x?x?x7xbf16>, %labels: tensor<?x?xi32>) {
  // CHECK: multi_token_prediction.loss %{{.*}}, %{{.*}} : tensor<2x?x?x7xbf16>, tensor<?x?xi32> -> tensor<f32>, tensor<2xf32>
  %0, %1 = multi_token_prediction.loss %y, %labels : tensor<2x?x?x7xbf16>, tensor<?x?xi32> -> tensor<f32>, tensor<2xf32>
  // CHECK: multi_token_prediction.loss %{{.*}}, %{{.*}} {ignore_index = 0 : i64, pooled = true} :
  %2, %3 = multi_token_prediction.loss %y, %labels {ignore_index = 0 : i64, pooled = true} : tensor<2x?x?x7xbf16>, tensor<?x?xi32> -> tensor<f32>, tensor<2xf32>
  return
}
