// Needs: latent_attention quantization
// Attention of low rank over a state of latents, whose up-projection is quantised.
!state = !tw.state<tensor<?x1x34xf32>>
ml_program.global private @up(#ml_program.extern : tensor<32x32x!quantization.q8_0>) : tensor<32x32x!quantization.q8_0>
func.func @step(%qn: tensor<?x4x3xf32>, %qr: tensor<?x4x2xf32>, %x: tensor<?x1x34xf32>, %r: tensor<?xi32> {tw.dims = ["B1"]},
    %l: tensor<?xi32> {tw.dims = ["B"]}, %p: tensor<?xi32>, %s: !state) -> (tensor<?x4x5xf32>, !state) {
  %w = ml_program.global_load_const @up : tensor<32x32x!quantization.q8_0>
  %t = tw.append %s, %r, %x : !state, tensor<?xi32>, tensor<?x1x34xf32>
  %o = latent_attention.attention query(%qn, %qr : tensor<?x4x3xf32>, tensor<?x4x2xf32>) up(%w : tensor<32x32x!quantization.q8_0>)
      state(%t : !state) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>) positions(%p : tensor<?xi32>) {causal = "end"} -> tensor<?x4x5xf32>
  return %o, %t : tensor<?x4x5xf32>, !state
}
