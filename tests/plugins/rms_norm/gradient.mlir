// REQUIRES: plugin-rms_norm
// The derivative is the op's own, not that of the ops that define it; `tilewright plugins check` compares it with
// differences of the op.
// RUN: %tw-opt --differentiate-functions %s | FileCheck %s

// Epsilon inside of the root; the weight's gradient sums over all rows.
// CHECK-LABEL: func.func @inside.gradient(
// CHECK: tw.rsqrt
// CHECK-NOT: tw.rsqrt
// CHECK: %[[DW:.*]] = tw.reduce "sum" %{{.*}} dims [0, 1] : tensor<?x5x48xf32> -> tensor<48xf32>
// CHECK: return %{{.*}}, %[[DW]] :
func.func @inside(%x: tensor<?x5x48xf32>, %g: tensor<48xf32>) -> tensor<?x5x48xf32> attributes {tw.differentiate = array<i64: 0, 1>} {
  %y = rms_norm.norm %x weight(%g : tensor<48xf32>) {epsilon = 1.0e-06 : f64} : tensor<?x5x48xf32>
  return %y : tensor<?x5x48xf32>
}

// In 16 bits the inner arithmetic is in f32.
// CHECK-LABEL: func.func @narrow.gradient(
// CHECK: %[[SUM:.*]] = tw.reduce "sum" %{{.*}} dims [0] : tensor<?x8xf32> -> tensor<8xf32>
// CHECK: tw.cast %[[SUM]] : tensor<8xf32> -> tensor<8xbf16>
// CHECK: return {{.*}} : tensor<?x8xbf16>, tensor<8xbf16>
func.func @narrow(%x: tensor<?x8xbf16>, %b: tensor<8xbf16>) -> tensor<?x8xbf16> attributes {tw.differentiate = array<i64: 0, 1>} {
  %y = rms_norm.norm %x bias(%b : tensor<8xbf16>) {epsilon = 1.0e-03 : f64, epsilon_outside = true} : tensor<?x8xbf16>
  return %y : tensor<?x8xbf16>
}

// CHECK-LABEL: func.func @layer.gradient(
// CHECK: tw.reduce "mean"
// CHECK: tw.rsqrt
// CHECK-NOT: tw.rsqrt
// CHECK: %[[LW:.*]] = tw.reduce "sum" %{{.*}} dims [0, 1] : tensor<?x5x48xf32> -> tensor<48xf32>
// CHECK: %[[LB:.*]] = tw.reduce "sum" %{{.*}} dims [0, 1] : tensor<?x5x48xf32> -> tensor<48xf32>
// CHECK: return %{{.*}}, %[[LW]], %[[LB]] :
func.func @layer(%x: tensor<?x5x48xf32>, %g: tensor<48xf32>, %b: tensor<48xf32>) -> tensor<?x5x48xf32> attributes {tw.differentiate = array<i64: 0, 1, 2>} {
  %y = rms_norm.layer_norm %x weight(%g : tensor<48xf32>) bias(%b : tensor<48xf32>) {epsilon = 1.0e-05 : f64} : tensor<?x5x48xf32>
  return %y : tensor<?x5x48xf32>
}
