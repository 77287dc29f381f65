// Attention of 4 heads of 64 over T rows: by tiles, which keep the scores of one block of rows, and as it is written, with all
// scores at once, O(T^2). Time and memory (--memory).
func.func @tiles(%q: tensor<1x4x?x64xf32>, %k: tensor<1x4x?x64xf32>, %v: tensor<1x4x?x64xf32>) -> tensor<1x4x?x64xf32> {
  %o = tw.attention query(%q : tensor<1x4x?x64xf32>) key(%k : tensor<1x4x?x64xf32>) value(%v : tensor<1x4x?x64xf32>) {scale = 0.125 : f64} -> tensor<1x4x?x64xf32>
  return %o : tensor<1x4x?x64xf32>
}
func.func @tiles_causal(%q: tensor<1x4x?x64xf32>, %k: tensor<1x4x?x64xf32>, %v: tensor<1x4x?x64xf32>) -> tensor<1x4x?x64xf32> {
  %o = tw.attention query(%q : tensor<1x4x?x64xf32>) key(%k : tensor<1x4x?x64xf32>) value(%v : tensor<1x4x?x64xf32>) {scale = 0.125 : f64, causal = "end"} -> tensor<1x4x?x64xf32>
  return %o : tensor<1x4x?x64xf32>
}
func.func @all_scores(%q: tensor<1x4x?x64xf32>, %k: tensor<1x4x?x64xf32>, %v: tensor<1x4x?x64xf32>) -> tensor<1x4x?x64xf32> attributes {bench.as_written} {
  %s = tw.batch_matmul %q, %k {transpose_b = true} : tensor<1x4x?x64xf32>, tensor<1x4x?x64xf32> -> tensor<1x4x?x?xf32>
  %p = tw.softmax %s dim 3 : tensor<1x4x?x?xf32>
  %o = tw.batch_matmul %p, %v : tensor<1x4x?x?xf32>, tensor<1x4x?x64xf32> -> tensor<1x4x?x64xf32>
  return %o : tensor<1x4x?x64xf32>
}
