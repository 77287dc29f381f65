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

// Of any length: keys up to the query's own index, from the start.
// CHECK-LABEL: func.func @any_length
// CHECK: tw.attention query(%{{.*}} : tensor<1x2x?x4xf32>) key(%{{.*}} : tensor<1x2x?x4xf32>) value(%{{.*}} : tensor<1x2x?x4xf32>) {causal = "start", scale = 5.000000e-01 : f64}
// RECEIPT-DAG: Function=any_length | Reason="raised to tw.attention with scale 0.50, causal from the start"
func.func @any_length(%q: tensor<1x2x?x4xf32>, %k: tensor<1x2x?x4xf32>) -> tensor<1x2x?x4xf32> {
  %s = tw.batch_matmul %q, %k {transpose_b = true} : tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32> -> tensor<1x2x?x?xf32>
  %n = tw.constant dense<4.0> : tensor<f32>
  %root = tw.sqrt %n : tensor<f32>
  %roots = tw.broadcast %root like %s dims [] : tensor<f32>, tensor<1x2x?x?xf32> -> tensor<1x2x?x?xf32>
  %scaled = tw.div %s, %roots : tensor<1x2x?x?xf32>
  %i = tw.iota %s dim 2 : tensor<1x2x?x?xf32> -> tensor<1x2x?x?xi32>
  %j = tw.iota %s dim 3 : tensor<1x2x?x?xf32> -> tensor<1x2x?x?xi32>
  %c = tw.compare "ge", %i, %j : tensor<1x2x?x?xi32> -> tensor<1x2x?x?xi1>
  %low = tw.constant dense<0xFF800000> : tensor<f32>
  %lows = tw.broadcast %low like %s dims [] : tensor<f32>, tensor<1x2x?x?xf32> -> tensor<1x2x?x?xf32>
  %m = tw.select %c, %scaled, %lows : tensor<1x2x?x?xi1>, tensor<1x2x?x?xf32>
  %p = tw.softmax %m dim 3 : tensor<1x2x?x?xf32>
  %o = tw.batch_matmul %p, %k : tensor<1x2x?x?xf32>, tensor<1x2x?x4xf32> -> tensor<1x2x?x4xf32>
  return %o : tensor<1x2x?x4xf32>
}

// Batch and heads in one dynamic dimension beside a dynamic length: no reshape says what they are.
// CHECK-LABEL: func.func @unknown_heads
// CHECK-NOT: tw.attention
// CHECK: return
// RECEIPT-DAG: Function=unknown_heads | Reason="an operand of shape [?, ?, 4] has no [?, 1] batch and heads that a reshape could name", ToChange="give batch or length a static size, or write queries, keys and values as [B, H, T, D]"
func.func @unknown_heads(%q: tensor<?x?x4xf32>, %k: tensor<?x?x4xf32>) -> tensor<?x?x4xf32> {
  %s = tw.batch_matmul %q, %k {transpose_b = true} : tensor<?x?x4xf32>, tensor<?x?x4xf32> -> tensor<?x?x?xf32>
  %p = tw.softmax %s dim 2 : tensor<?x?x?xf32>
  %o = tw.batch_matmul %p, %k : tensor<?x?x?xf32>, tensor<?x?x4xf32> -> tensor<?x?x4xf32>
  return %o : tensor<?x?x4xf32>
}

// Two masks that only together say which keys are hidden, of different shapes.
// CHECK-LABEL: func.func @two_masks
// CHECK-NOT: tw.attention
// CHECK: return
// RECEIPT-DAG: Function=two_masks | Reason="masks of the shapes [3, 5] and [1, 2, 3, 5] hide keys", ToChange="join the masks before the scores are masked"
func.func @two_masks(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x5x4xf32>, %a: tensor<3x5xi1>, %b: tensor<1x2x3x5xi1>) -> tensor<1x2x3x4xf32> {
  %s = tw.batch_matmul %q, %k {transpose_b = true} : tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32> -> tensor<1x2x3x5xf32>
  %f = tw.constant dense<0xFF800000> : tensor<1x2x3x5xf32>
  %inner = tw.select %b, %s, %f : tensor<1x2x3x5xi1>, tensor<1x2x3x5xf32>
  %ab = tw.broadcast %a like %s dims [2, 3] : tensor<3x5xi1>, tensor<1x2x3x5xf32> -> tensor<1x2x3x5xi1>
  %outer = tw.select %ab, %inner, %f : tensor<1x2x3x5xi1>, tensor<1x2x3x5xf32>
  %p = tw.softmax %outer dim 3 : tensor<1x2x3x5xf32>
  %o = tw.batch_matmul %p, %k : tensor<1x2x3x5xf32>, tensor<1x2x5x4xf32> -> tensor<1x2x3x4xf32>
  return %o : tensor<1x2x3x4xf32>
}
