// Self-attention of L inputs, 4 heads of 64: through 64 latents, O(L N), and directly, O(L^2).
func.func @latent_array(%x: tensor<1x?x256xf32>, %latents: tensor<64x256xf32>, %wq: tensor<256x256xf32>, %wk: tensor<256x256xf32>, %wv: tensor<256x256xf32>,
    %wo: tensor<256x256xf32>) -> tensor<1x?x256xf32> {
  %y, %h = "latent_attention.latent_array"(%x, %latents, %wq, %wk, %wv, %wo) {heads = 4 : i64,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
    : (tensor<1x?x256xf32>, tensor<64x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>)
    -> (tensor<1x?x256xf32>, tensor<1x4x64x64xf32>)
  return %y : tensor<1x?x256xf32>
}
func.func @self_attention(%x: tensor<1x?x256xf32>, %wq: tensor<256x256xf32>, %wk: tensor<256x256xf32>, %wv: tensor<256x256xf32>, %wo: tensor<256x256xf32>)
    -> tensor<1x?x256xf32> {
  %q0 = tw.linear %x, %wq : tensor<1x?x256xf32>, tensor<256x256xf32> -> tensor<1x?x256xf32>
  %q1 = tw.reshape %q0 : tensor<1x?x256xf32> -> tensor<1x?x4x64xf32>
  %q = tw.transpose %q1 perm [0, 2, 1, 3] : tensor<1x?x4x64xf32> -> tensor<1x4x?x64xf32>
  %k0 = tw.linear %x, %wk : tensor<1x?x256xf32>, tensor<256x256xf32> -> tensor<1x?x256xf32>
  %k1 = tw.reshape %k0 : tensor<1x?x256xf32> -> tensor<1x?x4x64xf32>
  %k = tw.transpose %k1 perm [0, 2, 1, 3] : tensor<1x?x4x64xf32> -> tensor<1x4x?x64xf32>
  %v0 = tw.linear %x, %wv : tensor<1x?x256xf32>, tensor<256x256xf32> -> tensor<1x?x256xf32>
  %v1 = tw.reshape %v0 : tensor<1x?x256xf32> -> tensor<1x?x4x64xf32>
  %v = tw.transpose %v1 perm [0, 2, 1, 3] : tensor<1x?x4x64xf32> -> tensor<1x4x?x64xf32>
  %o = tw.attention query(%q : tensor<1x4x?x64xf32>) key(%k : tensor<1x4x?x64xf32>) value(%v : tensor<1x4x?x64xf32>) {scale = 0.125 : f64} -> tensor<1x4x?x64xf32>
  %o1 = tw.transpose %o perm [0, 2, 1, 3] : tensor<1x4x?x64xf32> -> tensor<1x?x4x64xf32>
  %o0 = tw.reshape %o1 : tensor<1x?x4x64xf32> -> tensor<1x?x256xf32>
  %y = tw.linear %o0, %wo : tensor<1x?x256xf32>, tensor<256x256xf32> -> tensor<1x?x256xf32>
  return %y : tensor<1x?x256xf32>
}
// The linear maps around either.
func.func @projections(%x: tensor<1x?x256xf32>, %wq: tensor<256x256xf32>, %wk: tensor<256x256xf32>, %wv: tensor<256x256xf32>, %wo: tensor<256x256xf32>)
    -> tensor<1x?x256xf32> {
  %q = tw.linear %x, %wq : tensor<1x?x256xf32>, tensor<256x256xf32> -> tensor<1x?x256xf32>
  %k = tw.linear %x, %wk : tensor<1x?x256xf32>, tensor<256x256xf32> -> tensor<1x?x256xf32>
  %v = tw.linear %x, %wv : tensor<1x?x256xf32>, tensor<256x256xf32> -> tensor<1x?x256xf32>
  %s = tw.add %q, %k : tensor<1x?x256xf32>
  %t = tw.add %s, %v : tensor<1x?x256xf32>
  %y = tw.linear %t, %wo : tensor<1x?x256xf32>, tensor<256x256xf32> -> tensor<1x?x256xf32>
  return %y : tensor<1x?x256xf32>
}
