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
  // expected-error@+1 {{scale is 0x7FF0000000000000 : f64, wanted a finite number of f32's range}}
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%q : tensor<2x6x4x8xf32>) value(%q : tensor<2x6x4x8xf32>)
       {scale = 0x7FF0000000000000 : f64} -> tensor<2x6x4x8xf32>
  return
}

// -----

func.func @attention_c3_scale_beyond_f32(%q: tensor<2x6x4x8xf32>) {
  // expected-error@+1 {{scale is 9.9999999999999994E+38 : f64, wanted a finite number of f32's range}}
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%q : tensor<2x6x4x8xf32>) value(%q : tensor<2x6x4x8xf32>)
       {scale = 1.0e+39 : f64} -> tensor<2x6x4x8xf32>
  return
}

// -----

func.func @attention_c3_softcap_negative(%q: tensor<2x6x4x8xf32>) {
  // expected-error@+1 {{softcap is -5.000000e+00 : f64, wanted 0 for none or a number above 0 of f32's range}}
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%q : tensor<2x6x4x8xf32>) value(%q : tensor<2x6x4x8xf32>)
       {scale = 1.0 : f64, softcap = -5.0 : f64} -> tensor<2x6x4x8xf32>
  return
}

// -----

func.func @attention_c3_softcap_nan(%q: tensor<2x6x4x8xf32>) {
  // expected-error@+1 {{softcap is 0x7FF8000000000000 : f64, wanted 0 for none or a number above 0 of f32's range}}
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%q : tensor<2x6x4x8xf32>) value(%q : tensor<2x6x4x8xf32>)
       {scale = 1.0 : f64, softcap = 0x7FF8000000000000 : f64} -> tensor<2x6x4x8xf32>
  return
}

// -----

func.func @attention_c3_softcap_infinite(%q: tensor<2x6x4x8xf32>) {
  // expected-error@+1 {{softcap is 0x7FF0000000000000 : f64, wanted 0 for none or a number above 0 of f32's range}}
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%q : tensor<2x6x4x8xf32>) value(%q : tensor<2x6x4x8xf32>)
       {scale = 1.0 : f64, softcap = 0x7FF0000000000000 : f64} -> tensor<2x6x4x8xf32>
  return
}

// -----

func.func @attention_c3_softcap_beyond_f32(%q: tensor<2x6x4x8xf32>) {
  // expected-error@+1 {{softcap is 1.000000e+300 : f64, wanted 0 for none or a number above 0 of f32's range}}
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%q : tensor<2x6x4x8xf32>) value(%q : tensor<2x6x4x8xf32>)
       {scale = 1.0 : f64, softcap = 1.0e+300 : f64} -> tensor<2x6x4x8xf32>
  return
}

// -----

func.func @attention_c3_softcap_without_reciprocal(%q: tensor<2x6x4x8xf32>) {
  // expected-error@+1 {{softcap is 1.000000e-310 : f64, wanted 0 for none or a number above 0 of f32's range}}
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%q : tensor<2x6x4x8xf32>) value(%q : tensor<2x6x4x8xf32>)
       {scale = 1.0 : f64, softcap = 1.0e-310 : f64} -> tensor<2x6x4x8xf32>
  return
}

// -----

// None, and 0 for none.
func.func @attention_c3_without_softcap(%q: tensor<2x6x4x8xf32>) -> (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) {
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%q : tensor<2x6x4x8xf32>) value(%q : tensor<2x6x4x8xf32>)
       {scale = 1.0 : f64} -> tensor<2x6x4x8xf32>
  %1 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%q : tensor<2x6x4x8xf32>) value(%q : tensor<2x6x4x8xf32>)
       {scale = 1.0 : f64, softcap = 0.0 : f64} -> tensor<2x6x4x8xf32>
  return %0, %1 : tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>
}

// -----

func.func @attention_c4(%q: tensor<2x6x4x8xf32>) {
  // expected-error@+1 {{window is 0, wanted at least 1}}
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%q : tensor<2x6x4x8xf32>) value(%q : tensor<2x6x4x8xf32>)
       {scale = 1.0 : f64, causal = "end", window = 0 : i64} -> tensor<2x6x4x8xf32>
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
  // expected-error@+1 {{bias has shape 3x1x4x4, wanted the last dimensions of 2x6x4x4, each but the last one it or 1}}
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%q : tensor<2x6x4x8xf32>) value(%q : tensor<2x6x4x8xf32>)
       bias(%b : tensor<3x1x4x4xf32>) {scale = 1.0 : f64} -> tensor<2x6x4x8xf32>
  return
}

// -----

func.func @attention_c6_mask(%q: tensor<2x6x4x8xf32>, %m: tensor<4x1xi1>) {
  // expected-error@+1 {{mask has shape 4x1, wanted the last dimensions of 2x6x4x4, each but the last one it or 1}}
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%q : tensor<2x6x4x8xf32>) value(%q : tensor<2x6x4x8xf32>)
       mask(%m : tensor<4x1xi1>) {scale = 1.0 : f64} -> tensor<2x6x4x8xf32>
  return
}

// -----

!state = !tw.state<tensor<?x3x8xf32>, tensor<?x3x8xf32>>
func.func @attention_c6_ragged(%q: tensor<?x6x8xf32>, %s: !state, %r: tensor<?xi32>, %l: tensor<?xi32>, %p: tensor<?xi32>,
                               %m: tensor<4x4xi1>) {
  // expected-error@+1 {{takes no mask in the ragged form}}
  %0 = tw.attention query(%q : tensor<?x6x8xf32>) state(%s : !state) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>)
       positions(%p : tensor<?xi32>) mask(%m : tensor<4x4xi1>) {scale = 1.0 : f64} -> tensor<?x6x8xf32>
  return
}

// -----

!state = !tw.state<tensor<?x3x8xf32>, tensor<?x3x8xf32>>
func.func @attention_c6_distances(%q: tensor<?x6x8xf32>, %s: !state, %r: tensor<?xi32>, %l: tensor<?xi32>, %p: tensor<?xi32>,
                                  %b: tensor<6x4xf32>) {
  // expected-error@+1 {{bias has type 'tensor<6x4xf32>', wanted in the ragged form floats [6, 2 R + 1]: a number for each distance from -R to R}}
  %0 = tw.attention query(%q : tensor<?x6x8xf32>) state(%s : !state) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>)
       positions(%p : tensor<?xi32>) bias(%b : tensor<6x4xf32>) {scale = 1.0 : f64} -> tensor<?x6x8xf32>
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

// -----

func.func @attention_c6_rank_3(%q: tensor<2x6x4x8xf32>, %m: tensor<6x4x4xi1>) {
  // expected-error@+1 {{mask has shape 6x4x4, wanted the last dimensions of 2x4x4, each but the last one it or 1}}
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%q : tensor<2x6x4x8xf32>) value(%q : tensor<2x6x4x8xf32>)
       mask(%m : tensor<6x4x4xi1>) {scale = 1.0 : f64} -> tensor<2x6x4x8xf32>
  return
}

// -----

func.func @attention_c1_layout(%q: tensor<2x6x4x8xf32>) {
  // expected-error@+1 {{takes neither keys and values nor a state in the layout bt3hd: the query holds them}}
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%q : tensor<2x6x4x8xf32>) value(%q : tensor<2x6x4x8xf32>)
        {scale = 1.0 : f64, layout = "bt3hd"} -> tensor<2x6x4x8xf32>
  return
}

// -----

!state = !tw.state<tensor<?x3x8xf32>, tensor<?x3x8xf32>>
func.func @attention_c1_ragged_layout(%q: tensor<?x6x8xf32>, %s: !state, %r: tensor<?xi32>, %l: tensor<?xi32>, %p: tensor<?xi32>) {
  // expected-error@+1 {{has the layout bthd, which the ragged form does not have}}
  %0 = tw.attention query(%q : tensor<?x6x8xf32>) state(%s : !state) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>)
       positions(%p : tensor<?xi32>) {scale = 1.0 : f64, layout = "bthd"} -> tensor<?x6x8xf32>
  return
}

// -----

func.func @attention_c2_packed(%q: tensor<2x4x2x6x8xf32>) {
  // expected-error@+1 {{query has shape 2x4x2x6x8, wanted [B, T, 3, H, D] in the layout bt3hd}}
  %0 = tw.attention query(%q : tensor<2x4x2x6x8xf32>) {scale = 1.0 : f64, layout = "bt3hd"} -> tensor<2x4x6x8xf32>
  return
}

// -----

func.func @attention_c9(%q: tensor<2x6x4x8xf32>) {
  // expected-error@+1 {{radius is -1, wanted at least 0}}
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%q : tensor<2x6x4x8xf32>) value(%q : tensor<2x6x4x8xf32>)
        {scale = 1.0 : f64, radius = -1 : i64} -> tensor<2x6x4x8xf32>
  return
}

// -----

func.func @attention_c9_causal(%q: tensor<2x6x4x8xf32>) {
  // expected-error@+1 {{has a radius of 2 but is causal}}
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%q : tensor<2x6x4x8xf32>) value(%q : tensor<2x6x4x8xf32>)
        {scale = 1.0 : f64, radius = 2 : i64, causal = "end"} -> tensor<2x6x4x8xf32>
  return
}

// -----

func.func @attention_c10(%q: tensor<2x6x4x8xf32>) {
  // expected-error@+1 {{chunk is 0, wanted at least 1}}
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%q : tensor<2x6x4x8xf32>) value(%q : tensor<2x6x4x8xf32>)
        {scale = 1.0 : f64, chunk = 0 : i64} -> tensor<2x6x4x8xf32>
  return
}

// -----

func.func @attention_c11(%q: tensor<2x6x4x8xf32>) {
  // expected-error@+1 {{has an offset of 3 but is aligned at the end}}
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%q : tensor<2x6x4x8xf32>) value(%q : tensor<2x6x4x8xf32>)
        {scale = 1.0 : f64, offset = 3 : i64, causal = "end"} -> tensor<2x6x4x8xf32>
  return
}

// -----

func.func @attention_c11_range(%q: tensor<2x6x4x8xf32>) {
  // expected-error@+1 {{offset is 2147483648, wanted a number of 32 bits}}
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%q : tensor<2x6x4x8xf32>) value(%q : tensor<2x6x4x8xf32>)
        {scale = 1.0 : f64, offset = 2147483648 : i64} -> tensor<2x6x4x8xf32>
  return
}

// -----

!state = !tw.state<tensor<?x3x8xf32>, tensor<?x3x8xf32>>
func.func @attention_c12(%q: tensor<?x6x8xf32>, %s: !state, %r: tensor<?xi32>, %l: tensor<?xi32>, %p: tensor<?xi32>) {
  // expected-error@+1 {{takes no offset, kv_start, kv_end or prefix_len in the ragged form}}
  %0 = tw.attention query(%q : tensor<?x6x8xf32>) state(%s : !state) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>)
       positions(%p : tensor<?xi32>) {scale = 1.0 : f64, offset = 3 : i64} -> tensor<?x6x8xf32>
  return
}

// -----

!state = !tw.state<tensor<?x3x8xf32>, tensor<?x3x8xf32>>
func.func @attention_c12_results(%q: tensor<?x6x8xf32>, %s: !state, %r: tensor<?xi32>, %l: tensor<?xi32>, %p: tensor<?xi32>) {
  // expected-error@+1 {{has 1 further results, which the ragged form does not give}}
  %0, %1 = tw.attention query(%q : tensor<?x6x8xf32>) state(%s : !state) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>)
       positions(%p : tensor<?xi32>) {scale = 1.0 : f64} -> tensor<?x6x8xf32>, tensor<?x6xf32>
  return
}

// -----

func.func @attention_c12_lengths(%q: tensor<2x6x4x8xf32>, %l: tensor<3xi32>) {
  // expected-error@+1 {{kv_end has shape 3, wanted 2}}
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%q : tensor<2x6x4x8xf32>) value(%q : tensor<2x6x4x8xf32>)
       kv_end(%l : tensor<3xi32>) {scale = 1.0 : f64} -> tensor<2x6x4x8xf32>
  return
}

// -----

func.func @attention_c13(%q: tensor<2x6x4x8xf32>, %l: tensor<3xi32>) {
  // expected-error@+1 {{wanted both or none of cu_seqlens_q and cu_seqlens_kv}}
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%q : tensor<2x6x4x8xf32>) value(%q : tensor<2x6x4x8xf32>)
       cu_seqlens_q(%l : tensor<3xi32>) {scale = 1.0 : f64} -> tensor<2x6x4x8xf32>
  return
}

// -----

func.func @attention_c13_batch(%q: tensor<2x6x4x8xf32>, %l: tensor<3xi32>) {
  // expected-error@+1 {{has cu_seqlens_q; wanted a dense form of batch 1 without kv_start and kv_end}}
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%q : tensor<2x6x4x8xf32>) value(%q : tensor<2x6x4x8xf32>)
       cu_seqlens_q(%l : tensor<3xi32>) cu_seqlens_kv(%l : tensor<3xi32>) {scale = 1.0 : f64} -> tensor<2x6x4x8xf32>
  return
}

// -----

func.func @attention_c14(%q: tensor<2x6x4x8xf32>) {
  // expected-error@+1 {{has further results of types}}
  %0, %1 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%q : tensor<2x6x4x8xf32>) value(%q : tensor<2x6x4x8xf32>)
        {scale = 1.0 : f64} -> tensor<2x6x4x8xf32>, tensor<2x6x5xf32>
  return
}

// -----

func.func @attention_c15(%q: tensor<2x6x4x8xf32>) {
  // expected-error@+1 {{has a score region of 1 arguments, wanted (f32, i32, i32, i32, i32)}}
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%q : tensor<2x6x4x8xf32>) value(%q : tensor<2x6x4x8xf32>)
       score {
       ^bb0(%s: f32):
         tw.yield %s : f32
       } {scale = 1.0 : f64} -> tensor<2x6x4x8xf32>
  return
}

// -----

func.func @attention_c15_op(%q: tensor<2x6x4x8xf32>) {
  %0 = tw.attention query(%q : tensor<2x6x4x8xf32>) key(%q : tensor<2x6x4x8xf32>) value(%q : tensor<2x6x4x8xf32>)
       score {
       ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
         // expected-error@+1 {{stands in a score region, which holds scalar arith and math ops of the list in tw.attention (C15)}}
         %d = arith.divsi %i, %j : i32
         tw.yield %s : f32
       } {scale = 1.0 : f64} -> tensor<2x6x4x8xf32>
  return
}
