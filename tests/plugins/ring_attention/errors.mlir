// REQUIRES: plugin-ring_attention
// RUN: %tw-opt --verify-diagnostics --split-input-file %s

func.func @attention_c2(%q: tensor<1x2x3x8xf32>) {
  // expected-error@+1 {{num_shards is -2, wanted at least 1}}
  %o = ring_attention.attention query(%q : tensor<1x2x3x8xf32>) key(%q : tensor<1x2x3x8xf32>) value(%q : tensor<1x2x3x8xf32>) {scale = 1.0 : f64, num_shards = -2 : i64} -> tensor<1x2x3x8xf32>
  return
}

// -----

func.func @attention_c3(%q: tensor<1x3x2x8xf32>) {
  // expected-error@+1 {{wants the dense form in the layout bhtd}}
  %o = ring_attention.attention query(%q : tensor<1x3x2x8xf32>) key(%q : tensor<1x3x2x8xf32>) value(%q : tensor<1x3x2x8xf32>) {scale = 1.0 : f64, layout = "bthd"} -> tensor<1x3x2x8xf32>
  return
}
