// REQUIRES: plugin-differential_attention
// RUN: %tw-opt %s | %tw-opt | FileCheck %s
// RUN: %tw-opt --mlir-print-op-generic %s | %tw-opt | FileCheck %s

// CHECK-LABEL: func.func @combine
func.func @combine(%a: tensor<?x4x8xf32>, %l: tensor<4xf32>, %g: tensor<8xf32>, %h: tensor<2x3x?x6xbf16>, %m: tensor<3xbf16>) {
  // CHECK: differential_attention.combine %{{.*}}, %{{.*}}, %{{.*}} {epsilon = 1.000000e-05 : f64} : tensor<?x4x8xf32>, tensor<4xf32>
  %0 = differential_attention.combine %a, %a, %l {epsilon = 1.0e-05 : f64} : tensor<?x4x8xf32>, tensor<4xf32>
  // CHECK: differential_attention.combine %{{.*}} weight(%{{.*}} : tensor<8xf32>) {epsilon = 0.000000e+00 : f64, scale = 2.000000e-01 : f64} : tensor<?x4x8xf32>, tensor<4xf32>
  %1 = differential_attention.combine %a, %a, %l weight(%g : tensor<8xf32>) {epsilon = 0.0 : f64, scale = 0.2 : f64} : tensor<?x4x8xf32>, tensor<4xf32>
  // CHECK: differential_attention.combine {{.*}} : tensor<2x3x?x6xbf16>, tensor<3xbf16>
  %2 = differential_attention.combine %h, %h, %m {epsilon = 1.0e-05 : f64} : tensor<2x3x?x6xbf16>, tensor<3xbf16>
  return
}
