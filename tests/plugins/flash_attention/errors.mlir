// REQUIRES: plugin-flash_attention
// RUN: %tw-opt %s --split-input-file --verify-diagnostics
// The rules are tw.attention's, and so are the messages.

func.func @attention_c1_heads(%q: tensor<1x5x3x8xf32>, %k: tensor<1x2x4x8xf32>) {
  // expected-error @+1 {{'tw.attention' op has 5 query heads and 2 key/value heads, wanted a static multiple of at least one}}
  %o = flash_attention.attention query(%q : tensor<1x5x3x8xf32>) key(%k : tensor<1x2x4x8xf32>) value(%k : tensor<1x2x4x8xf32>) {scale = 1.0 : f64} -> tensor<1x5x3x8xf32>
  return
}

// -----

func.func @attention_c1_form(%q: tensor<1x5x3x8xf32>) {
  // expected-error @+1 {{'tw.attention' op wanted either key and value, or state, row_start, kv_len and positions}}
  %o = flash_attention.attention query(%q : tensor<1x5x3x8xf32>) {scale = 1.0 : f64} -> tensor<1x5x3x8xf32>
  return
}

// -----

func.func @attention_c1_window(%q: tensor<1x2x3x8xf32>) {
  // expected-error @+1 {{'tw.attention' op window is 0, wanted at least 1}}
  %o = flash_attention.attention query(%q : tensor<1x2x3x8xf32>) key(%q : tensor<1x2x3x8xf32>) value(%q : tensor<1x2x3x8xf32>) {scale = 1.0 : f64, window = 0 : i64} -> tensor<1x2x3x8xf32>
  return
}
