// Needs: rms_norm rotary_embedding swiglu flash_attention multi_head_attention
// Ops that are compiled by their reference lowering: those without a kernel form for the variant, and those whose kernel
// form is withheld (test.without_kernel).
func.func @norm(%x: tensor<2x5x33xf32>, %g: tensor<33xf32>, %b: tensor<33xf32>) -> tensor<2x5x33xf32> attributes {test.without_kernel = "rms_norm.norm"} {
  %y = rms_norm.norm %x weight(%g : tensor<33xf32>) bias(%b : tensor<33xf32>) {epsilon = 1.0e-05 : f64} : tensor<2x5x33xf32>
  return %y : tensor<2x5x33xf32>
}
func.func @norm_bf16(%x: tensor<5x48xbf16>, %g: tensor<48xbf16>) -> tensor<5x48xbf16> attributes {test.without_kernel = "rms_norm.norm"} {
  %y = rms_norm.norm %x weight(%g : tensor<48xbf16>) {epsilon = 1.0e-05 : f64} : tensor<5x48xbf16>
  return %y : tensor<5x48xbf16>
}
func.func @glu(%a: tensor<5x37xf32>, %b: tensor<5x37xf32>) -> tensor<5x37xf32> attributes {test.without_kernel = "swiglu.glu"} {
  %y = swiglu.glu %a, %b {activation = "gelu"} : tensor<5x37xf32>
  return %y : tensor<5x37xf32>
}
func.func @rotate(%x: tensor<5x3x10xf32>, %p: tensor<5xi32>) -> tensor<5x3x10xf32> attributes {test.without_kernel = "rotary_embedding.rotate"} {
  %y = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64} : tensor<5x3x10xf32>, tensor<5xi32>
  return %y : tensor<5x3x10xf32>
}
func.func @rotate_interleaved(%x: tensor<5x3x10xf32>, %p: tensor<5xi32>) -> tensor<5x3x10xf32> attributes {test.without_kernel = "rotary_embedding.rotate"} {
  %y = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64, layout = "interleaved"} : tensor<5x3x10xf32>, tensor<5xi32>
  return %y : tensor<5x3x10xf32>
}
func.func @rotate_rank_4(%x: tensor<2x3x5x8xf32>, %p: tensor<2x5xi32>) -> tensor<2x3x5x8xf32> {
  %y = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64} : tensor<2x3x5x8xf32>, tensor<2x5xi32>
  return %y : tensor<2x3x5x8xf32>
}
func.func @rotate_rank_4_shared(%x: tensor<2x3x5x8xf32>, %p: tensor<5xi32>) -> tensor<2x3x5x8xf32> {
  %y = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 6 : i64, layout = "interleaved"} : tensor<2x3x5x8xf32>, tensor<5xi32>
  return %y : tensor<2x3x5x8xf32>
}
!q = tensor<2x4x5x8xf32>
!k = tensor<2x2x7x8xf32>
func.func @dense_flash(%q: !q, %k: !k, %v: !k) -> !q {
  %y = flash_attention.attention query(%q : !q) key(%k : !k) value(%v : !k) {scale = 0.3 : f64, causal = "end"} -> !q
  return %y : !q
}
// An op that has nothing but a reference lowering.
func.func @self_attention(%x: tensor<2x5x12xf32>, %wq: tensor<12x12xf32>, %wk: tensor<6x12xf32>, %wv: tensor<6x12xf32>) -> tensor<2x5x12xf32> {
  %y = "multi_head_attention.self_attention"(%x, %wq, %wk, %wv) {heads = 4 : i64, kv_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x5x12xf32>, tensor<12x12xf32>, tensor<6x12xf32>, tensor<6x12xf32>) -> tensor<2x5x12xf32>
  return %y : tensor<2x5x12xf32>
}
