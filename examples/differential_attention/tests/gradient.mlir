// REQUIRES: plugin-differential_attention
// The derivative is the op's own: one reciprocal root, not the chain of the reference. `tilewright plugins check` compares
// it with differences of the op.
// RUN: %tw-opt --differentiate-functions %s | FileCheck %s

// CHECK-LABEL: func.func @combine.gradient(
// CHECK: tw.rsqrt
// CHECK-NOT: tw.rsqrt
// CHECK: tw.reduce "sum" %{{.*}} dims [0, 2] : tensor<?x4x8xf32> -> tensor<4xf32>
// CHECK: tw.reduce "sum" %{{.*}} dims [0, 1] : tensor<?x4x8xf32> -> tensor<8xf32>
// CHECK: return {{.*}} : tensor<?x4x8xf32>, tensor<?x4x8xf32>, tensor<4xf32>, tensor<8xf32>
func.func @combine(%a: tensor<?x4x8xf32>, %b: tensor<?x4x8xf32>, %l: tensor<4xf32>, %g: tensor<8xf32>) -> tensor<?x4x8xf32>
    attributes {tw.differentiate = array<i64: 0, 1, 2, 3>} {
  %y = differential_attention.combine %a, %b, %l weight(%g : tensor<8xf32>) {epsilon = 1.0e-05 : f64, scale = 0.2 : f64} : tensor<?x4x8xf32>, tensor<4xf32>
  return %y : tensor<?x4x8xf32>
}
