// REQUIRES: plugin-multi_head_attention
// RUN: %tw-opt --multi-head-attention-recognise %s | FileCheck %s
// RUN: %tw-opt --multi-head-attention-recognise --remark-format=emitRemark --remarks-filter="receipt.*" %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=RECEIPT

// CHECK-LABEL: func.func @plain
// CHECK-SAME: (%[[Q:.*]]: tensor<1x2x3x4xf32>, %[[K:.*]]: tensor<1x2x5x4xf32>, %[[V:.*]]: tensor<1x2x5x4xf32>)
// CHECK-NEXT: %[[O:.*]] = tw.attention query(%[[Q]] : tensor<1x2x3x4xf32>) key(%[[K]] : tensor<1x2x5x4xf32>) value(%[[V]] : tensor<1x2x5x4xf32>) {scale = 5.000000e-01 : f64}
// CHECK-NEXT: return %[[O]]
// RECEIPT-DAG: [Passed] multi-head-attention-recognise | Category:receipt:attention | Function=plain
func.func @plain(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x5x4xf32>, %v: tensor<1x2x5x4xf32>) -> tensor<1x2x3x4xf32> {
  %c = tw.constant dense<0.5> : tensor<1x2x3x4xf32>
  %qs = tw.mul %q, %c : tensor<1x2x3x4xf32>
  %s = tw.batch_matmul %qs, %k {transpose_b = true} : tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32> -> tensor<1x2x3x5xf32>
  %p = tw.softmax %s dim 3 : tensor<1x2x3x5xf32>
  %o = tw.batch_matmul %p, %v : tensor<1x2x3x5xf32>, tensor<1x2x5x4xf32> -> tensor<1x2x3x4xf32>
  return %o : tensor<1x2x3x4xf32>
}

// Keys transposed by an op, a mask of the last two dimensions, a finite fill.
// CHECK-LABEL: func.func @masked
// CHECK-SAME: (%[[Q:.*]]: tensor<1x2x3x4xf32>, %[[K:.*]]: tensor<1x2x5x4xf32>, %[[M:.*]]: tensor<3x5xi1>)
// CHECK-NEXT: tw.attention query(%[[Q]] : tensor<1x2x3x4xf32>) key(%[[K]] : tensor<1x2x5x4xf32>) value(%[[K]] : tensor<1x2x5x4xf32>) mask(%[[M]] : tensor<3x5xi1>) {scale = 1.000000e+00 : f64}
// RECEIPT-DAG: Function=masked | Reason="raised to tw.attention with scale 1.00; rows whose keys are all masked now give 0 instead of the mean of the values"
func.func @masked(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x5x4xf32>, %m: tensor<3x5xi1>) -> tensor<1x2x3x4xf32> {
  %kt = tw.transpose %k perm [0, 1, 3, 2] : tensor<1x2x5x4xf32> -> tensor<1x2x4x5xf32>
  %s = tw.batch_matmul %q, %kt : tensor<1x2x3x4xf32>, tensor<1x2x4x5xf32> -> tensor<1x2x3x5xf32>
  %mb = tw.broadcast %m like %s dims [2, 3] : tensor<3x5xi1>, tensor<1x2x3x5xf32> -> tensor<1x2x3x5xi1>
  %f = tw.constant dense<-1.0e+09> : tensor<1x2x3x5xf32>
  %sm = tw.select %mb, %s, %f : tensor<1x2x3x5xi1>, tensor<1x2x3x5xf32>
  %p = tw.softmax %sm dim 3 : tensor<1x2x3x5xf32>
  %o = tw.batch_matmul %p, %k : tensor<1x2x3x5xf32>, tensor<1x2x5x4xf32> -> tensor<1x2x3x4xf32>
  return %o : tensor<1x2x3x4xf32>
}

// CHECK-LABEL: func.func @weights_asked_for
// CHECK-NOT: tw.attention
// CHECK: return
// RECEIPT-DAG: [Missed] multi-head-attention-recognise | Category:receipt:attention | Function=weights_asked_for | Reason="the softmax has 2 uses, wanted one: the weights themselves are asked for"
func.func @weights_asked_for(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x5x4xf32>) -> (tensor<1x2x3x4xf32>, tensor<1x2x3x5xf32>) {
  %s = tw.batch_matmul %q, %k {transpose_b = true} : tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32> -> tensor<1x2x3x5xf32>
  %p = tw.softmax %s dim 3 : tensor<1x2x3x5xf32>
  %o = tw.batch_matmul %p, %k : tensor<1x2x3x5xf32>, tensor<1x2x5x4xf32> -> tensor<1x2x3x4xf32>
  return %o, %p : tensor<1x2x3x4xf32>, tensor<1x2x3x5xf32>
}

// CHECK-LABEL: func.func @other_dimension
// CHECK-NOT: tw.attention
// CHECK: return
// RECEIPT-DAG: Function=other_dimension | Reason="the softmax is over dimension 2, wanted the last one"
func.func @other_dimension(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x5x4xf32>) -> tensor<1x2x3x4xf32> {
  %s = tw.batch_matmul %q, %k {transpose_b = true} : tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32> -> tensor<1x2x3x5xf32>
  %p = tw.softmax %s dim 2 : tensor<1x2x3x5xf32>
  %o = tw.batch_matmul %p, %k : tensor<1x2x3x5xf32>, tensor<1x2x5x4xf32> -> tensor<1x2x3x4xf32>
  return %o : tensor<1x2x3x4xf32>
}

// CHECK-LABEL: func.func @small_fill
// CHECK-NOT: tw.attention
// CHECK: return
// RECEIPT-DAG: Function=small_fill | Reason="masked scores are -1.000000, which does not hide a key"
func.func @small_fill(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x5x4xf32>, %m: tensor<1x2x3x5xi1>) -> tensor<1x2x3x4xf32> {
  %s = tw.batch_matmul %q, %k {transpose_b = true} : tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32> -> tensor<1x2x3x5xf32>
  %f = tw.constant dense<-1.0> : tensor<1x2x3x5xf32>
  %sm = tw.select %m, %s, %f : tensor<1x2x3x5xi1>, tensor<1x2x3x5xf32>
  %p = tw.softmax %sm dim 3 : tensor<1x2x3x5xf32>
  %o = tw.batch_matmul %p, %k : tensor<1x2x3x5xf32>, tensor<1x2x5x4xf32> -> tensor<1x2x3x4xf32>
  return %o : tensor<1x2x3x4xf32>
}

// A head of a classifier is no attention, and no candidate.
// CHECK-LABEL: func.func @classifier
// CHECK-NOT: tw.attention
// CHECK: return
// RECEIPT-NOT: classifier
func.func @classifier(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %p = tw.softmax %x dim 1 : tensor<4x8xf32>
  %y = tw.exp %p : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
