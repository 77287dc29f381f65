// One query row of 8 heads of 64 against S keys, with 8, 4, 2 and 1 key/value heads: bytes of keys and values, and the time
// to read them, follow the key/value heads; the products are the same.
func.func @kv_heads_8(%q: tensor<1x8x1x64xf32>, %k: tensor<1x8x?x64xf32>, %v: tensor<1x8x?x64xf32>) -> tensor<1x8x1x64xf32> {
  %o = tw.attention query(%q : tensor<1x8x1x64xf32>) key(%k : tensor<1x8x?x64xf32>) value(%v : tensor<1x8x?x64xf32>) {scale = 0.125 : f64} -> tensor<1x8x1x64xf32>
  return %o : tensor<1x8x1x64xf32>
}
func.func @kv_heads_4(%q: tensor<1x8x1x64xf32>, %k: tensor<1x4x?x64xf32>, %v: tensor<1x4x?x64xf32>) -> tensor<1x8x1x64xf32> {
  %o = tw.attention query(%q : tensor<1x8x1x64xf32>) key(%k : tensor<1x4x?x64xf32>) value(%v : tensor<1x4x?x64xf32>) {scale = 0.125 : f64} -> tensor<1x8x1x64xf32>
  return %o : tensor<1x8x1x64xf32>
}
func.func @kv_heads_2(%q: tensor<1x8x1x64xf32>, %k: tensor<1x2x?x64xf32>, %v: tensor<1x2x?x64xf32>) -> tensor<1x8x1x64xf32> {
  %o = tw.attention query(%q : tensor<1x8x1x64xf32>) key(%k : tensor<1x2x?x64xf32>) value(%v : tensor<1x2x?x64xf32>) {scale = 0.125 : f64} -> tensor<1x8x1x64xf32>
  return %o : tensor<1x8x1x64xf32>
}
func.func @kv_heads_1(%q: tensor<1x8x1x64xf32>, %k: tensor<1x1x?x64xf32>, %v: tensor<1x1x?x64xf32>) -> tensor<1x8x1x64xf32> {
  %o = tw.attention query(%q : tensor<1x8x1x64xf32>) key(%k : tensor<1x1x?x64xf32>) value(%v : tensor<1x1x?x64xf32>) {scale = 0.125 : f64} -> tensor<1x8x1x64xf32>
  return %o : tensor<1x8x1x64xf32>
}
