// RUN: %tw-opt %s --reference-lower | FileCheck %s

// An op with a reference lowering becomes the core ops that define it; the op that makes its result says what it stands for.
// CHECK-LABEL: func.func @softmax
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>
// CHECK-NOT: tw.softmax %
// CHECK: %[[TOP:.*]] = tw.reduce "max" %[[X]] dims [1]
// CHECK: tw.exp
// CHECK: tw.reduce "sum"
// CHECK: %[[Y:.*]] = tw.div {{.*}}tw.origin = "tw.softmax"
// CHECK: return %[[Y]]
func.func @softmax(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %y = tw.softmax %x dim 1 : tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
