// RUN: %tw-opt --verify-diagnostics --split-input-file %s

func.func @attention_c1_neither(%q: tensor<2x6x4x8xf32>) {
  // expected-error@+1 {{wanted either key and value, or state, row_start, kv_len and positions}}
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) {scale = 1.0 : f64} -> tensor<2x6x4x8xf32>
  return
}

// -----

func.func @attention_c1_both(%q: tensor<2x6x4x8xf32>, %r: tensor<3xi32>) {
  // expected-error@+1 {{wanted either key and value, or state, row_start, kv_len and positions}}
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%q : tensor<2x6x4x8xf32>) value(%q : tensor<2x6x4x8xf32>)
       row_start(%r : tensor<3xi32>) {scale = 1.0 : f64} -> tensor<2x6x4x8xf32>
  return
}

// -----

func.func @attention_c2_key(%q: tensor<2x6x4x8xf32>, %k: tensor<2x3x5x9xf32>) {
  // expected-error@+1 {{key has shape 2x3x5x9, wanted 2x3x5x8 (the query's batch and head dimension)}}
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%k : tensor<2x3x5x9xf32>) value(%k : tensor<2x3x5x9xf32>)
       {scale = 1.0 : f64} -> tensor<2x6x4x9xf32>
  return
}

// -----

func.func @attention_c2_value(%q: tensor<2x6x4x8xf32>, %k: tensor<2x3x5x8xf32>, %v: tensor<2x3x6x8xf32>) {
  // expected-error@+1 {{value has shape 2x3x6x8, wanted 2x3x5x8 (the key's batch, heads and length)}}
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%k : tensor<2x3x5x8xf32>) value(%v : tensor<2x3x6x8xf32>)
       {scale = 1.0 : f64} -> tensor<2x6x4x8xf32>
  return
}

// -----

func.func @attention_c2_result(%q: tensor<2x6x4x8xf32>, %k: tensor<2x3x5x8xf32>, %v: tensor<2x3x5x7xf32>) {
  // expected-error@+1 {{result has shape 2x6x4x8, wanted 2x6x4x7}}
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%k : tensor<2x3x5x8xf32>) value(%v : tensor<2x3x5x7xf32>)
       {scale = 1.0 : f64} -> tensor<2x6x4x8xf32>
  return
}

// -----

func.func @attention_c2_heads(%q: tensor<2x6x4x8xf32>, %k: tensor<2x4x5x8xf32>) {
  // expected-error@+1 {{has 6 query heads and 4 key/value heads, wanted a static multiple of at least one}}
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%k : tensor<2x4x5x8xf32>) value(%k : tensor<2x4x5x8xf32>)
       {scale = 1.0 : f64} -> tensor<2x6x4x8xf32>
  return
}

// -----

func.func @attention_c3_scale(%q: tensor<2x6x4x8xf32>) {
  // expected-error@+1 {{wanted a finite number}}
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%q : tensor<2x6x4x8xf32>) value(%q : tensor<2x6x4x8xf32>)
       {scale = 0x7FF0000000000000 : f64} -> tensor<2x6x4x8xf32>
  return
}

// -----

func.func @attention_c3_softcap(%q: tensor<2x6x4x8xf32>) {
  // expected-error@+1 {{softcap is -1.000000e+00 : f64, wanted a finite number >= 0}}
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%q : tensor<2x6x4x8xf32>) value(%q : tensor<2x6x4x8xf32>)
       {scale = 1.0 : f64, softcap = -1.0 : f64} -> tensor<2x6x4x8xf32>
  return
}

// -----

func.func @attention_c4(%q: tensor<2x6x4x8xf32>) {
  // expected-error@+1 {{window is 0, wanted at least 1}}
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%q : tensor<2x6x4x8xf32>) value(%q : tensor<2x6x4x8xf32>)
       {scale = 1.0 : f64, causal = "end", window = 0 : i64} -> tensor<2x6x4x8xf32>
  return
}

// -----

func.func @attention_c4_not_causal(%q: tensor<2x6x4x8xf32>) {
  // expected-error@+1 {{has a window of 3 but is not causal}}
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%q : tensor<2x6x4x8xf32>) value(%q : tensor<2x6x4x8xf32>)
       {scale = 1.0 : f64, window = 3 : i64} -> tensor<2x6x4x8xf32>
  return
}

// -----

!state = !tw.state<tensor<?x3x8xf32>, tensor<?x3x8xf32>>
func.func @attention_c5(%q: tensor<?x6x8xf32>, %s: !state, %r: tensor<?xi32>, %l: tensor<?xi32>, %p: tensor<?xi32>) {
  // expected-error@+1 {{causal is "start", which the ragged form does not have}}
  %0 = tw.attention query(%q : tensor<?x6x8xf32>) state(%s : !state) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>)
       positions(%p : tensor<?xi32>) {scale = 1.0 : f64, causal = "start"} -> tensor<?x6x8xf32>
  return
}

// -----

func.func @attention_c6_bias(%q: tensor<2x6x4x8xf32>, %b: tensor<3x1x4x4xf32>) {
  // expected-error@+1 {{bias has shape 3x1x4x4, wanted 4x4 behind at most [B or 1, H or 1] of 2x6}}
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%q : tensor<2x6x4x8xf32>) value(%q : tensor<2x6x4x8xf32>)
       bias(%b : tensor<3x1x4x4xf32>) {scale = 1.0 : f64} -> tensor<2x6x4x8xf32>
  return
}

// -----

func.func @attention_c6_mask(%q: tensor<2x6x4x8xf32>, %m: tensor<1x4xi1>) {
  // expected-error@+1 {{mask has shape 1x4, wanted 4x4}}
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%q : tensor<2x6x4x8xf32>) value(%q : tensor<2x6x4x8xf32>)
       mask(%m : tensor<1x4xi1>) {scale = 1.0 : f64} -> tensor<2x6x4x8xf32>
  return
}

// -----

!state = !tw.state<tensor<?x3x8xf32>, tensor<?x3x8xf32>>
func.func @attention_c6_ragged(%q: tensor<?x6x8xf32>, %s: !state, %r: tensor<?xi32>, %l: tensor<?xi32>, %p: tensor<?xi32>,
                               %m: tensor<4x4xi1>) {
  // expected-error@+1 {{takes no mask or bias in the ragged form}}
  %0 = tw.attention query(%q : tensor<?x6x8xf32>) state(%s : !state) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>)
       positions(%p : tensor<?xi32>) mask(%m : tensor<4x4xi1>) {scale = 1.0 : f64} -> tensor<?x6x8xf32>
  return
}

// -----

func.func @attention_c7(%q: tensor<2x6x4x8xf32>, %s: tensor<3xf32>) {
  // expected-error@+1 {{sinks have shape 3, wanted 6}}
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%q : tensor<2x6x4x8xf32>) value(%q : tensor<2x6x4x8xf32>)
       sinks(%s : tensor<3xf32>) {scale = 1.0 : f64} -> tensor<2x6x4x8xf32>
  return
}

// -----

!state = !tw.state<tensor<?x3x8xf32>, tensor<?x3x8xf32>, tensor<?x3x8xf32>>
func.func @attention_c8(%q: tensor<?x6x8xf32>, %s: !state, %r: tensor<?xi32>, %l: tensor<?xi32>, %p: tensor<?xi32>) {
  // expected-error@+1 {{wanted keys [tokens, Hkv, D] and values [tokens, Hkv, Dv], or keys alone}}
  %0 = tw.attention query(%q : tensor<?x6x8xf32>) state(%s : !state) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>)
       positions(%p : tensor<?xi32>) {scale = 1.0 : f64} -> tensor<?x6x8xf32>
  return
}

// -----

!state = !tw.state<tensor<?x3x8xf32>>
func.func @attention_c8_one_buffer(%q: tensor<?x6x8xf32>, %s: !state, %r: tensor<?xi32>, %l: tensor<?xi32>, %p: tensor<?xi32>) {
  // expected-error@+1 {{result has 9 columns, wanted at most the 8 of the state's one buffer}}
  %0 = tw.attention query(%q : tensor<?x6x8xf32>) state(%s : !state) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>)
       positions(%p : tensor<?xi32>) {scale = 1.0 : f64} -> tensor<?x6x9xf32>
  return
}
