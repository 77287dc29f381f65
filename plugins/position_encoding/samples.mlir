// What `tilewright plugins check` tries (docs/conformance.md).
func.func @sinusoidal(%p: tensor<?xi32> {check.input = "index 3000"}) -> tensor<?x12xf32> {
  %y = position_encoding.sinusoidal %p {dim = 12 : i64} : tensor<?xi32> -> tensor<?x12xf32>
  return %y : tensor<?x12xf32>
}

// -----

func.func @sinusoidal_half(%p: tensor<?x?xi32> {tw.symbols = ["B", "T"]}) -> tensor<?x?x7xf32> {
  %y = position_encoding.sinusoidal %p {dim = 7 : i64, base = 100.0 : f64, layout = "half"} : tensor<?x?xi32> -> tensor<?x?x7xf32>
  return %y : tensor<?x?x7xf32>
}

// -----

func.func @learned(%t: tensor<12x10xf32>, %p: tensor<?xi32> {check.input = "index 12"}) -> tensor<?x10xf32> {
  %y = position_encoding.learned %t, %p : tensor<12x10xf32>, tensor<?xi32> -> tensor<?x10xf32>
  return %y : tensor<?x10xf32>
}

// -----

func.func @learned_batched(%t: tensor<12x10xf32>, %p: tensor<?x?xi32> {check.input = "index 12", tw.symbols = ["B", "T"]}) -> tensor<?x?x10xf32> {
  %y = position_encoding.learned %t, %p : tensor<12x10xf32>, tensor<?x?xi32> -> tensor<?x?x10xf32>
  return %y : tensor<?x?x10xf32>
}

// -----

func.func @offsets(%q: tensor<?xi32> {tw.symbols = ["T"]}, %k: tensor<?xi32> {tw.symbols = ["S"]}) -> tensor<?x?xi32> {
  %r = position_encoding.offsets %q, %k {clip = 4 : i64} : tensor<?xi32>, tensor<?xi32> -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}

// -----

func.func @offsets_batched(%q: tensor<?x?xi32> {tw.symbols = ["B", "T"]}, %k: tensor<?x?xi32> {tw.symbols = ["B", "S"]}) -> tensor<?x?x?xi32> {
  %r = position_encoding.offsets %q, %k {clip = 0 : i64} : tensor<?x?xi32>, tensor<?x?xi32> -> tensor<?x?x?xi32>
  return %r : tensor<?x?x?xi32>
}

// -----

func.func @t5_buckets(%q: tensor<?xi32> {check.input = "index 200", tw.symbols = ["T"]}, %k: tensor<?xi32> {check.input = "index 200", tw.symbols = ["S"]}) -> tensor<?x?xi32> {
  %r = position_encoding.t5_buckets %q, %k {bidirectional = true, num_buckets = 32 : i64, max_distance = 128 : i64} : tensor<?xi32>, tensor<?xi32> -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}

// -----

func.func @t5_buckets_causal(%q: tensor<?x?xi32> {tw.symbols = ["B", "T"]}, %k: tensor<?x?xi32> {tw.symbols = ["B", "S"]}) -> tensor<?x?x?xi32> {
  %r = position_encoding.t5_buckets %q, %k {bidirectional = false, num_buckets = 6 : i64, max_distance = 10 : i64} : tensor<?x?xi32>, tensor<?x?xi32> -> tensor<?x?x?xi32>
  return %r : tensor<?x?x?xi32>
}

// -----

func.func @alibi(%q: tensor<?xi32> {tw.symbols = ["T"]}, %k: tensor<?xi32> {tw.symbols = ["S"]}) -> tensor<1x6x?x?xf32> {
  %b = position_encoding.alibi %q, %k {heads = 6 : i64} : tensor<?xi32>, tensor<?xi32> -> tensor<1x6x?x?xf32>
  return %b : tensor<1x6x?x?xf32>
}

// -----

func.func @alibi_symmetric(%q: tensor<?x?xi32> {tw.symbols = ["B", "T"]}, %k: tensor<?x?xi32> {tw.symbols = ["B", "S"]}) -> tensor<?x3x?x?xf32> {
  %b = position_encoding.alibi %q, %k {heads = 3 : i64, symmetric = true} : tensor<?x?xi32>, tensor<?x?xi32> -> tensor<?x3x?x?xf32>
  return %b : tensor<?x3x?x?xf32>
}

// -----

func.func @relation_bias(%r: tensor<?x?xi32> {check.input = "index 5", tw.symbols = ["T", "S"]}, %t: tensor<5x3xf32>) -> tensor<1x3x?x?xf32> {
  %b = position_encoding.relation_bias %r, %t : tensor<?x?xi32>, tensor<5x3xf32> -> tensor<1x3x?x?xf32>
  return %b : tensor<1x3x?x?xf32>
}

// -----

func.func @relation_bias_batched(%r: tensor<?x?x?xi32> {check.input = "index 5", tw.symbols = ["B", "T", "S"]}, %t: tensor<5x3xf32>) -> tensor<?x3x?x?xf32> {
  %b = position_encoding.relation_bias %r, %t : tensor<?x?x?xi32>, tensor<5x3xf32> -> tensor<?x3x?x?xf32>
  return %b : tensor<?x3x?x?xf32>
}

// -----

func.func @relation_attention(%q: tensor<?x4x?x8xf32> {tw.symbols = ["B", 4, "T", 8]}, %k: tensor<?x2x?x8xf32> {tw.symbols = ["B", 2, "S", 8]}, %v: tensor<?x2x?x6xf32> {tw.symbols = ["B", 2, "S", 6]}, %r: tensor<?x?xi32> {check.input = "index 5", tw.symbols = ["T", "S"]}, %a: tensor<5x8xf32>, %c: tensor<5x6xf32>) -> tensor<?x4x?x6xf32> {
  %y = position_encoding.relation_attention query(%q : tensor<?x4x?x8xf32>) key(%k : tensor<?x2x?x8xf32>) value(%v : tensor<?x2x?x6xf32>) relation(%r : tensor<?x?xi32>) key_table(%a : tensor<5x8xf32>) value_table(%c : tensor<5x6xf32>) {scale = 0.5 : f64, causal = "end"} -> tensor<?x4x?x6xf32>
  return %y : tensor<?x4x?x6xf32>
}

// -----

func.func @relation_attention_keys(%q: tensor<?x2x?x8xf32> {tw.symbols = ["B", 2, "T", 8]}, %k: tensor<?x2x?x8xf32> {tw.symbols = ["B", 2, "S", 8]}, %r: tensor<?x?x?xi32> {check.input = "index 5", tw.symbols = ["B", "T", "S"]}, %a: tensor<5x8xf32>, %b: tensor<1x2x?x?xf32> {tw.symbols = [1, 2, "T", "S"]}) -> tensor<?x2x?x8xf32> {
  %y = position_encoding.relation_attention query(%q : tensor<?x2x?x8xf32>) key(%k : tensor<?x2x?x8xf32>) value(%k : tensor<?x2x?x8xf32>) relation(%r : tensor<?x?x?xi32>) key_table(%a : tensor<5x8xf32>) bias(%b : tensor<1x2x?x?xf32>) {scale = 0.25 : f64} -> tensor<?x2x?x8xf32>
  return %y : tensor<?x2x?x8xf32>
}

// -----

func.func @relation_attention_values(%q: tensor<?x2x?x8xf32> {tw.symbols = ["B", 2, "T", 8]}, %k: tensor<?x2x?x8xf32> {tw.symbols = ["B", 2, "S", 8]}, %r: tensor<?x?x?xi32> {check.input = "index 5", tw.symbols = ["B", "T", "S"]}, %c: tensor<5x8xf32>, %m: tensor<?x?xi1> {tw.symbols = ["T", "S"]}) -> tensor<?x2x?x8xf32> {
  %y = position_encoding.relation_attention query(%q : tensor<?x2x?x8xf32>) key(%k : tensor<?x2x?x8xf32>) value(%k : tensor<?x2x?x8xf32>) relation(%r : tensor<?x?x?xi32>) value_table(%c : tensor<5x8xf32>) mask(%m : tensor<?x?xi1>) {scale = 0.25 : f64} -> tensor<?x2x?x8xf32>
  return %y : tensor<?x2x?x8xf32>
}

// -----

func.func @relation_attention_values_by_floats(%q: tensor<?x2x?x8xf32> {tw.symbols = ["B", 2, "T", 8]}, %k: tensor<?x2x?x8xf32> {tw.symbols = ["B", 2, "S", 8]}, %r: tensor<?x?x?xi32> {check.input = "index 5", tw.symbols = ["B", "T", "S"]}, %c: tensor<5x8xf32>, %m: tensor<?x?xf32> {tw.symbols = ["T", "S"]}) -> tensor<?x2x?x8xf32> {
  %y = position_encoding.relation_attention query(%q : tensor<?x2x?x8xf32>) key(%k : tensor<?x2x?x8xf32>) value(%k : tensor<?x2x?x8xf32>) relation(%r : tensor<?x?x?xi32>) value_table(%c : tensor<5x8xf32>) mask(%m : tensor<?x?xf32>) {scale = 0.25 : f64} -> tensor<?x2x?x8xf32>
  return %y : tensor<?x2x?x8xf32>
}

// -----

func.func @sinusoidal_c1(%p: tensor<4xi32>) {
  // expected-error@below {{wants a dim of at least 1, found 0}}
  %0 = position_encoding.sinusoidal %p {dim = 0 : i64} : tensor<4xi32> -> tensor<4x0xf32>
  return
}

// -----

func.func @sinusoidal_c1_shape(%p: tensor<4xi32>) {
  // expected-error@below {{has the result 'tensor<4x6xf32>', wanted the shape 4x8}}
  %0 = position_encoding.sinusoidal %p {dim = 8 : i64} : tensor<4xi32> -> tensor<4x6xf32>
  return
}

// -----

func.func @sinusoidal_c2(%p: tensor<4xi32>) {
  // expected-error@below {{wants a finite base above 0, found 0.000000e+00}}
  %0 = position_encoding.sinusoidal %p {dim = 8 : i64, base = 0.0 : f64} : tensor<4xi32> -> tensor<4x8xf32>
  return
}

// -----

func.func @learned_c1(%p: tensor<4xi32>, %t: tensor<12xf32>) {
  // expected-error@below {{wants a table of rank 2 and positions of rank 1 or more, found 'tensor<12xf32>' and 'tensor<4xi32>'}}
  %0 = position_encoding.learned %t, %p : tensor<12xf32>, tensor<4xi32> -> tensor<4xf32>
  return
}

// -----

func.func @learned_c2(%p: tensor<4xi32>, %t: tensor<12x8xf32>) {
  // expected-error@below {{has the result 'tensor<4x6xf32>', wanted the shape 4x8}}
  %0 = position_encoding.learned %t, %p : tensor<12x8xf32>, tensor<4xi32> -> tensor<4x6xf32>
  return
}

// -----

func.func @learned_c2_type(%p: tensor<4xi32>, %t: tensor<12x8xf32>) {
  // expected-error@below {{has the result 'tensor<4x8xbf16>', wanted the element type of the table, 'f32'}}
  %0 = position_encoding.learned %t, %p : tensor<12x8xf32>, tensor<4xi32> -> tensor<4x8xbf16>
  return
}

// -----

func.func @offsets_c1(%p: tensor<2x4xi32>, %k: tensor<3x5xi32>) {
  // expected-error@below {{wants positions [T] and [S], or [B, T] and [B, S], found 'tensor<2x4xi32>' and 'tensor<3x5xi32>'}}
  %0 = position_encoding.offsets %p, %k {clip = 4 : i64} : tensor<2x4xi32>, tensor<3x5xi32> -> tensor<2x4x5xi32>
  return
}

// -----

func.func @offsets_c1_result(%p: tensor<4xi32>, %k: tensor<5xi32>) {
  // expected-error@below {{has the result 'tensor<5x4xi32>', wanted the shape 4x5}}
  %0 = position_encoding.offsets %p, %k {clip = 4 : i64} : tensor<4xi32>, tensor<5xi32> -> tensor<5x4xi32>
  return
}

// -----

func.func @offsets_c2(%p: tensor<4xi32>, %k: tensor<5xi32>) {
  // expected-error@below {{wants a clip of 0 to 2^30, found -1}}
  %0 = position_encoding.offsets %p, %k {clip = -1 : i64} : tensor<4xi32>, tensor<5xi32> -> tensor<4x5xi32>
  return
}

// -----

func.func @t5_buckets_c1(%p: tensor<2x4xi32>, %k: tensor<5xi32>) {
  // expected-error@below {{wants positions [T] and [S], or [B, T] and [B, S], found 'tensor<2x4xi32>' and 'tensor<5xi32>'}}
  %0 = position_encoding.t5_buckets %p, %k {bidirectional = true, num_buckets = 8 : i64, max_distance = 16 : i64} : tensor<2x4xi32>, tensor<5xi32> -> tensor<2x4x5xi32>
  return
}

// -----

func.func @t5_buckets_c2(%p: tensor<4xi32>, %k: tensor<5xi32>) {
  // expected-error@below {{wants an even number of num_buckets from 4 to 65536, found 7}}
  %0 = position_encoding.t5_buckets %p, %k {bidirectional = true, num_buckets = 7 : i64, max_distance = 16 : i64} : tensor<4xi32>, tensor<5xi32> -> tensor<4x5xi32>
  return
}

// -----

func.func @t5_buckets_c2_few(%p: tensor<4xi32>, %k: tensor<5xi32>) {
  // expected-error@below {{wants num_buckets from 2 to 65536, found 1}}
  %0 = position_encoding.t5_buckets %p, %k {bidirectional = false, num_buckets = 1 : i64, max_distance = 16 : i64} : tensor<4xi32>, tensor<5xi32> -> tensor<4x5xi32>
  return
}

// -----

func.func @t5_buckets_c3(%p: tensor<4xi32>, %k: tensor<5xi32>) {
  // expected-error@below {{wants a max_distance above 4 and at most 65536, found 4}}
  %0 = position_encoding.t5_buckets %p, %k {bidirectional = false, num_buckets = 8 : i64, max_distance = 4 : i64} : tensor<4xi32>, tensor<5xi32> -> tensor<4x5xi32>
  return
}

// -----

func.func @alibi_c1(%p: tensor<4xi32>, %k: tensor<5xi32>) {
  // expected-error@below {{has the result 'tensor<8x4x5xf32>', wanted the shape 1x8x4x5}}
  %0 = position_encoding.alibi %p, %k {heads = 8 : i64} : tensor<4xi32>, tensor<5xi32> -> tensor<8x4x5xf32>
  return
}

// -----

func.func @alibi_c2(%p: tensor<4xi32>, %k: tensor<5xi32>) {
  // expected-error@below {{wants heads from 1 to 65536, found 0}}
  %0 = position_encoding.alibi %p, %k {heads = 0 : i64} : tensor<4xi32>, tensor<5xi32> -> tensor<1x0x4x5xf32>
  return
}

// -----

func.func @relation_bias_c1(%r: tensor<4xi32>, %t: tensor<5x3xf32>) {
  // expected-error@below {{wants a relation [T, S] or [B, T, S] and a table [R, H] of static H, found 'tensor<4xi32>' and 'tensor<5x3xf32>'}}
  %0 = position_encoding.relation_bias %r, %t : tensor<4xi32>, tensor<5x3xf32> -> tensor<3x4xf32>
  return
}

// -----

func.func @relation_bias_c2(%r: tensor<4x6xi32>, %t: tensor<5x3xf32>) {
  // expected-error@below {{has the result 'tensor<1x4x6x3xf32>', wanted the shape 1x3x4x6}}
  %0 = position_encoding.relation_bias %r, %t : tensor<4x6xi32>, tensor<5x3xf32> -> tensor<1x4x6x3xf32>
  return
}

// -----

func.func @relation_bias_c2_type(%r: tensor<4x6xi32>, %t: tensor<5x3xf32>) {
  // expected-error@below {{has the result 'tensor<1x3x4x6xbf16>', wanted the element type of the table, 'f32'}}
  %0 = position_encoding.relation_bias %r, %t : tensor<4x6xi32>, tensor<5x3xf32> -> tensor<1x3x4x6xbf16>
  return
}

// -----

func.func @relation_attention_c1(%q: tensor<2x4x3x8xf32>, %k: tensor<2x3x5x8xf32>, %v: tensor<2x3x5x6xf32>, %r: tensor<3x5xi32>, %a: tensor<9x8xf32>, %c: tensor<9x6xf32>) {
  // expected-error@below {{has 4 query heads, wanted a multiple of the 3 key heads}}
  %0 = position_encoding.relation_attention query(%q : tensor<2x4x3x8xf32>) key(%k : tensor<2x3x5x8xf32>) value(%v : tensor<2x3x5x6xf32>) relation(%r : tensor<3x5xi32>) key_table(%a : tensor<9x8xf32>) value_table(%c : tensor<9x6xf32>) {scale = 0.5 : f64} -> tensor<2x4x3x6xf32>
  return
}

// -----

func.func @relation_attention_c1_static(%q: tensor<2x?x3x8xf32>, %k: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x6xf32>, %r: tensor<3x5xi32>, %a: tensor<9x8xf32>, %c: tensor<9x6xf32>) {
  // expected-error@below {{wants query, key and value of rank 4 with static heads and last dimension, found 'tensor<2x?x3x8xf32>'}}
  %0 = position_encoding.relation_attention query(%q : tensor<2x?x3x8xf32>) key(%k : tensor<2x2x5x8xf32>) value(%v : tensor<2x2x5x6xf32>) relation(%r : tensor<3x5xi32>) key_table(%a : tensor<9x8xf32>) value_table(%c : tensor<9x6xf32>) {scale = 0.5 : f64} -> tensor<2x?x3x6xf32>
  return
}

// -----

func.func @relation_attention_c1_key(%q: tensor<2x4x3x8xf32>, %k: tensor<2x2x5x4xf32>, %v: tensor<2x2x5x6xf32>, %r: tensor<3x5xi32>, %a: tensor<9x8xf32>, %c: tensor<9x6xf32>) {
  // expected-error@below {{has the key 'tensor<2x2x5x4xf32>', wanted the shape 2x2x5x8}}
  %0 = position_encoding.relation_attention query(%q : tensor<2x4x3x8xf32>) key(%k : tensor<2x2x5x4xf32>) value(%v : tensor<2x2x5x6xf32>) relation(%r : tensor<3x5xi32>) key_table(%a : tensor<9x8xf32>) value_table(%c : tensor<9x6xf32>) {scale = 0.5 : f64} -> tensor<2x4x3x6xf32>
  return
}

// -----

func.func @relation_attention_c1_result(%q: tensor<2x4x3x8xf32>, %k: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x6xf32>, %r: tensor<3x5xi32>, %a: tensor<9x8xf32>, %c: tensor<9x6xf32>) {
  // expected-error@below {{has the result 'tensor<2x4x3x8xf32>', wanted the shape 2x4x3x6}}
  %0 = position_encoding.relation_attention query(%q : tensor<2x4x3x8xf32>) key(%k : tensor<2x2x5x8xf32>) value(%v : tensor<2x2x5x6xf32>) relation(%r : tensor<3x5xi32>) key_table(%a : tensor<9x8xf32>) value_table(%c : tensor<9x6xf32>) {scale = 0.5 : f64} -> tensor<2x4x3x8xf32>
  return
}

// -----

func.func @relation_attention_c2(%q: tensor<2x4x3x8xf32>, %k: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x6xf32>, %r: tensor<5x3xi32>, %a: tensor<9x8xf32>, %c: tensor<9x6xf32>) {
  // expected-error@below {{has the relation 'tensor<5x3xi32>', wanted the shape 3x5}}
  %0 = position_encoding.relation_attention query(%q : tensor<2x4x3x8xf32>) key(%k : tensor<2x2x5x8xf32>) value(%v : tensor<2x2x5x6xf32>) relation(%r : tensor<5x3xi32>) key_table(%a : tensor<9x8xf32>) value_table(%c : tensor<9x6xf32>) {scale = 0.5 : f64} -> tensor<2x4x3x6xf32>
  return
}

// -----

func.func @relation_attention_c2_rank(%q: tensor<2x4x3x8xf32>, %k: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x6xf32>, %r: tensor<5xi32>, %a: tensor<9x8xf32>, %c: tensor<9x6xf32>) {
  // expected-error@below {{wants a relation [T, S] or [B, T, S], found 'tensor<5xi32>'}}
  %0 = position_encoding.relation_attention query(%q : tensor<2x4x3x8xf32>) key(%k : tensor<2x2x5x8xf32>) value(%v : tensor<2x2x5x6xf32>) relation(%r : tensor<5xi32>) key_table(%a : tensor<9x8xf32>) value_table(%c : tensor<9x6xf32>) {scale = 0.5 : f64} -> tensor<2x4x3x6xf32>
  return
}

// -----

func.func @relation_attention_c3(%q: tensor<2x4x3x8xf32>, %k: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x6xf32>, %r: tensor<3x5xi32>) {
  // expected-error@below {{wants a key_table, a value_table or both}}
  %0 = position_encoding.relation_attention query(%q : tensor<2x4x3x8xf32>) key(%k : tensor<2x2x5x8xf32>) value(%v : tensor<2x2x5x6xf32>) relation(%r : tensor<3x5xi32>) {scale = 0.5 : f64} -> tensor<2x4x3x6xf32>
  return
}

// -----

func.func @relation_attention_c3_width(%q: tensor<2x4x3x8xf32>, %k: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x6xf32>, %r: tensor<3x5xi32>, %a: tensor<9x8xf32>, %c: tensor<9x8xf32>) {
  // expected-error@below {{has the value_table 'tensor<9x8xf32>', wanted the shape ?x6}}
  %0 = position_encoding.relation_attention query(%q : tensor<2x4x3x8xf32>) key(%k : tensor<2x2x5x8xf32>) value(%v : tensor<2x2x5x6xf32>) relation(%r : tensor<3x5xi32>) key_table(%a : tensor<9x8xf32>) value_table(%c : tensor<9x8xf32>) {scale = 0.5 : f64} -> tensor<2x4x3x6xf32>
  return
}

// -----

func.func @relation_attention_c4(%q: tensor<2x4x3x8xf32>, %k: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x6xf32>, %r: tensor<3x5xi32>, %a: tensor<9x8xf32>, %c: tensor<9x6xf32>, %b: tensor<4x3x5xf32>) {
  // expected-error@below {{has the bias 'tensor<4x3x5xf32>', wanted the shape 2x4x3x5}}
  %0 = position_encoding.relation_attention query(%q : tensor<2x4x3x8xf32>) key(%k : tensor<2x2x5x8xf32>) value(%v : tensor<2x2x5x6xf32>) relation(%r : tensor<3x5xi32>) key_table(%a : tensor<9x8xf32>) value_table(%c : tensor<9x6xf32>) bias(%b : tensor<4x3x5xf32>) {scale = 0.5 : f64} -> tensor<2x4x3x6xf32>
  return
}

// -----

func.func @relation_attention_c4_mask(%q: tensor<2x4x3x8xf32>, %k: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x6xf32>, %r: tensor<3x5xi32>, %a: tensor<9x8xf32>, %c: tensor<9x6xf32>, %m: tensor<5x3xi1>) {
  // expected-error@below {{has the mask 'tensor<5x3xi1>', wanted the shape 3x5}}
  %0 = position_encoding.relation_attention query(%q : tensor<2x4x3x8xf32>) key(%k : tensor<2x2x5x8xf32>) value(%v : tensor<2x2x5x6xf32>) relation(%r : tensor<3x5xi32>) key_table(%a : tensor<9x8xf32>) value_table(%c : tensor<9x6xf32>) mask(%m : tensor<5x3xi1>) {scale = 0.5 : f64} -> tensor<2x4x3x6xf32>
  return
}

// -----

func.func @relation_attention_c5(%q: tensor<2x4x3x8xf32>, %k: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x6xf32>, %r: tensor<3x5xi32>, %a: tensor<9x8xf32>, %c: tensor<9x6xf32>) {
  // expected-error@below {{wants a finite scale, found INF}}
  %0 = position_encoding.relation_attention query(%q : tensor<2x4x3x8xf32>) key(%k : tensor<2x2x5x8xf32>) value(%v : tensor<2x2x5x6xf32>) relation(%r : tensor<3x5xi32>) key_table(%a : tensor<9x8xf32>) value_table(%c : tensor<9x6xf32>) {scale = 0x7FF0000000000000 : f64} -> tensor<2x4x3x6xf32>
  return
}
