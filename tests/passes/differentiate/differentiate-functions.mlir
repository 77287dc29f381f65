// RUN: %tw-opt --differentiate-functions --split-input-file --verify-diagnostics %s | FileCheck %s

// The gradient stands behind its function; forward ops that only the result needs are gone.
// CHECK-LABEL: func.func @square(
// CHECK-NOT: tw.differentiate
// CHECK: func.func @square.gradient(%[[X:.*]]: tensor<4xf32>, %[[DY:.*]]: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[A:.*]] = tw.mul %[[DY]], %[[X]]
// CHECK-NEXT: %[[B:.*]] = tw.mul %[[DY]], %[[X]]
// CHECK-NEXT: %[[SUM:.*]] = tw.add %[[A]], %[[B]]
// CHECK-NEXT: return %[[SUM]]
func.func @square(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tw.differentiate = array<i64: 0>} {
  %y = tw.mul %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// A layer that is called twice has one gradient, called twice.
// CHECK: func.func private @layer.gradient.0.1(
// CHECK-NOT: @layer.gradient
// CHECK-LABEL: func.func @model.gradient(
// CHECK: call @layer(
// CHECK-NOT: call @layer(
// CHECK-COUNT-2: call @layer.gradient.0.1(
func.func private @layer(%x: tensor<?x4xf32>, %w: tensor<4x4xf32>) -> tensor<?x4xf32> {
  %y = tw.linear %x, %w : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
func.func @model(%x: tensor<?x4xf32>, %v: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<?x4xf32>
    attributes {tw.differentiate = array<i64: 0, 1, 2>} {
  %a = call @layer(%x, %v) : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  %b = call @layer(%a, %w) : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  return %b : tensor<?x4xf32>
}

// An op without a gradient of its own is differentiated as the core ops that define it.
// CHECK-LABEL: func.func @softmax.gradient(
// CHECK-NOT: tw.softmax
// CHECK: tw.exp
func.func @softmax(%x: tensor<2x4xf32>) -> tensor<2x4xf32> attributes {tw.differentiate = array<i64: 0>} {
  %y = tw.softmax %x dim 1 : tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// The residual's identity path: what comes from behind goes on to x as it is, whatever f is; the block adds to it.
// CHECK-LABEL: func.func @residual.gradient(
// CHECK-SAME: %{{.*}}: tensor<?x8xf32>, %[[W:.*]]: tensor<8x8xf32>, %[[DY:.*]]: tensor<?x8xf32>) -> tensor<?x8xf32>
// CHECK: %[[WT:.*]] = tw.transpose %[[W]] perm [1, 0]
// CHECK: %[[DF:.*]] = tw.linear %[[DY]], %[[WT]]
// CHECK: %[[DX:.*]] = tw.add %[[DY]], %[[DF]]
// CHECK: return %[[DX]] : tensor<?x8xf32>
func.func @residual(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> attributes {tw.differentiate = array<i64: 0>} {
  %f = tw.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>
  %y = tw.add %x, %f : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// expected-error@below {{'func.func' op wants argument numbers in tw.differentiate, array<i64: ...>, found 0 : i64}}
func.func @wrong(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tw.differentiate = 0 : i64} {
  return %x : tensor<4xf32>
}

// -----

func.func @gather(%x: tensor<4x3xf32>, %i: tensor<2xi32>) -> tensor<2x3xf32> attributes {tw.differentiate = array<i64: 0>} {
  // expected-error@below {{'tw.gather' op has no gradient: it implements neither Gradient nor ReferenceLowering}}
  %y = tw.gather %x, %i : tensor<4x3xf32>, tensor<2xi32> -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
