// RUN: %tw-opt %s --tile-lower-by-reference | FileCheck %s
// RUN: %tw-opt %s --tile-lower-by-reference --remark-format=emitRemark --remarks-filter="receipt.*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=RECEIPT
// RUN: %tw-opt %s --tile-lower-by-reference=without-kernels=tw.softmax --remark-format=emitRemark --remarks-filter="receipt.*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WITHHELD
// RUN: not %tw-opt %s --tile-lower-by-reference=shape-class=large 2>&1 | FileCheck %s --check-prefix=CLASS

// RECEIPT: [Passed] tile-lower-by-reference | Category:receipt:reference_form | Function=softmax | Reason="compiled by its reference lowering: tw.softmax has no kernel form"
// WITHHELD: Reason="compiled by its reference lowering: tw.softmax is not to use its kernel form"
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
