// REQUIRES: plugin-swiglu
// RUN: %tw-opt --swiglu-recognise-glu %s | FileCheck %s
// RUN: %tw-opt --swiglu-recognise-glu --remark-format=emitRemark --remarks-filter="receipt.*" %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=RECEIPT

// CHECK-LABEL: func.func @silu
// CHECK-SAME: (%[[G:.*]]: tensor<?x8xf32>, %[[U:.*]]: tensor<?x8xf32>)
// CHECK-NEXT: %[[Y:.*]] = swiglu.glu %[[G]], %[[U]] {activation = "silu"} : tensor<?x8xf32>
// CHECK-NEXT: return %[[Y]]
// RECEIPT-DAG: [Passed] swiglu-recognise-glu | Category:receipt:feed_forward | Function=silu | Reason="raised to swiglu.glu with activation silu"
func.func @silu(%g: tensor<?x8xf32>, %u: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %s = tw.sigmoid %g : tensor<?x8xf32>
  %a = tw.mul %s, %g : tensor<?x8xf32>
  %y = tw.mul %u, %a : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// An activation that something else uses as well stays, beside the fused op.
// CHECK-LABEL: func.func @shared
// CHECK: %[[S:.*]] = tw.sigmoid
// CHECK: %[[A:.*]] = tw.mul
// CHECK: %[[Y:.*]] = swiglu.glu
// CHECK: return %[[A]], %[[Y]]
func.func @shared(%g: tensor<?x8xf32>, %u: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %s = tw.sigmoid %g : tensor<?x8xf32>
  %a = tw.mul %s, %g : tensor<?x8xf32>
  %y = tw.mul %u, %a : tensor<?x8xf32>
  return %a, %y : tensor<?x8xf32>, tensor<?x8xf32>
}

// SiLU alone is no gated unit.
// CHECK-LABEL: func.func @alone
// CHECK-NOT: swiglu
// CHECK: return
func.func @alone(%g: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %s = tw.sigmoid %g : tensor<?x8xf32>
  %a = tw.mul %s, %g : tensor<?x8xf32>
  return %a : tensor<?x8xf32>
}

// CHECK-LABEL: func.func @relu
// CHECK: swiglu.glu %{{.*}}, %{{.*}} {activation = "relu"}
func.func @relu(%g: tensor<4xf32>, %u: tensor<4xf32>) -> tensor<4xf32> {
  %zero = tw.constant dense<0.0> : tensor<4xf32>
  %a = tw.maximum %g, %zero : tensor<4xf32>
  %y = tw.mul %a, %u : tensor<4xf32>
  return %y : tensor<4xf32>
}

// A wrong constant is no GELU, and the receipt names it.
// CHECK-LABEL: func.func @not_gelu
// CHECK-NOT: swiglu
// CHECK: return
// RECEIPT-DAG: [Missed] swiglu-recognise-glu | Category:receipt:feed_forward | Function=not_gelu | Reason="gelu: the factor inside erf is 0.700000, wanted 0.707107", ToChange="write the activation with its exact constants, or build swiglu.glu itself"
func.func @not_gelu(%g: tensor<4xf32>, %u: tensor<4xf32>) -> tensor<4xf32> {
  %half = tw.constant dense<0.5> : tensor<4xf32>
  %one = tw.constant dense<1.0> : tensor<4xf32>
  %root = tw.constant dense<0.7> : tensor<4xf32>
  %i = tw.mul %g, %root : tensor<4xf32>
  %e = tw.erf %i : tensor<4xf32>
  %p = tw.add %e, %one : tensor<4xf32>
  %h = tw.mul %g, %half : tensor<4xf32>
  %a = tw.mul %h, %p : tensor<4xf32>
  %y = tw.mul %a, %u : tensor<4xf32>
  return %y : tensor<4xf32>
}
