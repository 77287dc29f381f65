// REQUIRES: plugin-pre_norm, plugin-rms_norm
// RUN: %tw-opt %s | %tw-opt | FileCheck %s

// CHECK-LABEL: func.func @add_norm
func.func @add_norm(%x: tensor<?x8xf32>, %f: tensor<?x8xf32>, %g: tensor<8xf32>) {
  // CHECK: %{{.*}}, %{{.*}} = pre_norm.add_norm "rms_norm.norm" %{{.*}}, %{{.*}} params(%{{.*}} : tensor<8xf32>) {norm_attributes = {epsilon = 1.000000e-05 : f64, operandSegmentSizes = array<i32: 1, 1, 0>}} : tensor<?x8xf32>
  %0, %1 = pre_norm.add_norm "rms_norm.norm" %x, %f params(%g : tensor<8xf32>) {norm_attributes = {epsilon = 1.0e-05 : f64, operandSegmentSizes = array<i32: 1, 1, 0>}} : tensor<?x8xf32>
  // CHECK: pre_norm.add_norm "rms_norm.norm" %{{.*}}, %{{.*}} {norm_attributes
  %2, %3 = pre_norm.add_norm "rms_norm.norm" %x, %f {norm_attributes = {epsilon = 1.0e-05 : f64, operandSegmentSizes = array<i32: 1, 0, 0>}} : tensor<?x8xf32>
  return
}
