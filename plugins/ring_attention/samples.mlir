// What `tilewright plugins check` tries (docs/conformance.md).
func.func @causal(%q: tensor<2x4x9x8xf32>, %k: tensor<2x2x11x8xf32>, %v: tensor<2x2x11x8xf32>) -> (tensor<2x4x9x8xf32>, tensor<2x4x9xf32>) {
  %o, %l = ring_attention.attention query(%q : tensor<2x4x9x8xf32>) key(%k : tensor<2x2x11x8xf32>) value(%v : tensor<2x2x11x8xf32>)
      {scale = 0.35 : f64, causal = "end", num_shards = 3 : i64} -> tensor<2x4x9x8xf32>, tensor<2x4x9xf32>
  return %o, %l : tensor<2x4x9x8xf32>, tensor<2x4x9xf32>
}

// -----

// More shards than rows and keys, everything that hides or changes scores.
func.func @variants(%q: tensor<1x2x3x8xf32>, %k: tensor<1x2x4x8xf32>, %m: tensor<1x4xi1>, %b: tensor<1x2x3x4xf32>, %s: tensor<2xf32>) -> tensor<1x2x3x8xf32> {
  %o = ring_attention.attention query(%q : tensor<1x2x3x8xf32>) key(%k : tensor<1x2x4x8xf32>) value(%k : tensor<1x2x4x8xf32>)
      mask(%m : tensor<1x4xi1>) bias(%b : tensor<1x2x3x4xf32>) sinks(%s : tensor<2xf32>)
      {scale = 0.35 : f64, causal = "start", window = 2 : i64, softcap = 4.0 : f64, num_shards = 6 : i64} -> tensor<1x2x3x8xf32>
  return %o : tensor<1x2x3x8xf32>
}

// -----

func.func @one_shard(%q: tensor<1x2x5x8xf32>) -> tensor<1x2x5x8xf32> {
  %o = ring_attention.attention query(%q : tensor<1x2x5x8xf32>) key(%q : tensor<1x2x5x8xf32>) value(%q : tensor<1x2x5x8xf32>)
      {scale = 0.35 : f64, num_shards = 1 : i64} -> tensor<1x2x5x8xf32>
  return %o : tensor<1x2x5x8xf32>
}

// -----

func.func @attention_c1(%q: tensor<1x5x3x8xf32>, %k: tensor<1x2x4x8xf32>) {
  // expected-error@below {{'tw.attention' op has 5 query heads and 2 key/value heads, wanted a static multiple of at least one}}
  %o = ring_attention.attention query(%q : tensor<1x5x3x8xf32>) key(%k : tensor<1x2x4x8xf32>) value(%k : tensor<1x2x4x8xf32>) {scale = 1.0 : f64} -> tensor<1x5x3x8xf32>
  return
}

// -----

func.func @attention_c2(%q: tensor<1x2x3x8xf32>) {
  // expected-error@below {{num_shards is 0, wanted at least 1}}
  %o = ring_attention.attention query(%q : tensor<1x2x3x8xf32>) key(%q : tensor<1x2x3x8xf32>) value(%q : tensor<1x2x3x8xf32>) {scale = 1.0 : f64, num_shards = 0 : i64} -> tensor<1x2x3x8xf32>
  return
}

// -----

func.func @attention_c3(%q: tensor<1x2x3x8xf32>) {
  // expected-error@below {{wants the dense form in the layout bhtd, without cu_seqlens_q and without the weights as a result}}
  %o, %w = ring_attention.attention query(%q : tensor<1x2x3x8xf32>) key(%q : tensor<1x2x3x8xf32>) value(%q : tensor<1x2x3x8xf32>) {scale = 1.0 : f64} -> tensor<1x2x3x8xf32>, tensor<1x2x3x3xf32>
  return
}

// -----

func.func @attention_c4(%q: tensor<1x2x?x8xf32>) {
  // expected-error@below {{cuts a query of shape 1x2x?x8 and a key of shape 1x2x?x8, wanted static B, T and S}}
  %o = ring_attention.attention query(%q : tensor<1x2x?x8xf32>) key(%q : tensor<1x2x?x8xf32>) value(%q : tensor<1x2x?x8xf32>) {scale = 1.0 : f64} -> tensor<1x2x?x8xf32>
  return
}
