// REQUIRES: plugin-latent_attention, plugin-quantization
// RUN: %tw-opt %s --latent-attention-choose-form --remark-format=emitRemark --remarks-filter="receipt.*" 2> %t.receipts | FileCheck %s
// RUN: FileCheck %s --check-prefix=RECEIPT < %t.receipts

// Without a state a quantised up-projection is multiplied as it is stored, whatever the lengths: the form that reads it in one
// direction.
// RECEIPT: expanded form: the up-projection is quantised, and the absorbed form would decode it
// CHECK-LABEL: func.func @one_query
// CHECK: tw.linear %{{.*}}, %{{.*}} : tensor<2x60x32xf32>, tensor<16x32x!quantization.q8_0> -> tensor<2x60x16xf32>
func.func @one_query(%qn: tensor<2x2x1x3xf32>, %qr: tensor<2x2x1x2xf32>, %w: tensor<16x32x!quantization.q8_0>, %c: tensor<2x60x32xf32>, %k: tensor<2x60x2xf32>)
    -> tensor<2x2x1x5xf32> {
  %o = latent_attention.attention query(%qn, %qr : tensor<2x2x1x3xf32>, tensor<2x2x1x2xf32>) up(%w : tensor<16x32x!quantization.q8_0>)
      latent(%c, %k : tensor<2x60x32xf32>, tensor<2x60x2xf32>) -> tensor<2x2x1x5xf32>
  return %o : tensor<2x2x1x5xf32>
}

// Over a state, whose rows are latents, it is decoded once for both directions.
// RECEIPT: absorbed form: the state keeps 34 numbers a token, {{.*}}; the quantised up-projection is decoded in each step
// CHECK-LABEL: func.func @over_a_state
// CHECK: %[[UP:.*]] = tw.gather %{{.*}}, %{{.*}} : tensor<16x32x!quantization.q8_0>, tensor<16xi32> -> tensor<16x32xf32>
// CHECK: latent_attention.absorb "key" %{{.*}}, %[[UP]]
// CHECK: latent_attention.absorb "value" %{{.*}}, %[[UP]]
func.func @over_a_state(%qn: tensor<?x2x3xf32>, %qr: tensor<?x2x2xf32>, %w: tensor<16x32x!quantization.q8_0>, %s: !tw.state<tensor<?x1x34xf32>>,
    %r: tensor<?xi32>, %l: tensor<?xi32>, %p: tensor<?xi32>) -> tensor<?x2x5xf32> {
  %o = latent_attention.attention query(%qn, %qr : tensor<?x2x3xf32>, tensor<?x2x2xf32>) up(%w : tensor<16x32x!quantization.q8_0>)
      state(%s : !tw.state<tensor<?x1x34xf32>>) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>) positions(%p : tensor<?xi32>) {causal = "end"} -> tensor<?x2x5xf32>
  return %o : tensor<?x2x5xf32>
}

// And where the form is asked for.
// CHECK-LABEL: func.func @asked_for
// CHECK: tw.gather %{{.*}} -> tensor<16x32xf32>
func.func @asked_for(%qn: tensor<2x2x7x3xf32>, %qr: tensor<2x2x7x2xf32>, %w: tensor<16x32x!quantization.q8_0>, %c: tensor<2x6x32xf32>, %k: tensor<2x6x2xf32>)
    -> tensor<2x2x7x5xf32> {
  %o = latent_attention.attention query(%qn, %qr : tensor<2x2x7x3xf32>, tensor<2x2x7x2xf32>) up(%w : tensor<16x32x!quantization.q8_0>)
      latent(%c, %k : tensor<2x6x32xf32>, tensor<2x6x2xf32>) {form = "absorbed"} -> tensor<2x2x7x5xf32>
  return %o : tensor<2x2x7x5xf32>
}
