// REQUIRES: plugin-multi_head_attention
// Heads that are computed one by one, as written in core ops: recognised one by one, then stacked.
// RUN: %tw-opt --multi-head-attention-recognise --multi-head-attention-stack %s | FileCheck %s
// RUN: %tw-opt --multi-head-attention-recognise --multi-head-attention-stack --remark-format=emitRemark --remarks-filter="receipt.*" %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=RECEIPT

// CHECK-LABEL: func.func @batched
// CHECK-NOT: tw.softmax
// CHECK: %[[Q:.*]] = tw.concat dim 1 %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x1x?x4xf32>
// CHECK: tw.attention query(%[[Q]] : tensor<2x3x?x4xf32>) key(%{{.*}} : tensor<2x3x?x4xf32>) value(%{{.*}} : tensor<2x3x?x4xf32>) {scale = 5.000000e-01 : f64}
// CHECK-NOT: tw.attention
// CHECK-NOT: tw.concat
// CHECK: return %{{.*}} : tensor<2x?x12xf32>
// RECEIPT-DAG: [Passed] multi-head-attention-stack | Category:receipt:stacked_heads | Function=batched | Reason="3 heads in one attention on 3 key/value heads"
func.func @batched(%x: tensor<2x?x8xf32>, %wq0: tensor<4x8xf32>, %wk0: tensor<4x8xf32>, %wv0: tensor<4x8xf32>, %wq1: tensor<4x8xf32>, %wk1: tensor<4x8xf32>, %wv1: tensor<4x8xf32>, %wq2: tensor<4x8xf32>, %wk2: tensor<4x8xf32>, %wv2: tensor<4x8xf32>) -> tensor<2x?x12xf32> {
  %q0 = tw.linear %x, %wq0 : tensor<2x?x8xf32>, tensor<4x8xf32> -> tensor<2x?x4xf32>
  %k0 = tw.linear %x, %wk0 : tensor<2x?x8xf32>, tensor<4x8xf32> -> tensor<2x?x4xf32>
  %v0 = tw.linear %x, %wv0 : tensor<2x?x8xf32>, tensor<4x8xf32> -> tensor<2x?x4xf32>
  %s0 = tw.batch_matmul %q0, %k0 {transpose_b = true} : tensor<2x?x4xf32>, tensor<2x?x4xf32> -> tensor<2x?x?xf32>
  %f0 = tw.constant dense<0.5> : tensor<f32>
  %g0 = tw.broadcast %f0 like %s0 dims [] : tensor<f32>, tensor<2x?x?xf32> -> tensor<2x?x?xf32>
  %h0 = tw.mul %s0, %g0 : tensor<2x?x?xf32>
  %p0 = tw.softmax %h0 dim 2 : tensor<2x?x?xf32>
  %o0 = tw.batch_matmul %p0, %v0 : tensor<2x?x?xf32>, tensor<2x?x4xf32> -> tensor<2x?x4xf32>
  %q1 = tw.linear %x, %wq1 : tensor<2x?x8xf32>, tensor<4x8xf32> -> tensor<2x?x4xf32>
  %k1 = tw.linear %x, %wk1 : tensor<2x?x8xf32>, tensor<4x8xf32> -> tensor<2x?x4xf32>
  %v1 = tw.linear %x, %wv1 : tensor<2x?x8xf32>, tensor<4x8xf32> -> tensor<2x?x4xf32>
  %s1 = tw.batch_matmul %q1, %k1 {transpose_b = true} : tensor<2x?x4xf32>, tensor<2x?x4xf32> -> tensor<2x?x?xf32>
  %f1 = tw.constant dense<0.5> : tensor<f32>
  %g1 = tw.broadcast %f1 like %s1 dims [] : tensor<f32>, tensor<2x?x?xf32> -> tensor<2x?x?xf32>
  %h1 = tw.mul %s1, %g1 : tensor<2x?x?xf32>
  %p1 = tw.softmax %h1 dim 2 : tensor<2x?x?xf32>
  %o1 = tw.batch_matmul %p1, %v1 : tensor<2x?x?xf32>, tensor<2x?x4xf32> -> tensor<2x?x4xf32>
  %q2 = tw.linear %x, %wq2 : tensor<2x?x8xf32>, tensor<4x8xf32> -> tensor<2x?x4xf32>
  %k2 = tw.linear %x, %wk2 : tensor<2x?x8xf32>, tensor<4x8xf32> -> tensor<2x?x4xf32>
  %v2 = tw.linear %x, %wv2 : tensor<2x?x8xf32>, tensor<4x8xf32> -> tensor<2x?x4xf32>
  %s2 = tw.batch_matmul %q2, %k2 {transpose_b = true} : tensor<2x?x4xf32>, tensor<2x?x4xf32> -> tensor<2x?x?xf32>
  %f2 = tw.constant dense<0.5> : tensor<f32>
  %g2 = tw.broadcast %f2 like %s2 dims [] : tensor<f32>, tensor<2x?x?xf32> -> tensor<2x?x?xf32>
  %h2 = tw.mul %s2, %g2 : tensor<2x?x?xf32>
  %p2 = tw.softmax %h2 dim 2 : tensor<2x?x?xf32>
  %o2 = tw.batch_matmul %p2, %v2 : tensor<2x?x?xf32>, tensor<2x?x4xf32> -> tensor<2x?x4xf32>
  %y = tw.concat dim 2 %o0, %o1, %o2 : tensor<2x?x4xf32>, tensor<2x?x4xf32>, tensor<2x?x4xf32> -> tensor<2x?x12xf32>
  return %y : tensor<2x?x12xf32>
}

// Without a batch, [T, E].
// CHECK-LABEL: func.func @single_sequence
// CHECK: tw.attention query(%{{.*}} : tensor<1x2x7x4xf32>)
// CHECK-NOT: tw.attention
// CHECK: return %{{.*}} : tensor<7x8xf32>
func.func @single_sequence(%x: tensor<7x8xf32>, %wq0: tensor<4x8xf32>, %wk0: tensor<4x8xf32>, %wv0: tensor<4x8xf32>, %wq1: tensor<4x8xf32>, %wk1: tensor<4x8xf32>, %wv1: tensor<4x8xf32>) -> tensor<7x8xf32> {
  %q0 = tw.linear %x, %wq0 : tensor<7x8xf32>, tensor<4x8xf32> -> tensor<7x4xf32>
  %k0 = tw.linear %x, %wk0 : tensor<7x8xf32>, tensor<4x8xf32> -> tensor<7x4xf32>
  %v0 = tw.linear %x, %wv0 : tensor<7x8xf32>, tensor<4x8xf32> -> tensor<7x4xf32>
  %s0 = tw.batch_matmul %q0, %k0 {transpose_b = true} : tensor<7x4xf32>, tensor<7x4xf32> -> tensor<7x7xf32>
  %f0 = tw.constant dense<0.5> : tensor<f32>
  %g0 = tw.broadcast %f0 like %s0 dims [] : tensor<f32>, tensor<7x7xf32> -> tensor<7x7xf32>
  %h0 = tw.mul %s0, %g0 : tensor<7x7xf32>
  %p0 = tw.softmax %h0 dim 1 : tensor<7x7xf32>
  %o0 = tw.batch_matmul %p0, %v0 : tensor<7x7xf32>, tensor<7x4xf32> -> tensor<7x4xf32>
  %q1 = tw.linear %x, %wq1 : tensor<7x8xf32>, tensor<4x8xf32> -> tensor<7x4xf32>
  %k1 = tw.linear %x, %wk1 : tensor<7x8xf32>, tensor<4x8xf32> -> tensor<7x4xf32>
  %v1 = tw.linear %x, %wv1 : tensor<7x8xf32>, tensor<4x8xf32> -> tensor<7x4xf32>
  %s1 = tw.batch_matmul %q1, %k1 {transpose_b = true} : tensor<7x4xf32>, tensor<7x4xf32> -> tensor<7x7xf32>
  %f1 = tw.constant dense<0.5> : tensor<f32>
  %g1 = tw.broadcast %f1 like %s1 dims [] : tensor<f32>, tensor<7x7xf32> -> tensor<7x7xf32>
  %h1 = tw.mul %s1, %g1 : tensor<7x7xf32>
  %p1 = tw.softmax %h1 dim 1 : tensor<7x7xf32>
  %o1 = tw.batch_matmul %p1, %v1 : tensor<7x7xf32>, tensor<7x4xf32> -> tensor<7x4xf32>
  %y = tw.concat dim 1 %o0, %o1 : tensor<7x4xf32>, tensor<7x4xf32> -> tensor<7x8xf32>
  return %y : tensor<7x8xf32>
}

// Two heads each read the same keys and values: attention on two key/value heads.
// CHECK-LABEL: func.func @shared_keys
// CHECK: tw.attention query(%{{.*}} : tensor<2x4x7x4xf32>) key(%{{.*}} : tensor<2x2x7x4xf32>)
// CHECK-NOT: tw.attention
// CHECK: return
// RECEIPT-DAG: Function=shared_keys | Reason="4 heads in one attention on 2 key/value heads"
func.func @shared_keys(%x: tensor<2x7x8xf32>, %wq0: tensor<4x8xf32>, %wk0: tensor<4x8xf32>, %wv0: tensor<4x8xf32>, %wq1: tensor<4x8xf32>, %wq2: tensor<4x8xf32>, %wk2: tensor<4x8xf32>, %wv2: tensor<4x8xf32>, %wq3: tensor<4x8xf32>) -> tensor<2x7x16xf32> {
  %q0 = tw.linear %x, %wq0 : tensor<2x7x8xf32>, tensor<4x8xf32> -> tensor<2x7x4xf32>
  %k0 = tw.linear %x, %wk0 : tensor<2x7x8xf32>, tensor<4x8xf32> -> tensor<2x7x4xf32>
  %v0 = tw.linear %x, %wv0 : tensor<2x7x8xf32>, tensor<4x8xf32> -> tensor<2x7x4xf32>
  %s0 = tw.batch_matmul %q0, %k0 {transpose_b = true} : tensor<2x7x4xf32>, tensor<2x7x4xf32> -> tensor<2x7x7xf32>
  %f0 = tw.constant dense<0.5> : tensor<f32>
  %g0 = tw.broadcast %f0 like %s0 dims [] : tensor<f32>, tensor<2x7x7xf32> -> tensor<2x7x7xf32>
  %h0 = tw.mul %s0, %g0 : tensor<2x7x7xf32>
  %p0 = tw.softmax %h0 dim 2 : tensor<2x7x7xf32>
  %o0 = tw.batch_matmul %p0, %v0 : tensor<2x7x7xf32>, tensor<2x7x4xf32> -> tensor<2x7x4xf32>
  %q1 = tw.linear %x, %wq1 : tensor<2x7x8xf32>, tensor<4x8xf32> -> tensor<2x7x4xf32>
  %s1 = tw.batch_matmul %q1, %k0 {transpose_b = true} : tensor<2x7x4xf32>, tensor<2x7x4xf32> -> tensor<2x7x7xf32>
  %f1 = tw.constant dense<0.5> : tensor<f32>
  %g1 = tw.broadcast %f1 like %s1 dims [] : tensor<f32>, tensor<2x7x7xf32> -> tensor<2x7x7xf32>
  %h1 = tw.mul %s1, %g1 : tensor<2x7x7xf32>
  %p1 = tw.softmax %h1 dim 2 : tensor<2x7x7xf32>
  %o1 = tw.batch_matmul %p1, %v0 : tensor<2x7x7xf32>, tensor<2x7x4xf32> -> tensor<2x7x4xf32>
  %q2 = tw.linear %x, %wq2 : tensor<2x7x8xf32>, tensor<4x8xf32> -> tensor<2x7x4xf32>
  %k2 = tw.linear %x, %wk2 : tensor<2x7x8xf32>, tensor<4x8xf32> -> tensor<2x7x4xf32>
  %v2 = tw.linear %x, %wv2 : tensor<2x7x8xf32>, tensor<4x8xf32> -> tensor<2x7x4xf32>
  %s2 = tw.batch_matmul %q2, %k2 {transpose_b = true} : tensor<2x7x4xf32>, tensor<2x7x4xf32> -> tensor<2x7x7xf32>
  %f2 = tw.constant dense<0.5> : tensor<f32>
  %g2 = tw.broadcast %f2 like %s2 dims [] : tensor<f32>, tensor<2x7x7xf32> -> tensor<2x7x7xf32>
  %h2 = tw.mul %s2, %g2 : tensor<2x7x7xf32>
  %p2 = tw.softmax %h2 dim 2 : tensor<2x7x7xf32>
  %o2 = tw.batch_matmul %p2, %v2 : tensor<2x7x7xf32>, tensor<2x7x4xf32> -> tensor<2x7x4xf32>
  %q3 = tw.linear %x, %wq3 : tensor<2x7x8xf32>, tensor<4x8xf32> -> tensor<2x7x4xf32>
  %s3 = tw.batch_matmul %q3, %k2 {transpose_b = true} : tensor<2x7x4xf32>, tensor<2x7x4xf32> -> tensor<2x7x7xf32>
  %f3 = tw.constant dense<0.5> : tensor<f32>
  %g3 = tw.broadcast %f3 like %s3 dims [] : tensor<f32>, tensor<2x7x7xf32> -> tensor<2x7x7xf32>
  %h3 = tw.mul %s3, %g3 : tensor<2x7x7xf32>
  %p3 = tw.softmax %h3 dim 2 : tensor<2x7x7xf32>
  %o3 = tw.batch_matmul %p3, %v2 : tensor<2x7x7xf32>, tensor<2x7x4xf32> -> tensor<2x7x4xf32>
  %y = tw.concat dim 2 %o0, %o1, %o2, %o3 : tensor<2x7x4xf32>, tensor<2x7x4xf32>, tensor<2x7x4xf32>, tensor<2x7x4xf32> -> tensor<2x7x16xf32>
  return %y : tensor<2x7x16xf32>
}

// All heads have one mask, which attention repeats.
// CHECK-LABEL: func.func @one_mask
// CHECK: tw.attention {{.*}} mask(%arg1 : tensor<7x7xi1>)
// CHECK-NOT: tw.attention
// CHECK: return
func.func @one_mask(%x: tensor<2x7x8xf32>, %m: tensor<7x7xi1>, %wq0: tensor<4x8xf32>, %wk0: tensor<4x8xf32>, %wv0: tensor<4x8xf32>, %wq1: tensor<4x8xf32>, %wk1: tensor<4x8xf32>, %wv1: tensor<4x8xf32>) -> tensor<2x7x8xf32> {
  %q0 = tw.linear %x, %wq0 : tensor<2x7x8xf32>, tensor<4x8xf32> -> tensor<2x7x4xf32>
  %k0 = tw.linear %x, %wk0 : tensor<2x7x8xf32>, tensor<4x8xf32> -> tensor<2x7x4xf32>
  %v0 = tw.linear %x, %wv0 : tensor<2x7x8xf32>, tensor<4x8xf32> -> tensor<2x7x4xf32>
  %s0 = tw.batch_matmul %q0, %k0 {transpose_b = true} : tensor<2x7x4xf32>, tensor<2x7x4xf32> -> tensor<2x7x7xf32>
  %f0 = tw.constant dense<0.5> : tensor<f32>
  %g0 = tw.broadcast %f0 like %s0 dims [] : tensor<f32>, tensor<2x7x7xf32> -> tensor<2x7x7xf32>
  %h0 = tw.mul %s0, %g0 : tensor<2x7x7xf32>
  %n0 = tw.constant dense<0xFF800000> : tensor<f32>
  %nb0 = tw.broadcast %n0 like %h0 dims [] : tensor<f32>, tensor<2x7x7xf32> -> tensor<2x7x7xf32>
  %mb0 = tw.broadcast %m like %h0 dims [1, 2] : tensor<7x7xi1>, tensor<2x7x7xf32> -> tensor<2x7x7xi1>
  %m0 = tw.select %mb0, %h0, %nb0 : tensor<2x7x7xi1>, tensor<2x7x7xf32>
  %p0 = tw.softmax %m0 dim 2 : tensor<2x7x7xf32>
  %o0 = tw.batch_matmul %p0, %v0 : tensor<2x7x7xf32>, tensor<2x7x4xf32> -> tensor<2x7x4xf32>
  %q1 = tw.linear %x, %wq1 : tensor<2x7x8xf32>, tensor<4x8xf32> -> tensor<2x7x4xf32>
  %k1 = tw.linear %x, %wk1 : tensor<2x7x8xf32>, tensor<4x8xf32> -> tensor<2x7x4xf32>
  %v1 = tw.linear %x, %wv1 : tensor<2x7x8xf32>, tensor<4x8xf32> -> tensor<2x7x4xf32>
  %s1 = tw.batch_matmul %q1, %k1 {transpose_b = true} : tensor<2x7x4xf32>, tensor<2x7x4xf32> -> tensor<2x7x7xf32>
  %f1 = tw.constant dense<0.5> : tensor<f32>
  %g1 = tw.broadcast %f1 like %s1 dims [] : tensor<f32>, tensor<2x7x7xf32> -> tensor<2x7x7xf32>
  %h1 = tw.mul %s1, %g1 : tensor<2x7x7xf32>
  %n1 = tw.constant dense<0xFF800000> : tensor<f32>
  %nb1 = tw.broadcast %n1 like %h1 dims [] : tensor<f32>, tensor<2x7x7xf32> -> tensor<2x7x7xf32>
  %mb1 = tw.broadcast %m like %h1 dims [1, 2] : tensor<7x7xi1>, tensor<2x7x7xf32> -> tensor<2x7x7xi1>
  %m1 = tw.select %mb1, %h1, %nb1 : tensor<2x7x7xi1>, tensor<2x7x7xf32>
  %p1 = tw.softmax %m1 dim 2 : tensor<2x7x7xf32>
  %o1 = tw.batch_matmul %p1, %v1 : tensor<2x7x7xf32>, tensor<2x7x4xf32> -> tensor<2x7x4xf32>
  %y = tw.concat dim 2 %o0, %o1 : tensor<2x7x4xf32>, tensor<2x7x4xf32> -> tensor<2x7x8xf32>
  return %y : tensor<2x7x8xf32>
}

// Each head has a mask of its own.
// CHECK-LABEL: func.func @own_masks
// CHECK: %[[M:.*]] = tw.concat dim 1 {{.*}} : tensor<1x1x7x7xi1>, tensor<1x1x7x7xi1> -> tensor<1x2x7x7xi1>
// CHECK: tw.attention {{.*}} mask(%[[M]] : tensor<1x2x7x7xi1>)
// CHECK-NOT: tw.attention
// CHECK: return
func.func @own_masks(%x: tensor<2x7x8xf32>, %ma0: tensor<7x7xi1>, %ma1: tensor<7x7xi1>, %wq0: tensor<4x8xf32>, %wk0: tensor<4x8xf32>, %wv0: tensor<4x8xf32>, %wq1: tensor<4x8xf32>, %wk1: tensor<4x8xf32>, %wv1: tensor<4x8xf32>) -> tensor<2x7x8xf32> {
  %q0 = tw.linear %x, %wq0 : tensor<2x7x8xf32>, tensor<4x8xf32> -> tensor<2x7x4xf32>
  %k0 = tw.linear %x, %wk0 : tensor<2x7x8xf32>, tensor<4x8xf32> -> tensor<2x7x4xf32>
  %v0 = tw.linear %x, %wv0 : tensor<2x7x8xf32>, tensor<4x8xf32> -> tensor<2x7x4xf32>
  %s0 = tw.batch_matmul %q0, %k0 {transpose_b = true} : tensor<2x7x4xf32>, tensor<2x7x4xf32> -> tensor<2x7x7xf32>
  %f0 = tw.constant dense<0.5> : tensor<f32>
  %g0 = tw.broadcast %f0 like %s0 dims [] : tensor<f32>, tensor<2x7x7xf32> -> tensor<2x7x7xf32>
  %h0 = tw.mul %s0, %g0 : tensor<2x7x7xf32>
  %n0 = tw.constant dense<0xFF800000> : tensor<f32>
  %nb0 = tw.broadcast %n0 like %h0 dims [] : tensor<f32>, tensor<2x7x7xf32> -> tensor<2x7x7xf32>
  %mb0 = tw.broadcast %ma0 like %h0 dims [1, 2] : tensor<7x7xi1>, tensor<2x7x7xf32> -> tensor<2x7x7xi1>
  %m0 = tw.select %mb0, %h0, %nb0 : tensor<2x7x7xi1>, tensor<2x7x7xf32>
  %p0 = tw.softmax %m0 dim 2 : tensor<2x7x7xf32>
  %o0 = tw.batch_matmul %p0, %v0 : tensor<2x7x7xf32>, tensor<2x7x4xf32> -> tensor<2x7x4xf32>
  %q1 = tw.linear %x, %wq1 : tensor<2x7x8xf32>, tensor<4x8xf32> -> tensor<2x7x4xf32>
  %k1 = tw.linear %x, %wk1 : tensor<2x7x8xf32>, tensor<4x8xf32> -> tensor<2x7x4xf32>
  %v1 = tw.linear %x, %wv1 : tensor<2x7x8xf32>, tensor<4x8xf32> -> tensor<2x7x4xf32>
  %s1 = tw.batch_matmul %q1, %k1 {transpose_b = true} : tensor<2x7x4xf32>, tensor<2x7x4xf32> -> tensor<2x7x7xf32>
  %f1 = tw.constant dense<0.5> : tensor<f32>
  %g1 = tw.broadcast %f1 like %s1 dims [] : tensor<f32>, tensor<2x7x7xf32> -> tensor<2x7x7xf32>
  %h1 = tw.mul %s1, %g1 : tensor<2x7x7xf32>
  %n1 = tw.constant dense<0xFF800000> : tensor<f32>
  %nb1 = tw.broadcast %n1 like %h1 dims [] : tensor<f32>, tensor<2x7x7xf32> -> tensor<2x7x7xf32>
  %mb1 = tw.broadcast %ma1 like %h1 dims [1, 2] : tensor<7x7xi1>, tensor<2x7x7xf32> -> tensor<2x7x7xi1>
  %m1 = tw.select %mb1, %h1, %nb1 : tensor<2x7x7xi1>, tensor<2x7x7xf32>
  %p1 = tw.softmax %m1 dim 2 : tensor<2x7x7xf32>
  %o1 = tw.batch_matmul %p1, %v1 : tensor<2x7x7xf32>, tensor<2x7x4xf32> -> tensor<2x7x4xf32>
  %y = tw.concat dim 2 %o0, %o1 : tensor<2x7x4xf32>, tensor<2x7x4xf32> -> tensor<2x7x8xf32>
  return %y : tensor<2x7x8xf32>
}

// Heads with different scales stay apart.
// CHECK-LABEL: func.func @other_scale
// CHECK: tw.attention
// CHECK: tw.attention
// CHECK: tw.concat
// RECEIPT-DAG: [Missed] multi-head-attention-stack | Category:receipt:stacked_heads | Function=other_scale | Reason="head 1 differs from head 0 in scale", ToChange="compute all heads alike, each from [B, T, D], or write them as one attention"
func.func @other_scale(%x: tensor<2x7x8xf32>, %wq0: tensor<4x8xf32>, %wk0: tensor<4x8xf32>, %wv0: tensor<4x8xf32>, %wq1: tensor<4x8xf32>, %wk1: tensor<4x8xf32>, %wv1: tensor<4x8xf32>) -> tensor<2x7x8xf32> {
  %q0 = tw.linear %x, %wq0 : tensor<2x7x8xf32>, tensor<4x8xf32> -> tensor<2x7x4xf32>
  %k0 = tw.linear %x, %wk0 : tensor<2x7x8xf32>, tensor<4x8xf32> -> tensor<2x7x4xf32>
  %v0 = tw.linear %x, %wv0 : tensor<2x7x8xf32>, tensor<4x8xf32> -> tensor<2x7x4xf32>
  %s0 = tw.batch_matmul %q0, %k0 {transpose_b = true} : tensor<2x7x4xf32>, tensor<2x7x4xf32> -> tensor<2x7x7xf32>
  %f0 = tw.constant dense<0.5> : tensor<f32>
  %g0 = tw.broadcast %f0 like %s0 dims [] : tensor<f32>, tensor<2x7x7xf32> -> tensor<2x7x7xf32>
  %h0 = tw.mul %s0, %g0 : tensor<2x7x7xf32>
  %p0 = tw.softmax %h0 dim 2 : tensor<2x7x7xf32>
  %o0 = tw.batch_matmul %p0, %v0 : tensor<2x7x7xf32>, tensor<2x7x4xf32> -> tensor<2x7x4xf32>
  %q1 = tw.linear %x, %wq1 : tensor<2x7x8xf32>, tensor<4x8xf32> -> tensor<2x7x4xf32>
  %k1 = tw.linear %x, %wk1 : tensor<2x7x8xf32>, tensor<4x8xf32> -> tensor<2x7x4xf32>
  %v1 = tw.linear %x, %wv1 : tensor<2x7x8xf32>, tensor<4x8xf32> -> tensor<2x7x4xf32>
  %s1 = tw.batch_matmul %q1, %k1 {transpose_b = true} : tensor<2x7x4xf32>, tensor<2x7x4xf32> -> tensor<2x7x7xf32>
  %f1 = tw.constant dense<0.25> : tensor<f32>
  %g1 = tw.broadcast %f1 like %s1 dims [] : tensor<f32>, tensor<2x7x7xf32> -> tensor<2x7x7xf32>
  %h1 = tw.mul %s1, %g1 : tensor<2x7x7xf32>
  %p1 = tw.softmax %h1 dim 2 : tensor<2x7x7xf32>
  %o1 = tw.batch_matmul %p1, %v1 : tensor<2x7x7xf32>, tensor<2x7x4xf32> -> tensor<2x7x4xf32>
  %y = tw.concat dim 2 %o0, %o1 : tensor<2x7x4xf32>, tensor<2x7x4xf32> -> tensor<2x7x8xf32>
  return %y : tensor<2x7x8xf32>
}

// Heads that keep a dimension are joined along it: no rows are moved.
// CHECK-LABEL: func.func @own_dimension
// CHECK: %[[O:.*]] = tw.attention query(%{{.*}} : tensor<?x2x?x4xf32>) {{.*}} -> tensor<?x2x?x4xf32>
// CHECK-NEXT: return %[[O]]
func.func @own_dimension(%q: tensor<?x1x?x4xf32>, %r: tensor<?x1x?x4xf32>, %k: tensor<?x1x?x4xf32>, %l: tensor<?x1x?x4xf32>) -> tensor<?x2x?x4xf32> {
  %a = tw.attention query(%q : tensor<?x1x?x4xf32>) key(%k : tensor<?x1x?x4xf32>) value(%k : tensor<?x1x?x4xf32>) {scale = 0.5 : f64} -> tensor<?x1x?x4xf32>
  %b = tw.attention query(%r : tensor<?x1x?x4xf32>) key(%l : tensor<?x1x?x4xf32>) value(%l : tensor<?x1x?x4xf32>) {scale = 0.5 : f64} -> tensor<?x1x?x4xf32>
  %y = tw.concat dim 1 %a, %b : tensor<?x1x?x4xf32>, tensor<?x1x?x4xf32> -> tensor<?x2x?x4xf32>
  return %y : tensor<?x2x?x4xf32>
}

// Sequences put one after another are no heads.
// RECEIPT-DAG: [Missed] {{.*}} Function=sequences | Reason="heads are joined along dimension 0 of 4, wanted the last one of [T, D] or [B, T, D], or the second of [B, 1, T, D]"
func.func @sequences(%q: tensor<2x1x5x4xf32>, %k: tensor<2x1x5x4xf32>) -> tensor<4x1x5x4xf32> {
  %a = tw.attention query(%q : tensor<2x1x5x4xf32>) key(%k : tensor<2x1x5x4xf32>) value(%k : tensor<2x1x5x4xf32>) {scale = 0.5 : f64} -> tensor<2x1x5x4xf32>
  %b = tw.attention query(%k : tensor<2x1x5x4xf32>) key(%k : tensor<2x1x5x4xf32>) value(%k : tensor<2x1x5x4xf32>) {scale = 0.5 : f64} -> tensor<2x1x5x4xf32>
  %y = tw.concat dim 0 %a, %b : tensor<2x1x5x4xf32>, tensor<2x1x5x4xf32> -> tensor<4x1x5x4xf32>
  return %y : tensor<4x1x5x4xf32>
}

// RECEIPT-DAG: [Missed] {{.*}} Function=several_heads | Reason="head 0 is itself attention on several heads"
func.func @several_heads(%q: tensor<2x3x5x4xf32>) -> tensor<6x5x8xf32> {
  %a = tw.attention query(%q : tensor<2x3x5x4xf32>) key(%q : tensor<2x3x5x4xf32>) value(%q : tensor<2x3x5x4xf32>) {scale = 0.5 : f64} -> tensor<2x3x5x4xf32>
  %b = tw.attention query(%q : tensor<2x3x5x4xf32>) key(%q : tensor<2x3x5x4xf32>) value(%q : tensor<2x3x5x4xf32>) {scale = 0.5 : f64} -> tensor<2x3x5x4xf32>
  %c = tw.reshape %a : tensor<2x3x5x4xf32> -> tensor<6x5x4xf32>
  %d = tw.reshape %b : tensor<2x3x5x4xf32> -> tensor<6x5x4xf32>
  %y = tw.concat dim 2 %c, %d : tensor<6x5x4xf32>, tensor<6x5x4xf32> -> tensor<6x5x8xf32>
  return %y : tensor<6x5x8xf32>
}

// Lengths of sequences are not of one head.
// RECEIPT-DAG: [Missed] {{.*}} Function=lengths | Reason="head 0 has lengths or segments of its sequences"
func.func @lengths(%q: tensor<2x1x5x4xf32>, %r: tensor<2x1x5x4xf32>, %e: tensor<2xi32>) -> tensor<2x2x5x4xf32> {
  %a = tw.attention query(%q : tensor<2x1x5x4xf32>) key(%q : tensor<2x1x5x4xf32>) value(%q : tensor<2x1x5x4xf32>) kv_end(%e : tensor<2xi32>) {scale = 0.5 : f64} -> tensor<2x1x5x4xf32>
  %b = tw.attention query(%r : tensor<2x1x5x4xf32>) key(%r : tensor<2x1x5x4xf32>) value(%r : tensor<2x1x5x4xf32>) kv_end(%e : tensor<2xi32>) {scale = 0.5 : f64} -> tensor<2x1x5x4xf32>
  %y = tw.concat dim 1 %a, %b : tensor<2x1x5x4xf32>, tensor<2x1x5x4xf32> -> tensor<2x2x5x4xf32>
  return %y : tensor<2x2x5x4xf32>
}
