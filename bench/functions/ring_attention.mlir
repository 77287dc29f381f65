// Attention of 4 heads of 64 over 2048 rows in 1, 2, 4 and 8 shards, one after another on this device. A rank of so many holds
// its share of queries, keys, values and output (2 MiB each in all), and of what is between kernels (--memory).
func.func @shards_1(%q: tensor<1x4x2048x64xf32>, %k: tensor<1x4x2048x64xf32>, %v: tensor<1x4x2048x64xf32>) -> tensor<1x4x2048x64xf32> {
  %o = ring_attention.attention query(%q : tensor<1x4x2048x64xf32>) key(%k : tensor<1x4x2048x64xf32>) value(%v : tensor<1x4x2048x64xf32>) {scale = 0.125 : f64, causal = "end", num_shards = 1 : i64} -> tensor<1x4x2048x64xf32>
  return %o : tensor<1x4x2048x64xf32>
}
func.func @shards_2(%q: tensor<1x4x2048x64xf32>, %k: tensor<1x4x2048x64xf32>, %v: tensor<1x4x2048x64xf32>) -> tensor<1x4x2048x64xf32> {
  %o = ring_attention.attention query(%q : tensor<1x4x2048x64xf32>) key(%k : tensor<1x4x2048x64xf32>) value(%v : tensor<1x4x2048x64xf32>) {scale = 0.125 : f64, causal = "end", num_shards = 2 : i64} -> tensor<1x4x2048x64xf32>
  return %o : tensor<1x4x2048x64xf32>
}
func.func @shards_4(%q: tensor<1x4x2048x64xf32>, %k: tensor<1x4x2048x64xf32>, %v: tensor<1x4x2048x64xf32>) -> tensor<1x4x2048x64xf32> {
  %o = ring_attention.attention query(%q : tensor<1x4x2048x64xf32>) key(%k : tensor<1x4x2048x64xf32>) value(%v : tensor<1x4x2048x64xf32>) {scale = 0.125 : f64, causal = "end", num_shards = 4 : i64} -> tensor<1x4x2048x64xf32>
  return %o : tensor<1x4x2048x64xf32>
}
func.func @shards_8(%q: tensor<1x4x2048x64xf32>, %k: tensor<1x4x2048x64xf32>, %v: tensor<1x4x2048x64xf32>) -> tensor<1x4x2048x64xf32> {
  %o = ring_attention.attention query(%q : tensor<1x4x2048x64xf32>) key(%k : tensor<1x4x2048x64xf32>) value(%v : tensor<1x4x2048x64xf32>) {scale = 0.125 : f64, causal = "end", num_shards = 8 : i64} -> tensor<1x4x2048x64xf32>
  return %o : tensor<1x4x2048x64xf32>
}
