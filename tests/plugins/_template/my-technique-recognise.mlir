// REQUIRES: plugin-my_technique
// RUN: %tw-opt --my-technique-recognise %s | FileCheck %s
// RUN: %tw-opt --my-technique-recognise --remark-format=emitRemark --remarks-filter="receipt.*" %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=RECEIPT

// CHECK-LABEL: func.func @halves
// CHECK-SAME: (%[[X:.*]]: tensor<?x8xf32>)
// CHECK-NEXT: %[[Y:.*]] = my_technique.maxout %[[X]] {pieces = 2 : i64} : tensor<?x8xf32> -> tensor<?x4xf32>
// CHECK-NEXT: return %[[Y]]
// RECEIPT-DAG: [Passed] my-technique-recognise | Category:receipt:my_technique | Function=halves
func.func @halves(%x: tensor<?x8xf32>) -> tensor<?x4xf32> {
  %a = tw.slice %x dim 1 start 0 size 4 : tensor<?x8xf32> -> tensor<?x4xf32>
  %b = tw.slice %x dim 1 start 4 size 4 : tensor<?x8xf32> -> tensor<?x4xf32>
  %m = tw.maximum %a, %b : tensor<?x4xf32>
  return %m : tensor<?x4xf32>
}

// In any order and grouping.
// CHECK-LABEL: func.func @thirds
// CHECK-NEXT: my_technique.maxout %{{.*}} {pieces = 3 : i64} : tensor<6xf32> -> tensor<2xf32>
// CHECK-NEXT: return
func.func @thirds(%x: tensor<6xf32>) -> tensor<2xf32> {
  %a = tw.slice %x dim 0 start 4 size 2 : tensor<6xf32> -> tensor<2xf32>
  %b = tw.slice %x dim 0 start 0 size 2 : tensor<6xf32> -> tensor<2xf32>
  %c = tw.slice %x dim 0 start 2 size 2 : tensor<6xf32> -> tensor<2xf32>
  %m = tw.maximum %b, %c : tensor<2xf32>
  %n = tw.maximum %a, %m : tensor<2xf32>
  return %n : tensor<2xf32>
}

// CHECK-LABEL: func.func @part
// CHECK-NOT: my_technique
// CHECK: return
// RECEIPT-DAG: [Missed] my-technique-recognise | Category:receipt:my_technique | Function=part | Reason="2 pieces of 2 are not the whole last dimension"
func.func @part(%x: tensor<6xf32>) -> tensor<2xf32> {
  %a = tw.slice %x dim 0 start 0 size 2 : tensor<6xf32> -> tensor<2xf32>
  %b = tw.slice %x dim 0 start 2 size 2 : tensor<6xf32> -> tensor<2xf32>
  %m = tw.maximum %a, %b : tensor<2xf32>
  return %m : tensor<2xf32>
}

// CHECK-LABEL: func.func @overlap
// CHECK-NOT: my_technique
// CHECK: return
// RECEIPT-DAG: Function=overlap | Reason="piece 1 starts at 1, wanted 2"
func.func @overlap(%x: tensor<4xf32>) -> tensor<2xf32> {
  %a = tw.slice %x dim 0 start 0 size 2 : tensor<4xf32> -> tensor<2xf32>
  %b = tw.slice %x dim 0 start 1 size 2 : tensor<4xf32> -> tensor<2xf32>
  %m = tw.maximum %a, %b : tensor<2xf32>
  return %m : tensor<2xf32>
}

// Slices of two values are no candidate.
// CHECK-LABEL: func.func @two_inputs
// CHECK-NOT: my_technique
// CHECK: return
func.func @two_inputs(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<2xf32> {
  %a = tw.slice %x dim 0 start 0 size 2 : tensor<4xf32> -> tensor<2xf32>
  %b = tw.slice %y dim 0 start 2 size 2 : tensor<4xf32> -> tensor<2xf32>
  %m = tw.maximum %a, %b : tensor<2xf32>
  return %m : tensor<2xf32>
}
