// RUN: %tw-opt %s --tile-lower-by-reference | FileCheck %s
// RUN: %tw-opt %s --tile-lower-by-reference=without-kernels=tw.softmax --remarks-filter-passed=receipt 2>&1 | FileCheck %s
// RUN: not %tw-opt %s --tile-lower-by-reference=shape-class=large 2>&1 | FileCheck %s --check-prefix=CLASS

// CLASS: error: tile-lower-by-reference: unknown shape class 'large', wanted decode, small or prefill

// An op that has a reference lowering and no kernel form (plugins' ops: tests/e2e/Inputs/reference-forms.mlir).
// CHECK-LABEL: func.func @softmax
func.func @softmax(%x: tensor<?x33xf32>) -> tensor<?x33xf32> {
  // CHECK: tw.reduce "max"
  // CHECK: tw.exp
  // CHECK: tw.reduce "sum"
  // CHECK: tw.div {{.*}}tw.origin = "tw.softmax"
  // CHECK-NOT: tw.softmax %
  %y = tw.softmax %x dim 1 : tensor<?x33xf32>
  return %y : tensor<?x33xf32>
}
