// REQUIRES: plugin-pre_norm, plugin-rms_norm
// RUN: %tw-opt --pre-norm-fuse-residual %s | FileCheck %s
// RUN: %tw-opt --pre-norm-fuse-residual --remark-format=emitRemark --remarks-filter="receipt.*" %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=RECEIPT

// CHECK-LABEL: func.func @block
// CHECK-SAME: (%[[X:.*]]: tensor<?x8xf32>, %[[F:.*]]: tensor<?x8xf32>, %[[G:.*]]: tensor<8xf32>)
// CHECK-NEXT: %[[S:.*]], %[[N:.*]] = pre_norm.add_norm "rms_norm.norm" %[[X]], %[[F]] params(%[[G]] : tensor<8xf32>)
// CHECK-NEXT: return %[[S]], %[[N]]
// RECEIPT-DAG: [Passed] pre-norm-fuse-residual | Category:receipt:residual | Function=block | Reason="one sweep for the residual sum and rms_norm.norm"
// RECEIPT-DAG: [Passed] pre-norm-fuse-residual | Category:receipt:norm | Function=block | Reason="one sweep for the residual sum and rms_norm.norm"
func.func @block(%x: tensor<?x8xf32>, %f: tensor<?x8xf32>, %g: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %s = tw.add %x, %f : tensor<?x8xf32>
  %n = rms_norm.norm %s weight(%g : tensor<8xf32>) {epsilon = 1.0e-05 : f64} : tensor<?x8xf32>
  return %s, %n : tensor<?x8xf32>, tensor<?x8xf32>
}

// A use of the sum between the two: the sweep moves to the sum's place.
// CHECK-LABEL: func.func @used_between
// CHECK-NEXT: %[[S:.*]], %[[N:.*]] = pre_norm.add_norm
// CHECK-NEXT: %[[E:.*]] = tw.exp %[[S]]
// CHECK-NEXT: return %[[E]], %[[N]]
func.func @used_between(%x: tensor<?x8xf32>, %f: tensor<?x8xf32>, %g: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %s = tw.add %x, %f : tensor<?x8xf32>
  %e = tw.exp %s : tensor<?x8xf32>
  %n = rms_norm.norm %s weight(%g : tensor<8xf32>) {epsilon = 1.0e-05 : f64} : tensor<?x8xf32>
  return %e, %n : tensor<?x8xf32>, tensor<?x8xf32>
}

// ... unless the norm's weight is made after that use.
// CHECK-LABEL: func.func @weight_too_late
// CHECK-NOT: pre_norm
// CHECK: return
// RECEIPT-DAG: [Missed] pre-norm-fuse-residual | Category:receipt:norm | Function=weight_too_late | Reason="the sum is used before the norm's parameters are computed", ToChange="pass the norm's parameters as weights, or compute them before the sum"
func.func @weight_too_late(%x: tensor<?x8xf32>, %f: tensor<?x8xf32>, %g: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %s = tw.add %x, %f : tensor<?x8xf32>
  %e = tw.exp %s : tensor<?x8xf32>
  %h = tw.neg %g : tensor<8xf32>
  %n = rms_norm.norm %s weight(%h : tensor<8xf32>) {epsilon = 1.0e-05 : f64} : tensor<?x8xf32>
  return %e, %n : tensor<?x8xf32>, tensor<?x8xf32>
}

// CHECK-LABEL: func.func @first_norm
// CHECK-NOT: pre_norm
// CHECK: return
// RECEIPT-DAG: [Missed] pre-norm-fuse-residual | Category:receipt:norm | Function=first_norm | Reason="the norm's input is no sum of this function", ToChange="nothing, at the first norm of a function; else let the norm read the residual sum itself"
func.func @first_norm(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %n = rms_norm.norm %x {epsilon = 1.0e-05 : f64} : tensor<?x8xf32>
  return %n : tensor<?x8xf32>
}

// Elementwise ops and matrix products are no norms.
// CHECK-LABEL: func.func @no_norm
// CHECK-NOT: pre_norm
// CHECK: return
func.func @no_norm(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %s = tw.add %x, %x : tensor<4x8xf32>
  %t = tw.tanh %s : tensor<4x8xf32>
  %u = tw.add %t, %s : tensor<4x8xf32>
  %y = tw.linear %u, %w : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
