// What `tilewright plugins check` tries (docs/conformance.md).
// For latent-attention-choose-form.
func.func @low_rank(%qn: tensor<2x2x?x3xf32> {tw.symbols = [2, 2, "T", 3]}, %qr: tensor<2x2x?x2xf32> {tw.symbols = [2, 2, "T", 2]}, %w: tensor<16x4xf32>,
    %c: tensor<2x?x4xf32> {tw.symbols = [2, "S", 4]}, %k: tensor<2x?x2xf32> {tw.symbols = [2, "S", 2]}) -> tensor<2x2x?x5xf32> {
  %o = latent_attention.attention query(%qn, %qr : tensor<2x2x?x3xf32>, tensor<2x2x?x2xf32>) up(%w : tensor<16x4xf32>)
      latent(%c, %k : tensor<2x?x4xf32>, tensor<2x?x2xf32>) -> tensor<2x2x?x5xf32>
  return %o : tensor<2x2x?x5xf32>
}

// -----

func.func @expanded_masked(%qn: tensor<2x3x?x3xf32> {tw.symbols = [2, 3, "T", 3]}, %qr: tensor<2x3x?x4xf32> {tw.symbols = [2, 3, "T", 4]}, %w: tensor<24x7xf32>,
    %c: tensor<2x?x7xf32> {tw.symbols = [2, "S", 7]}, %k: tensor<2x?x4xf32> {tw.symbols = [2, "S", 4]}, %m: tensor<?x?xi1> {tw.symbols = ["T", "S"]}) -> tensor<2x3x?x5xf32> {
  %o = latent_attention.attention query(%qn, %qr : tensor<2x3x?x3xf32>, tensor<2x3x?x4xf32>) up(%w : tensor<24x7xf32>)
      latent(%c, %k : tensor<2x?x7xf32>, tensor<2x?x4xf32>) mask(%m : tensor<?x?xi1>) {form = "expanded", scale = 0.5 : f64} -> tensor<2x3x?x5xf32>
  return %o : tensor<2x3x?x5xf32>
}

// -----

func.func @expanded_masked_by_integers(%qn: tensor<2x3x?x3xf32> {tw.symbols = [2, 3, "T", 3]}, %qr: tensor<2x3x?x4xf32> {tw.symbols = [2, 3, "T", 4]}, %w: tensor<24x7xf32>,
    %c: tensor<2x?x7xf32> {tw.symbols = [2, "S", 7]}, %k: tensor<2x?x4xf32> {tw.symbols = [2, "S", 4]}, %m: tensor<?x?xi32> {check.input = "index 2", tw.symbols = ["T", "S"]}) -> tensor<2x3x?x5xf32> {
  %o = latent_attention.attention query(%qn, %qr : tensor<2x3x?x3xf32>, tensor<2x3x?x4xf32>) up(%w : tensor<24x7xf32>)
      latent(%c, %k : tensor<2x?x7xf32>, tensor<2x?x4xf32>) mask(%m : tensor<?x?xi32>) {form = "expanded", scale = 0.5 : f64} -> tensor<2x3x?x5xf32>
  return %o : tensor<2x3x?x5xf32>
}

// -----

func.func @expanded_window(%qn: tensor<?x2x5x3xf32> {tw.symbols = ["B", 2, 5, 3]}, %qr: tensor<?x2x5x2xf32> {tw.symbols = ["B", 2, 5, 2]}, %w: tensor<8x4xf32>,
    %c: tensor<?x9x4xf32> {tw.symbols = ["B", 9, 4]}, %k: tensor<?x9x2xf32> {tw.symbols = ["B", 9, 2]}) -> tensor<?x2x5x1xf32> {
  %o = latent_attention.attention query(%qn, %qr : tensor<?x2x5x3xf32>, tensor<?x2x5x2xf32>) up(%w : tensor<8x4xf32>)
      latent(%c, %k : tensor<?x9x4xf32>, tensor<?x9x2xf32>) {form = "expanded", causal = "end", window = 4 : i64} -> tensor<?x2x5x1xf32>
  return %o : tensor<?x2x5x1xf32>
}

// -----

func.func @absorbed_masked(%qn: tensor<2x3x?x3xf32> {tw.symbols = [2, 3, "T", 3]}, %qr: tensor<2x3x?x4xf32> {tw.symbols = [2, 3, "T", 4]}, %w: tensor<24x7xf32>,
    %c: tensor<2x?x7xf32> {tw.symbols = [2, "S", 7]}, %k: tensor<2x?x4xf32> {tw.symbols = [2, "S", 4]}, %m: tensor<?x?xi1> {tw.symbols = ["T", "S"]}) -> tensor<2x3x?x5xf32> {
  %o = latent_attention.attention query(%qn, %qr : tensor<2x3x?x3xf32>, tensor<2x3x?x4xf32>) up(%w : tensor<24x7xf32>)
      latent(%c, %k : tensor<2x?x7xf32>, tensor<2x?x4xf32>) mask(%m : tensor<?x?xi1>) {form = "absorbed", scale = 0.5 : f64} -> tensor<2x3x?x5xf32>
  return %o : tensor<2x3x?x5xf32>
}

// -----

func.func @absorbed_window(%qn: tensor<?x2x5x3xf32> {tw.symbols = ["B", 2, 5, 3]}, %qr: tensor<?x2x5x2xf32> {tw.symbols = ["B", 2, 5, 2]}, %w: tensor<8x4xf32>,
    %c: tensor<?x9x4xf32> {tw.symbols = ["B", 9, 4]}, %k: tensor<?x9x2xf32> {tw.symbols = ["B", 9, 2]}) -> tensor<?x2x5x1xf32> {
  %o = latent_attention.attention query(%qn, %qr : tensor<?x2x5x3xf32>, tensor<?x2x5x2xf32>) up(%w : tensor<8x4xf32>)
      latent(%c, %k : tensor<?x9x4xf32>, tensor<?x9x2xf32>) {form = "absorbed", causal = "end", window = 4 : i64} -> tensor<?x2x5x1xf32>
  return %o : tensor<?x2x5x1xf32>
}

// -----

// REQUIRES: plugin-quantization
ml_program.global private @w(#ml_program.extern : tensor<32x32x!quantization.q8_0>) : tensor<32x32x!quantization.q8_0>
func.func @quantised(%qn: tensor<1x4x?x3xf32> {tw.symbols = [1, 4, "T", 3]}, %qr: tensor<1x4x?x2xf32> {tw.symbols = [1, 4, "T", 2]},
    %c: tensor<1x?x32xf32> {tw.symbols = [1, "S", 32]}, %k: tensor<1x?x2xf32> {tw.symbols = [1, "S", 2]}) -> tensor<1x4x?x5xf32> {
  %w = ml_program.global_load_const @w : tensor<32x32x!quantization.q8_0>
  %o = latent_attention.attention query(%qn, %qr : tensor<1x4x?x3xf32>, tensor<1x4x?x2xf32>) up(%w : tensor<32x32x!quantization.q8_0>)
      latent(%c, %k : tensor<1x?x32xf32>, tensor<1x?x2xf32>) -> tensor<1x4x?x5xf32>
  return %o : tensor<1x4x?x5xf32>
}

// -----

func.func @ragged(%qn: tensor<?x2x3xf32>, %qr: tensor<?x2x2xf32>, %w: tensor<16x4xf32>, %ck: tensor<?x1x6xf32>, %s: !tw.state<tensor<?x1x6xf32>>,
    %r: tensor<?xi32> {tw.symbols = ["B+1"], check.input = "offsets N"}, %l: tensor<?xi32> {tw.symbols = ["B"], check.input = "lengths 5"},
    %p: tensor<?xi32> {check.input = "positions 5"}) -> tensor<?x2x5xf32> {
  %t = tw.append %s, %r, %ck : !tw.state<tensor<?x1x6xf32>>, tensor<?xi32>, tensor<?x1x6xf32>
  %o = latent_attention.attention query(%qn, %qr : tensor<?x2x3xf32>, tensor<?x2x2xf32>) up(%w : tensor<16x4xf32>)
      state(%t : !tw.state<tensor<?x1x6xf32>>) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>) positions(%p : tensor<?xi32>) {causal = "end"} -> tensor<?x2x5xf32>
  return %o : tensor<?x2x5xf32>
}

// -----

// REQUIRES: plugin-quantization
ml_program.global private @w(#ml_program.extern : tensor<16x32x!quantization.q8_0>) : tensor<16x32x!quantization.q8_0>
func.func @quantised_absorbed(%qn: tensor<2x2x7x3xf32>, %qr: tensor<2x2x7x2xf32>, %c: tensor<2x6x32xf32>, %k: tensor<2x6x2xf32>)
    -> tensor<2x2x7x5xf32> {
  %w = ml_program.global_load_const @w : tensor<16x32x!quantization.q8_0>
  %o = latent_attention.attention query(%qn, %qr : tensor<2x2x7x3xf32>, tensor<2x2x7x2xf32>) up(%w : tensor<16x32x!quantization.q8_0>)
      latent(%c, %k : tensor<2x6x32xf32>, tensor<2x6x2xf32>) {form = "absorbed"} -> tensor<2x2x7x5xf32>
  return %o : tensor<2x2x7x5xf32>
}

// -----

// REQUIRES: plugin-quantization
ml_program.global private @w(#ml_program.extern : tensor<16x32x!quantization.q8_0>) : tensor<16x32x!quantization.q8_0>
func.func @quantised_ragged(%qn: tensor<?x2x3xf32>, %qr: tensor<?x2x2xf32>, %ck: tensor<?x1x34xf32>, %s: !tw.state<tensor<?x1x34xf32>>,
    %r: tensor<?xi32> {tw.symbols = ["B+1"], check.input = "offsets N"}, %l: tensor<?xi32> {tw.symbols = ["B"], check.input = "lengths 4"},
    %p: tensor<?xi32> {check.input = "positions 4"}) -> tensor<?x2x5xf32> {
  %w = ml_program.global_load_const @w : tensor<16x32x!quantization.q8_0>
  %t = tw.append %s, %r, %ck : !tw.state<tensor<?x1x34xf32>>, tensor<?xi32>, tensor<?x1x34xf32>
  %o = latent_attention.attention query(%qn, %qr : tensor<?x2x3xf32>, tensor<?x2x2xf32>) up(%w : tensor<16x32x!quantization.q8_0>)
      state(%t : !tw.state<tensor<?x1x34xf32>>) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>) positions(%p : tensor<?xi32>) {causal = "end"} -> tensor<?x2x5xf32>
  return %o : tensor<?x2x5xf32>
}

// -----

func.func @absorb(%q: tensor<?x3x5xf32>, %w: tensor<24x130xf32>) -> tensor<?x3x130xf32> {
  %y = latent_attention.absorb "key" %q, %w : tensor<?x3x5xf32>, tensor<24x130xf32> -> tensor<?x3x130xf32>
  return %y : tensor<?x3x130xf32>
}

// -----

func.func @restore(%z: tensor<?x3x130xf32>, %w: tensor<24x130xbf16>) -> tensor<?x3x3xf32> {
  %y = latent_attention.absorb "value" %z, %w : tensor<?x3x130xf32>, tensor<24x130xbf16> -> tensor<?x3x3xf32>
  return %y : tensor<?x3x3xf32>
}

// -----

func.func @latent_array(%x: tensor<2x?x12xf32> {tw.symbols = [2, "L", 12]}, %n: tensor<4x12xf32>, %wq: tensor<10x12xf32>, %wk: tensor<10x12xf32>, %wv: tensor<10x12xf32>,
    %wo: tensor<9x10xf32>, %b: tensor<10xf32>, %bo: tensor<9xf32>, %m: tensor<2x1x?xi1> {tw.symbols = [2, 1, "L"]}) -> (tensor<2x?x9xf32>, tensor<2x2x4x5xf32>) {
  %y, %h = "latent_attention.latent_array"(%x, %n, %wq, %wk, %wv, %wo, %b, %b, %bo, %m) {heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1>}
      : (tensor<2x?x12xf32>, tensor<4x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<9x10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<9xf32>, tensor<2x1x?xi1>) -> (tensor<2x?x9xf32>, tensor<2x2x4x5xf32>)
  return %y, %h : tensor<2x?x9xf32>, tensor<2x2x4x5xf32>
}

// -----

// The latents' own projections and values.
func.func @own_projections(%x: tensor<2x?x12xf32> {tw.symbols = [2, "L", 12]}, %n: tensor<3x12xf32>, %wq: tensor<10x12xf32>, %wk: tensor<10x12xf32>, %wv: tensor<10x12xf32>,
    %wo: tensor<9x10xf32>, %vq: tensor<10x12xf32>, %vk: tensor<10x12xf32>, %vv: tensor<10x12xf32>, %b: tensor<10xf32>, %m: tensor<2x3x?xi1> {tw.symbols = [2, 3, "L"]})
    -> (tensor<2x?x9xf32>, tensor<2x5x3x2xf32>) {
  %y, %h = "latent_attention.latent_array"(%x, %n, %wq, %wk, %wv, %wo, %vq, %vk, %vv, %b, %m) {heads = 5 : i64, scale = 0.25 : f64, values = "own", operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0, 1, 0, 1>}
      : (tensor<2x?x12xf32>, tensor<3x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<9x10xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<10xf32>, tensor<2x3x?xi1>) -> (tensor<2x?x9xf32>, tensor<2x5x3x2xf32>)
  return %y, %h : tensor<2x?x9xf32>, tensor<2x5x3x2xf32>
}

// -----

func.func @attention_c1(%qn: tensor<2x2x7x3xf32>, %qr: tensor<2x2x7x2xf32>, %w: tensor<16x4xf32>) {
  // expected-error@below {{wants either a latent and a rotary key, or state, row_start, kv_len and positions without a mask}}
  %o = latent_attention.attention query(%qn, %qr : tensor<2x2x7x3xf32>, tensor<2x2x7x2xf32>) up(%w : tensor<16x4xf32>)
       -> tensor<2x2x7x5xf32>
  return
}

// -----

func.func @attention_c1_both(%qn: tensor<2x2x7x3xf32>, %qr: tensor<2x2x7x2xf32>, %w: tensor<16x4xf32>, %c: tensor<2x6x4xf32>, %k: tensor<2x6x2xf32>, %t: !tw.state<tensor<?x1x6xf32>>, %r: tensor<?xi32>, %l: tensor<?xi32>, %p: tensor<?xi32>) {
  // expected-error@below {{wants either a latent and a rotary key, or state, row_start, kv_len and positions without a mask}}
  %o = latent_attention.attention query(%qn, %qr : tensor<2x2x7x3xf32>, tensor<2x2x7x2xf32>) up(%w : tensor<16x4xf32>)
      latent(%c, %k : tensor<2x6x4xf32>, tensor<2x6x2xf32>) state(%t : !tw.state<tensor<?x1x6xf32>>) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>) positions(%p : tensor<?xi32>) -> tensor<2x2x7x5xf32>
  return
}

// -----

func.func @attention_c1_mask(%qn: tensor<?x2x3xf32>, %qr: tensor<?x2x2xf32>, %w: tensor<16x4xf32>, %t: !tw.state<tensor<?x1x6xf32>>, %r: tensor<?xi32>, %l: tensor<?xi32>, %p: tensor<?xi32>, %m: tensor<7x6xi1>) {
  // expected-error@below {{wants either a latent and a rotary key, or state, row_start, kv_len and positions without a mask}}
  %o = latent_attention.attention query(%qn, %qr : tensor<?x2x3xf32>, tensor<?x2x2xf32>) up(%w : tensor<16x4xf32>)
      state(%t : !tw.state<tensor<?x1x6xf32>>) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>) positions(%p : tensor<?xi32>) mask(%m : tensor<7x6xi1>) -> tensor<?x2x5xf32>
  return
}

// -----

func.func @attention_c2_rank(%qn: tensor<2x7x3xf32>, %qr: tensor<2x2x7x2xf32>, %w: tensor<16x4xf32>, %c: tensor<2x6x4xf32>, %k: tensor<2x6x2xf32>) {
  // expected-error@below {{wants query parts and result of rank 4, found}}
  %o = latent_attention.attention query(%qn, %qr : tensor<2x7x3xf32>, tensor<2x2x7x2xf32>) up(%w : tensor<16x4xf32>)
      latent(%c, %k : tensor<2x6x4xf32>, tensor<2x6x2xf32>) -> tensor<2x2x7x5xf32>
  return
}

// -----

func.func @attention_c2_zero(%qn: tensor<2x2x7x3xf32>, %qr: tensor<2x2x7x0xf32>, %w: tensor<16x4xf32>, %c: tensor<2x6x4xf32>, %k: tensor<2x6x0xf32>) {
  // expected-error@below {{wants a static number of rotary columns of at least 1, found}}
  %o = latent_attention.attention query(%qn, %qr : tensor<2x2x7x3xf32>, tensor<2x2x7x0xf32>) up(%w : tensor<16x4xf32>)
      latent(%c, %k : tensor<2x6x4xf32>, tensor<2x6x0xf32>) -> tensor<2x2x7x5xf32>
  return
}

// -----

func.func @attention_c2_heads(%qn: tensor<2x?x7x3xf32>, %qr: tensor<2x2x7x2xf32>, %w: tensor<16x4xf32>, %c: tensor<2x6x4xf32>, %k: tensor<2x6x2xf32>) {
  // expected-error@below {{wants a static number of heads of at least 1, found}}
  %o = latent_attention.attention query(%qn, %qr : tensor<2x?x7x3xf32>, tensor<2x2x7x2xf32>) up(%w : tensor<16x4xf32>)
      latent(%c, %k : tensor<2x6x4xf32>, tensor<2x6x2xf32>) -> tensor<2x2x7x5xf32>
  return
}

// -----

func.func @attention_c2_query(%qn: tensor<2x2x7x3xf32>, %qr: tensor<2x2x8x2xf32>, %w: tensor<16x4xf32>, %c: tensor<2x6x4xf32>, %k: tensor<2x6x2xf32>) {
  // expected-error@below {{wants a rotary part of the query of shape 2x2x7x?, found}}
  %o = latent_attention.attention query(%qn, %qr : tensor<2x2x7x3xf32>, tensor<2x2x8x2xf32>) up(%w : tensor<16x4xf32>)
      latent(%c, %k : tensor<2x6x4xf32>, tensor<2x6x2xf32>) -> tensor<2x2x7x5xf32>
  return
}

// -----

func.func @attention_c2_result(%qn: tensor<2x2x7x3xf32>, %qr: tensor<2x2x7x2xf32>, %w: tensor<16x4xf32>, %c: tensor<2x6x4xf32>, %k: tensor<2x6x2xf32>) {
  // expected-error@below {{wants a result of shape 2x2x7x5, found}}
  %o = latent_attention.attention query(%qn, %qr : tensor<2x2x7x3xf32>, tensor<2x2x7x2xf32>) up(%w : tensor<16x4xf32>)
      latent(%c, %k : tensor<2x6x4xf32>, tensor<2x6x2xf32>) -> tensor<2x2x8x5xf32>
  return
}

// -----

func.func @attention_c2_latent(%qn: tensor<2x2x7x3xf32>, %qr: tensor<2x2x7x2xf32>, %w: tensor<16x4xf32>, %c: tensor<2x6x5xf32>, %k: tensor<2x6x2xf32>) {
  // expected-error@below {{wants a latent of shape 2x?x4, found 'tensor<2x6x5xf32>'}}
  %o = latent_attention.attention query(%qn, %qr : tensor<2x2x7x3xf32>, tensor<2x2x7x2xf32>) up(%w : tensor<16x4xf32>)
      latent(%c, %k : tensor<2x6x5xf32>, tensor<2x6x2xf32>) -> tensor<2x2x7x5xf32>
  return
}

// -----

func.func @attention_c2_key(%qn: tensor<2x2x7x3xf32>, %qr: tensor<2x2x7x2xf32>, %w: tensor<16x4xf32>, %c: tensor<2x6x4xf32>, %k: tensor<2x6x3xf32>) {
  // expected-error@below {{wants a rotary key of shape 2x6x2, found}}
  %o = latent_attention.attention query(%qn, %qr : tensor<2x2x7x3xf32>, tensor<2x2x7x2xf32>) up(%w : tensor<16x4xf32>)
      latent(%c, %k : tensor<2x6x4xf32>, tensor<2x6x3xf32>) -> tensor<2x2x7x5xf32>
  return
}

// -----

func.func @attention_c2_dynamic(%qn: tensor<?x2x?x3xf32>, %qr: tensor<?x2x?x2xf32>, %w: tensor<16x4xf32>, %c: tensor<?x?x4xf32>, %k: tensor<?x?x2xf32>) {
  // expected-error@below {{wants static columns, and a static batch or static lengths, found}}
  %o = latent_attention.attention query(%qn, %qr : tensor<?x2x?x3xf32>, tensor<?x2x?x2xf32>) up(%w : tensor<16x4xf32>)
      latent(%c, %k : tensor<?x?x4xf32>, tensor<?x?x2xf32>) -> tensor<?x2x?x5xf32>
  return
}

// -----

func.func @attention_c3(%qn: tensor<2x2x7x3xf32>, %qr: tensor<2x2x7x2xf32>, %w: tensor<15x4xf32>, %c: tensor<2x6x4xf32>, %k: tensor<2x6x2xf32>) {
  // expected-error@below {{has an up-projection of 15 rows, wanted 2 heads of 3 + 5}}
  %o = latent_attention.attention query(%qn, %qr : tensor<2x2x7x3xf32>, tensor<2x2x7x2xf32>) up(%w : tensor<15x4xf32>)
      latent(%c, %k : tensor<2x6x4xf32>, tensor<2x6x2xf32>) -> tensor<2x2x7x5xf32>
  return
}

// -----

func.func @attention_c3_rank(%qn: tensor<2x2x7x3xf32>, %qr: tensor<2x2x7x2xf32>, %w: tensor<2x8x4xf32>, %c: tensor<2x6x4xf32>, %k: tensor<2x6x2xf32>) {
  // expected-error@below {{wants a static up-projection [H * (Dn + Dv), rank], found}}
  %o = latent_attention.attention query(%qn, %qr : tensor<2x2x7x3xf32>, tensor<2x2x7x2xf32>) up(%w : tensor<2x8x4xf32>)
      latent(%c, %k : tensor<2x6x4xf32>, tensor<2x6x2xf32>) -> tensor<2x2x7x5xf32>
  return
}

// -----

func.func @attention_c4(%qn: tensor<?x2x3xf32>, %qr: tensor<?x2x2xf32>, %w: tensor<16x4xf32>, %t: !tw.state<tensor<?x1x4xf32>, tensor<?x1x2xf32>>, %r: tensor<?xi32>, %l: tensor<?xi32>, %p: tensor<?xi32>) {
  // expected-error@below {{wants a state of one buffer [tokens, 1, 4 + 2], found}}
  %o = latent_attention.attention query(%qn, %qr : tensor<?x2x3xf32>, tensor<?x2x2xf32>) up(%w : tensor<16x4xf32>)
      state(%t : !tw.state<tensor<?x1x4xf32>, tensor<?x1x2xf32>>) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>) positions(%p : tensor<?xi32>) -> tensor<?x2x5xf32>
  return
}

// -----

func.func @attention_c5(%qn: tensor<?x2x3xf32>, %qr: tensor<?x2x2xf32>, %w: tensor<16x4xf32>, %t: !tw.state<tensor<?x1x6xf32>>, %r: tensor<?xi32>, %l: tensor<?xi32>, %p: tensor<?xi32>) {
  // expected-error@below {{has no expanded form over a state, which holds latents: wanted auto or absorbed}}
  %o = latent_attention.attention query(%qn, %qr : tensor<?x2x3xf32>, tensor<?x2x2xf32>) up(%w : tensor<16x4xf32>)
      state(%t : !tw.state<tensor<?x1x6xf32>>) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>) positions(%p : tensor<?xi32>) {form = "expanded"} -> tensor<?x2x5xf32>
  return
}

// -----

func.func @attention_c6(%qn: tensor<2x2x7x3xf32>, %qr: tensor<2x2x7x2xf32>, %w: tensor<16x4xf32>, %c: tensor<2x6x4xf32>, %k: tensor<2x6x2xf32>) {
  // expected-error@below {{wants a finite scale}}
  %o = latent_attention.attention query(%qn, %qr : tensor<2x2x7x3xf32>, tensor<2x2x7x2xf32>) up(%w : tensor<16x4xf32>)
      latent(%c, %k : tensor<2x6x4xf32>, tensor<2x6x2xf32>) {scale = 0x7FF0000000000000 : f64} -> tensor<2x2x7x5xf32>
  return
}

// -----

func.func @attention_c7(%qn: tensor<2x2x7x3xf32>, %qr: tensor<2x2x7x2xf32>, %w: tensor<16x4xf32>, %c: tensor<2x6x4xf32>, %k: tensor<2x6x2xf32>) {
  // expected-error@below {{wants a window of at least 1 that is causal, found 0 with causal "end"}}
  %o = latent_attention.attention query(%qn, %qr : tensor<2x2x7x3xf32>, tensor<2x2x7x2xf32>) up(%w : tensor<16x4xf32>)
      latent(%c, %k : tensor<2x6x4xf32>, tensor<2x6x2xf32>) {causal = "end", window = 0 : i64} -> tensor<2x2x7x5xf32>
  return
}

// -----

func.func @attention_c7_none(%qn: tensor<2x2x7x3xf32>, %qr: tensor<2x2x7x2xf32>, %w: tensor<16x4xf32>, %c: tensor<2x6x4xf32>, %k: tensor<2x6x2xf32>) {
  // expected-error@below {{wants a window of at least 1 that is causal, found 3 with causal "none"}}
  %o = latent_attention.attention query(%qn, %qr : tensor<2x2x7x3xf32>, tensor<2x2x7x2xf32>) up(%w : tensor<16x4xf32>)
      latent(%c, %k : tensor<2x6x4xf32>, tensor<2x6x2xf32>) {window = 3 : i64} -> tensor<2x2x7x5xf32>
  return
}

// -----

func.func @attention_c7_start(%qn: tensor<?x2x3xf32>, %qr: tensor<?x2x2xf32>, %w: tensor<16x4xf32>, %t: !tw.state<tensor<?x1x6xf32>>, %r: tensor<?xi32>, %l: tensor<?xi32>, %p: tensor<?xi32>) {
  // expected-error@below {{causal is "start", which the form over a state does not have}}
  %o = latent_attention.attention query(%qn, %qr : tensor<?x2x3xf32>, tensor<?x2x2xf32>) up(%w : tensor<16x4xf32>)
      state(%t : !tw.state<tensor<?x1x6xf32>>) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>) positions(%p : tensor<?xi32>) {causal = "start"} -> tensor<?x2x5xf32>
  return
}

// -----

func.func @attention_c8(%qn: tensor<2x2x7x3xf32>, %qr: tensor<2x2x7x2xf32>, %w: tensor<16x4xf32>, %c: tensor<2x6x4xf32>, %k: tensor<2x6x2xf32>, %m: tensor<3x7x6xi1>) {
  // expected-error@below {{wants a mask that repeats to 2x2x7x6, found}}
  %o = latent_attention.attention query(%qn, %qr : tensor<2x2x7x3xf32>, tensor<2x2x7x2xf32>) up(%w : tensor<16x4xf32>)
      latent(%c, %k : tensor<2x6x4xf32>, tensor<2x6x2xf32>) mask(%m : tensor<3x7x6xi1>) -> tensor<2x2x7x5xf32>
  return
}

// -----

func.func @absorb_c1(%x: tensor<7x3x5xf32>, %w: tensor<24x4xf32>) {
  // expected-error@below {{wants an input and a result [N, H, columns] of equal rows and static heads and columns, found}}
  %y = latent_attention.absorb "key" %x, %w : tensor<7x3x5xf32>, tensor<24x4xf32> -> tensor<6x3x4xf32>
  return
}

// -----

func.func @absorb_c2(%x: tensor<7x3x5xf32>, %w: tensor<25x4xf32>) {
  // expected-error@below {{wants a static weight of a multiple of 3 rows, found}}
  %y = latent_attention.absorb "key" %x, %w : tensor<7x3x5xf32>, tensor<25x4xf32> -> tensor<7x3x4xf32>
  return
}

// -----

func.func @absorb_c3(%x: tensor<7x3x9xf32>, %w: tensor<24x4xf32>) {
  // expected-error@below {{wants a result of 4 columns and an input of at most 8, found}}
  %y = latent_attention.absorb "key" %x, %w : tensor<7x3x9xf32>, tensor<24x4xf32> -> tensor<7x3x4xf32>
  return
}

// -----

func.func @absorb_c3_value(%x: tensor<7x3x5xf32>, %w: tensor<24x4xf32>) {
  // expected-error@below {{wants an input of 4 columns and a result of at most 8, found}}
  %y = latent_attention.absorb "value" %x, %w : tensor<7x3x5xf32>, tensor<24x4xf32> -> tensor<7x3x4xf32>
  return
}

// -----

func.func @latent_array_c1(%x: tensor<2x7x12xf32>, %n: tensor<4x11xf32>, %wq: tensor<10x12xf32>, %wk: tensor<10x12xf32>, %wv: tensor<10x12xf32>, %wo: tensor<9x10xf32>) {
  // expected-error@below {{wants an input [B, L, E] with static B and E, and static latents [N, E], found}}
  %y, %h = "latent_attention.latent_array"(%x, %n, %wq, %wk, %wv, %wo) {heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
      : (tensor<2x7x12xf32>, tensor<4x11xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<9x10xf32>) -> (tensor<2x7x9xf32>, tensor<2x2x4x5xf32>)
  return
}

// -----

func.func @latent_array_c1_decode(%x: tensor<7x12xf32>, %n: tensor<4x12xf32>, %wq: tensor<10x12xf32>, %wk: tensor<10x12xf32>, %wv: tensor<10x12xf32>, %wo: tensor<9x10xf32>) {
  // expected-error@below {{wants whole sequences [B, L, E], found rows 'tensor<7x12xf32>': it cannot decode step by step; latent_attention.attention, attention of low rank, has that}}
  %y, %h = "latent_attention.latent_array"(%x, %n, %wq, %wk, %wv, %wo) {heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
      : (tensor<7x12xf32>, tensor<4x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<9x10xf32>) -> (tensor<2x7x9xf32>, tensor<2x2x4x5xf32>)
  return
}

// -----

func.func @latent_array_c2(%x: tensor<2x7x12xf32>, %n: tensor<4x12xf32>, %wq: tensor<10x12xf32>, %wk: tensor<10x12xf32>, %wv: tensor<10x12xf32>, %wo: tensor<9x10xf32>) {
  // expected-error@below {{wants at least one head, found 0}}
  %y, %h = "latent_attention.latent_array"(%x, %n, %wq, %wk, %wv, %wo) {heads = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
      : (tensor<2x7x12xf32>, tensor<4x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<9x10xf32>) -> (tensor<2x7x9xf32>, tensor<2x2x4x5xf32>)
  return
}

// -----

func.func @latent_array_c3(%x: tensor<2x7x12xf32>, %n: tensor<4x12xf32>, %wq: tensor<10x12xf32>, %wk: tensor<8x12xf32>, %wv: tensor<10x12xf32>, %wo: tensor<9x10xf32>) {
  // expected-error@below {{wants a key weight of 10 rows by 12, found}}
  %y, %h = "latent_attention.latent_array"(%x, %n, %wq, %wk, %wv, %wo) {heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
      : (tensor<2x7x12xf32>, tensor<4x12xf32>, tensor<10x12xf32>, tensor<8x12xf32>, tensor<10x12xf32>, tensor<9x10xf32>) -> (tensor<2x7x9xf32>, tensor<2x2x4x5xf32>)
  return
}

// -----

func.func @latent_array_c3_heads(%x: tensor<2x7x12xf32>, %n: tensor<4x12xf32>, %wq: tensor<10x12xf32>, %wk: tensor<10x12xf32>, %wv: tensor<10x12xf32>, %wo: tensor<9x10xf32>) {
  // expected-error@below {{wants a query weight of a multiple of 3 rows by 12, found}}
  %y, %h = "latent_attention.latent_array"(%x, %n, %wq, %wk, %wv, %wo) {heads = 3 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
      : (tensor<2x7x12xf32>, tensor<4x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<9x10xf32>) -> (tensor<2x7x9xf32>, tensor<2x2x4x5xf32>)
  return
}

// -----

func.func @latent_array_c3_own(%x: tensor<2x7x12xf32>, %n: tensor<4x12xf32>, %wq: tensor<10x12xf32>, %wk: tensor<10x12xf32>, %wv: tensor<10x12xf32>, %wo: tensor<9x10xf32>, %m11: tensor<10x13xf32>) {
  // expected-error@below {{wants a latent key weight of 10 rows by 12, found}}
  %y, %h = "latent_attention.latent_array"(%x, %n, %wq, %wk, %wv, %wo, %m11) {heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0>}
      : (tensor<2x7x12xf32>, tensor<4x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<9x10xf32>, tensor<10x13xf32>) -> (tensor<2x7x9xf32>, tensor<2x2x4x5xf32>)
  return
}

// -----

func.func @latent_array_c3_output(%x: tensor<2x7x12xf32>, %n: tensor<4x12xf32>, %wq: tensor<10x12xf32>, %wk: tensor<10x12xf32>, %wv: tensor<10x12xf32>, %wo: tensor<9x11xf32>) {
  // expected-error@below {{wants an output weight of 10 columns, found}}
  %y, %h = "latent_attention.latent_array"(%x, %n, %wq, %wk, %wv, %wo) {heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
      : (tensor<2x7x12xf32>, tensor<4x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<9x11xf32>) -> (tensor<2x7x9xf32>, tensor<2x2x4x5xf32>)
  return
}

// -----

func.func @latent_array_c4(%x: tensor<2x7x12xf32>, %n: tensor<4x12xf32>, %wq: tensor<10x12xf32>, %wk: tensor<10x12xf32>, %wv: tensor<10x12xf32>, %wo: tensor<9x10xf32>, %m8: tensor<9xf32>) {
  // expected-error@below {{wants a value bias of 10 elements, found}}
  %y, %h = "latent_attention.latent_array"(%x, %n, %wq, %wk, %wv, %wo, %m8) {heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0>}
      : (tensor<2x7x12xf32>, tensor<4x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<9x10xf32>, tensor<9xf32>) -> (tensor<2x7x9xf32>, tensor<2x2x4x5xf32>)
  return
}

// -----

func.func @latent_array_c4_output(%x: tensor<2x7x12xf32>, %n: tensor<4x12xf32>, %wq: tensor<10x12xf32>, %wk: tensor<10x12xf32>, %wv: tensor<10x12xf32>, %wo: tensor<9x10xf32>, %m9: tensor<10xf32>) {
  // expected-error@below {{wants an output bias of 9 elements, found}}
  %y, %h = "latent_attention.latent_array"(%x, %n, %wq, %wk, %wv, %wo, %m9) {heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0>}
      : (tensor<2x7x12xf32>, tensor<4x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<9x10xf32>, tensor<10xf32>) -> (tensor<2x7x9xf32>, tensor<2x2x4x5xf32>)
  return
}

// -----

func.func @latent_array_c5(%x: tensor<2x7x12xf32>, %n: tensor<4x12xf32>, %wq: tensor<10x12xf32>, %wk: tensor<10x12xf32>, %wv: tensor<10x12xf32>, %wo: tensor<9x10xf32>) {
  // expected-error@below {{wants a result of shape 2x7x9, found}}
  %y, %h = "latent_attention.latent_array"(%x, %n, %wq, %wk, %wv, %wo) {heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
      : (tensor<2x7x12xf32>, tensor<4x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<9x10xf32>) -> (tensor<2x7x10xf32>, tensor<2x2x4x5xf32>)
  return
}

// -----

func.func @latent_array_c5_updated(%x: tensor<2x7x12xf32>, %n: tensor<4x12xf32>, %wq: tensor<10x12xf32>, %wk: tensor<10x12xf32>, %wv: tensor<10x12xf32>, %wo: tensor<9x10xf32>) {
  // expected-error@below {{wants updated latents of shape 2x2x4x5, found}}
  %y, %h = "latent_attention.latent_array"(%x, %n, %wq, %wk, %wv, %wo) {heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
      : (tensor<2x7x12xf32>, tensor<4x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<9x10xf32>) -> (tensor<2x7x9xf32>, tensor<2x2x5x5xf32>)
  return
}

// -----

func.func @latent_array_c6(%x: tensor<2x7x12xf32>, %n: tensor<4x12xf32>, %wq: tensor<10x12xf32>, %wk: tensor<10x12xf32>, %wv: tensor<10x12xf32>, %wo: tensor<9x10xf32>) {
  // expected-error@below {{wants a finite scale}}
  %y, %h = "latent_attention.latent_array"(%x, %n, %wq, %wk, %wv, %wo) {heads = 2 : i64, scale = 0x7FF8000000000000 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
      : (tensor<2x7x12xf32>, tensor<4x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<9x10xf32>) -> (tensor<2x7x9xf32>, tensor<2x2x4x5xf32>)
  return
}

// -----

func.func @latent_array_c7(%x: tensor<2x7x12xf32>, %n: tensor<4x12xf32>, %wq: tensor<10x12xf32>, %wk: tensor<10x12xf32>, %wv: tensor<10x12xf32>, %wo: tensor<9x10xf32>, %m16: tensor<2x7xi1>) {
  // expected-error@below {{wants a mask of shape 2x4x7, found}}
  %y, %h = "latent_attention.latent_array"(%x, %n, %wq, %wk, %wv, %wo, %m16) {heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1>}
      : (tensor<2x7x12xf32>, tensor<4x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<9x10xf32>, tensor<2x7xi1>) -> (tensor<2x7x9xf32>, tensor<2x2x4x5xf32>)
  return
}

// -----

func.func @latent_array_c8(%x: tensor<2x7x12xf32>, %n: tensor<4x12xf32>, %wq: tensor<10x12xf32>, %wk: tensor<10x12xf32>, %wv: tensor<10x12xf32>, %wo: tensor<9x10xf32>) {
  // expected-error@below {{is not causal and has no window, for every output sees every input; latent_attention.attention, attention of low rank, has that}}
  %y, %h = "latent_attention.latent_array"(%x, %n, %wq, %wk, %wv, %wo) {heads = 2 : i64, causal = "end", operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
      : (tensor<2x7x12xf32>, tensor<4x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<9x10xf32>) -> (tensor<2x7x9xf32>, tensor<2x2x4x5xf32>)
  return
}

// -----

func.func @latent_array_c8_window(%x: tensor<2x7x12xf32>, %n: tensor<4x12xf32>, %wq: tensor<10x12xf32>, %wk: tensor<10x12xf32>, %wv: tensor<10x12xf32>, %wo: tensor<9x10xf32>) {
  // expected-error@below {{is not causal and has no window, for every output sees every input; latent_attention.attention, attention of low rank, has that}}
  %y, %h = "latent_attention.latent_array"(%x, %n, %wq, %wk, %wv, %wo) {heads = 2 : i64, window = 3 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
      : (tensor<2x7x12xf32>, tensor<4x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<9x10xf32>) -> (tensor<2x7x9xf32>, tensor<2x2x4x5xf32>)
  return
}

// -----

func.func @latent_array_c9(%x: tensor<2x7x12xf32>, %n: tensor<4x12xf32>, %wq: tensor<10x12xf32>, %wk: tensor<10x12xf32>, %wv: tensor<10x12xf32>, %wo: tensor<9x10xf32>, %m13: tensor<10xf32>) {
  // expected-error@below {{has a bias for a latent query projection without its weight}}
  %y, %h = "latent_attention.latent_array"(%x, %n, %wq, %wk, %wv, %wo, %m13) {heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0>}
      : (tensor<2x7x12xf32>, tensor<4x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<9x10xf32>, tensor<10xf32>) -> (tensor<2x7x9xf32>, tensor<2x2x4x5xf32>)
  return
}

// -----

func.func @latent_array_c9_value(%x: tensor<2x7x12xf32>, %n: tensor<4x12xf32>, %wq: tensor<10x12xf32>, %wk: tensor<10x12xf32>, %wv: tensor<10x12xf32>, %wo: tensor<9x10xf32>, %m12: tensor<10x12xf32>) {
  // expected-error@below {{has a value projection of the latents, which values = "updated" does not use}}
  %y, %h = "latent_attention.latent_array"(%x, %n, %wq, %wk, %wv, %wo, %m12) {heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0>}
      : (tensor<2x7x12xf32>, tensor<4x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<10x12xf32>, tensor<9x10xf32>, tensor<10x12xf32>) -> (tensor<2x7x9xf32>, tensor<2x2x4x5xf32>)
  return
}

// -----

func.func @attention_c3_element(%qn: tensor<2x2x7x3xf32>, %qr: tensor<2x2x7x2xf32>, %w: tensor<16x4xi8>, %c: tensor<2x6x4xf32>, %k: tensor<2x6x2xf32>) {
  // expected-error@below {{wants an up-projection of floats, or of a storage type whose blocks divide its 4 columns, found 'tensor<16x4xi8>'}}
  %o = latent_attention.attention query(%qn, %qr : tensor<2x2x7x3xf32>, tensor<2x2x7x2xf32>) up(%w : tensor<16x4xi8>)
      latent(%c, %k : tensor<2x6x4xf32>, tensor<2x6x2xf32>) -> tensor<2x2x7x5xf32>
  return
}
