// REQUIRES: plugin-rms_norm
// RUN: %tw-opt %s | %tw-opt | FileCheck %s
// RUN: %tw-opt --mlir-print-op-generic %s | %tw-opt | FileCheck %s

// CHECK-LABEL: func.func @norm
func.func @norm(%x: tensor<?x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>) {
  // CHECK: rms_norm.norm %{{.*}} {epsilon = 9.9999999999999995E-7 : f64} : tensor<?x8xf32>
  %0 = rms_norm.norm %x {epsilon = 1.0e-06 : f64} : tensor<?x8xf32>
  // CHECK: rms_norm.norm %{{.*}} weight(%{{.*}} : tensor<8xf32>) {epsilon = 1.000000e-05 : f64, unit_offset = true} : tensor<?x8xf32>
  %1 = rms_norm.norm %x weight(%g : tensor<8xf32>) {epsilon = 1.0e-05 : f64, unit_offset = true} : tensor<?x8xf32>
  // CHECK: rms_norm.norm %{{.*}} weight(%{{.*}} : tensor<8xf32>) bias(%{{.*}} : tensor<8xf32>) {epsilon = 1.000000e-05 : f64, epsilon_outside = true} : tensor<?x8xf32>
  %2 = rms_norm.norm %x weight(%g : tensor<8xf32>) bias(%b : tensor<8xf32>) {epsilon = 1.0e-05 : f64, epsilon_outside = true} : tensor<?x8xf32>
  return
}

// CHECK-LABEL: func.func @ranks
func.func @ranks(%x: tensor<4xbf16>, %y: tensor<2x?x3x4xf64>) {
  // CHECK: rms_norm.norm %{{.*}} : tensor<4xbf16>
  %0 = rms_norm.norm %x {epsilon = 1.0e-05 : f64} : tensor<4xbf16>
  // CHECK: rms_norm.norm %{{.*}} : tensor<2x?x3x4xf64>
  %1 = rms_norm.norm %y {epsilon = 0.0 : f64} : tensor<2x?x3x4xf64>
  return
}

// CHECK-LABEL: func.func @layer_norm
func.func @layer_norm(%x: tensor<?x8xf32>, %y: tensor<8xbf16>, %g: tensor<8xf32>, %b: tensor<8xf32>) {
  // CHECK: rms_norm.layer_norm %{{.*}} {epsilon = 1.000000e-05 : f64} : tensor<?x8xf32>
  %0 = rms_norm.layer_norm %x {epsilon = 1.0e-05 : f64} : tensor<?x8xf32>
  // CHECK: rms_norm.layer_norm %{{.*}} weight(%{{.*}} : tensor<8xf32>) {epsilon = 0.000000e+00 : f64} : tensor<?x8xf32>
  %1 = rms_norm.layer_norm %x weight(%g : tensor<8xf32>) {epsilon = 0.0 : f64} : tensor<?x8xf32>
  // CHECK: rms_norm.layer_norm %{{.*}} bias(%{{.*}} : tensor<8xf32>) {epsilon = 1.000000e-05 : f64} : tensor<8xbf16>
  %2 = rms_norm.layer_norm %y bias(%b : tensor<8xf32>) {epsilon = 1.0e-05 : f64} : tensor<8xbf16>
  return
}
