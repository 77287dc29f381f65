// REQUIRES: plugin-latent_attention
// RUN: %tw-opt %s --latent-attention-choose-form | FileCheck %s
// RUN: %tw-opt %s --latent-attention-choose-form --remark-format=emitRemark --remarks-filter="receipt.*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=RECEIPT

// A prefill: expanding 512 keys of 16 heads once costs less than 1088 in place of 320 multiply-adds for each query and key.
// RECEIPT: latent-attention-choose-form{{.*}}expanded form: the cheaper one for 512 queries and 512 keys
// CHECK-LABEL: func.func @prefill
// CHECK: tw.linear %{{.*}} : tensor<1x512x512xf32>, tensor<4096x512xf32> -> tensor<1x512x4096xf32>
// CHECK: tw.attention query(%{{.*}} : tensor<1x16x512x192xf32>) key(%{{.*}} : tensor<1x16x512x192xf32>) value(%{{.*}} : tensor<1x16x512x128xf32>) {causal = "end", scale = {{0.0721[0-9]*}} : f64
// CHECK-NOT: latent_attention.attention query
func.func @prefill(%qn: tensor<1x16x512x128xf32>, %qr: tensor<1x16x512x64xf32>, %w: tensor<4096x512xf32>, %c: tensor<1x512x512xf32>, %r: tensor<1x512x64xf32>)
    -> tensor<1x16x512x128xf32> {
  %y = latent_attention.attention query(%qn, %qr : tensor<1x16x512x128xf32>, tensor<1x16x512x64xf32>) up(%w : tensor<4096x512xf32>)
         latent(%c, %r : tensor<1x512x512xf32>, tensor<1x512x64xf32>) {causal = "end"} -> tensor<1x16x512x128xf32>
  return %y : tensor<1x16x512x128xf32>
}

// One query: nothing is expanded; all heads share one key of 576 columns, whose first 512 are the value.
// RECEIPT: latent-attention-choose-form{{.*}}absorbed form: the cheaper one for 1 queries and 512 keys
// CHECK-LABEL: func.func @decode
// CHECK: tw.batch_matmul %{{.*}}, %{{.*}} : tensor<16x1x128xf32>, tensor<16x128x512xf32> -> tensor<16x1x512xf32>
// CHECK: tw.attention query(%{{.*}} : tensor<1x16x1x576xf32>) key(%{{.*}} : tensor<1x1x512x576xf32>) value(%{{.*}} : tensor<1x1x512x512xf32>)
// CHECK: tw.batch_matmul %{{.*}}, %{{.*}} {{{.*}}transpose_b = true{{.*}}} : tensor<16x1x512xf32>, tensor<16x128x512xf32> -> tensor<16x1x128xf32>
func.func @decode(%qn: tensor<1x16x1x128xf32>, %qr: tensor<1x16x1x64xf32>, %w: tensor<4096x512xf32>, %c: tensor<1x512x512xf32>, %r: tensor<1x512x64xf32>)
    -> tensor<1x16x1x128xf32> {
  %y = latent_attention.attention query(%qn, %qr : tensor<1x16x1x128xf32>, tensor<1x16x1x64xf32>) up(%w : tensor<4096x512xf32>)
         latent(%c, %r : tensor<1x512x512xf32>, tensor<1x512x64xf32>) {causal = "end"} -> tensor<1x16x1x128xf32>
  return %y : tensor<1x16x1x128xf32>
}

// Lengths that are not known count as 1024.
// RECEIPT: latent-attention-choose-form{{.*}}expanded form: the cheaper one for 1024 queries and 1024 keys
// CHECK-LABEL: func.func @unknown
// CHECK: tw.linear
func.func @unknown(%qn: tensor<1x16x?x128xf32>, %qr: tensor<1x16x?x64xf32>, %w: tensor<4096x512xf32>, %c: tensor<1x?x512xf32>, %r: tensor<1x?x64xf32>)
    -> tensor<1x16x?x128xf32> {
  %y = latent_attention.attention query(%qn, %qr : tensor<1x16x?x128xf32>, tensor<1x16x?x64xf32>) up(%w : tensor<4096x512xf32>)
         latent(%c, %r : tensor<1x?x512xf32>, tensor<1x?x64xf32>) {causal = "end"} -> tensor<1x16x?x128xf32>
  return %y : tensor<1x16x?x128xf32>
}

// What the user says counts.
// RECEIPT: latent-attention-choose-form{{.*}}absorbed form: as its attribute says
// CHECK-LABEL: func.func @asked
// CHECK-NOT: tw.linear
// CHECK: tw.attention query(%{{.*}} : tensor<1x16x512x576xf32>)
func.func @asked(%qn: tensor<1x16x512x128xf32>, %qr: tensor<1x16x512x64xf32>, %w: tensor<4096x512xf32>, %c: tensor<1x512x512xf32>, %r: tensor<1x512x64xf32>)
    -> tensor<1x16x512x128xf32> {
  %y = latent_attention.attention query(%qn, %qr : tensor<1x16x512x128xf32>, tensor<1x16x512x64xf32>) up(%w : tensor<4096x512xf32>)
         latent(%c, %r : tensor<1x512x512xf32>, tensor<1x512x64xf32>) {form = "absorbed"} -> tensor<1x16x512x128xf32>
  return %y : tensor<1x16x512x128xf32>
}

// The attentions of a latent array are taken out of it.
// RECEIPT: latent-attention-choose-form{{.*}}two attentions through 64 latents
// CHECK-LABEL: func.func @latent_array
// CHECK: %[[H:.*]] = tw.attention query(%{{.*}} : tensor<2x4x64x8xf32>) key(%{{.*}} : tensor<2x4x?x8xf32>)
// CHECK: tw.attention query(%{{.*}} : tensor<2x4x?x8xf32>) key(%{{.*}} : tensor<2x4x64x8xf32>) value(%[[H]] : tensor<2x4x64x8xf32>)
func.func @latent_array(%x: tensor<2x?x32xf32>, %n: tensor<64x32xf32>, %w: tensor<32x32xf32>) -> tensor<2x?x32xf32> {
  %y, %h = "latent_attention.latent_array"(%x, %n, %w, %w, %w, %w) {heads = 4 : i64,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
    : (tensor<2x?x32xf32>, tensor<64x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>)
    -> (tensor<2x?x32xf32>, tensor<2x4x64x8xf32>)
  return %y : tensor<2x?x32xf32>
}

// Over a state the cached rows are read as they stand.
// RECEIPT: latent-attention-choose-form{{.*}}absorbed form: the state keeps 576 numbers a token, and expanded keys would be made again for each 16 rows
// CHECK-LABEL: func.func @ragged
// CHECK: %[[U:.*]] = latent_attention.absorb "key" %{{.*}}, %{{.*}} : tensor<?x16x128xf32>, tensor<4096x512xf32> -> tensor<?x16x512xf32>
// CHECK: %[[Q:.*]] = tw.concat dim 2 %[[U]], %{{.*}} : tensor<?x16x512xf32>, tensor<?x16x64xf32> -> tensor<?x16x576xf32>
// CHECK: %[[Z:.*]] = tw.attention query(%[[Q]] : tensor<?x16x576xf32>) state(%{{.*}} : !tw.state<tensor<?x1x576xf32>>) {{.*}} -> tensor<?x16x512xf32>
// CHECK: latent_attention.absorb "value" %[[Z]], %{{.*}} : tensor<?x16x512xf32>, tensor<4096x512xf32> -> tensor<?x16x128xf32>
func.func @ragged(%qn: tensor<?x16x128xf32>, %qr: tensor<?x16x64xf32>, %w: tensor<4096x512xf32>, %s: !tw.state<tensor<?x1x576xf32>>,
    %rs: tensor<?xi32>, %l: tensor<?xi32>, %p: tensor<?xi32>) -> tensor<?x16x128xf32> {
  %o = latent_attention.attention query(%qn, %qr : tensor<?x16x128xf32>, tensor<?x16x64xf32>) up(%w : tensor<4096x512xf32>)
         state(%s : !tw.state<tensor<?x1x576xf32>>) row_start(%rs : tensor<?xi32>) kv_len(%l : tensor<?xi32>) positions(%p : tensor<?xi32>)
         {causal = "end"} -> tensor<?x16x128xf32>
  return %o : tensor<?x16x128xf32>
}
