// REQUIRES: plugin-latent_attention
// The article's latent array against its formulas in PyTorch (tests/golden/cases); the forms of attention of low rank against each
// other, on keys and values of Transformers' DeepSeek-V3. tools/check-golden compares whole layers.
// RUN: %python %golden/fill.py %golden/cases %s | %tw-opt --reference-interpret -o /dev/null
// RUN: %python %golden/fill.py %golden/cases %s | %tw-opt --reference-interpret=precision=f32 -o /dev/null
// RUN: %python %golden/fill.py %golden/cases %s | %tw-opt --latent-attention-choose-form --reference-interpret -o /dev/null

func.func @test_latent_array() {
  %x = tw.constant {{mla_latent_array:in.x}}
  %n = tw.constant {{mla_latent_array:in.latents}}
  %wq = tw.constant {{mla_latent_array:in.wq}}
  %wk = tw.constant {{mla_latent_array:in.wk}}
  %wv = tw.constant {{mla_latent_array:in.wv}}
  %wo = tw.constant {{mla_latent_array:in.wo}}
  %bq = tw.constant {{mla_latent_array:in.bq}}
  %bk = tw.constant {{mla_latent_array:in.bk}}
  %bv = tw.constant {{mla_latent_array:in.bv}}
  %bo = tw.constant {{mla_latent_array:in.bo}}
  %y, %h = "latent_attention.latent_array"(%x, %n, %wq, %wk, %wv, %wo, %bq, %bk, %bv, %bo) {heads = 3 : i64,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0>}
    : (tensor<2x9x12xf32>, tensor<4x12xf32>, tensor<15x12xf32>, tensor<15x12xf32>, tensor<15x12xf32>, tensor<12x15xf32>, tensor<15xf32>, tensor<15xf32>,
       tensor<15xf32>, tensor<12xf32>) -> (tensor<2x9x12xf32>, tensor<2x3x4x5xf32>)
  %wanted = tw.constant {{mla_latent_array:out.y}}
  %updated = tw.constant {{mla_latent_array:out.latent_out}}
  check.expect_close %y, %wanted {absolute = {{mla_latent_array:limit out.y}} : f64} : tensor<2x9x12xf32>
  check.expect_close %h, %updated {absolute = {{mla_latent_array:limit out.latent_out}} : f64} : tensor<2x3x4x5xf32>

  // The latents' own projections, when they are the input's, change nothing.
  %z, %g = "latent_attention.latent_array"(%x, %n, %wq, %wk, %wv, %wo, %bq, %bk, %bv, %bo, %wq, %wk, %bq, %bk) {heads = 3 : i64,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 0>}
    : (tensor<2x9x12xf32>, tensor<4x12xf32>, tensor<15x12xf32>, tensor<15x12xf32>, tensor<15x12xf32>, tensor<12x15xf32>, tensor<15xf32>, tensor<15xf32>,
       tensor<15xf32>, tensor<12xf32>, tensor<15x12xf32>, tensor<15x12xf32>, tensor<15xf32>, tensor<15xf32>) -> (tensor<2x9x12xf32>, tensor<2x3x4x5xf32>)
  check.expect_close %z, %y {absolute = 1.0e-06 : f64} : tensor<2x9x12xf32>

  // Their own values in the second step: attention of the inputs to the latents, and nothing else.
  %o, %unused = "latent_attention.latent_array"(%x, %n, %wq, %wk, %wv, %wo) {heads = 3 : i64, values = "own",
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
    : (tensor<2x9x12xf32>, tensor<4x12xf32>, tensor<15x12xf32>, tensor<15x12xf32>, tensor<15x12xf32>, tensor<12x15xf32>) -> (tensor<2x9x12xf32>, tensor<2x3x4x5xf32>)
  %q0 = tw.linear %x, %wq : tensor<2x9x12xf32>, tensor<15x12xf32> -> tensor<2x9x15xf32>
  %q1 = tw.reshape %q0 : tensor<2x9x15xf32> -> tensor<2x9x3x5xf32>
  %q = tw.transpose %q1 perm [0, 2, 1, 3] : tensor<2x9x3x5xf32> -> tensor<2x3x9x5xf32>
  %two = tw.concat dim 0 %n, %n : tensor<4x12xf32>, tensor<4x12xf32> -> tensor<8x12xf32>
  %k0 = tw.linear %two, %wk : tensor<8x12xf32>, tensor<15x12xf32> -> tensor<8x15xf32>
  %v0 = tw.linear %two, %wv : tensor<8x12xf32>, tensor<15x12xf32> -> tensor<8x15xf32>
  %k1 = tw.reshape %k0 : tensor<8x15xf32> -> tensor<2x4x3x5xf32>
  %v1 = tw.reshape %v0 : tensor<8x15xf32> -> tensor<2x4x3x5xf32>
  %k = tw.transpose %k1 perm [0, 2, 1, 3] : tensor<2x4x3x5xf32> -> tensor<2x3x4x5xf32>
  %v = tw.transpose %v1 perm [0, 2, 1, 3] : tensor<2x4x3x5xf32> -> tensor<2x3x4x5xf32>
  %a = tw.attention query(%q : tensor<2x3x9x5xf32>) key(%k : tensor<2x3x4x5xf32>) value(%v : tensor<2x3x4x5xf32>) {scale = 0.4472135954999579 : f64} -> tensor<2x3x9x5xf32>
  %r = tw.transpose %a perm [0, 2, 1, 3] : tensor<2x3x9x5xf32> -> tensor<2x9x3x5xf32>
  %j = tw.reshape %r : tensor<2x9x3x5xf32> -> tensor<2x9x15xf32>
  %p = tw.linear %j, %wo : tensor<2x9x15xf32>, tensor<12x15xf32> -> tensor<2x9x12xf32>
  check.expect_close %o, %p {absolute = 1.0e-06 : f64} : tensor<2x9x12xf32>
  return
}

// The mask hides inputs in the first step; latents that see none are 0, not an average.
func.func @test_masked() {
  %x = tw.constant {{mla_latent_array_masked_nobias:in.x}}
  %n = tw.constant {{mla_latent_array_masked_nobias:in.latents}}
  %wq = tw.constant {{mla_latent_array_masked_nobias:in.wq}}
  %wk = tw.constant {{mla_latent_array_masked_nobias:in.wk}}
  %wv = tw.constant {{mla_latent_array_masked_nobias:in.wv}}
  %wo = tw.constant {{mla_latent_array_masked_nobias:in.wo}}
  %m0 = tw.constant {{mla_latent_array_masked_nobias:in.mask}}
  %m = tw.reshape %m0 : tensor<2x5xi1> -> tensor<2x1x5xi1>
  %y, %h = "latent_attention.latent_array"(%x, %n, %wq, %wk, %wv, %wo, %m) {heads = 3 : i64,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1>}
    : (tensor<2x5x12xf32>, tensor<6x12xf32>, tensor<15x12xf32>, tensor<15x12xf32>, tensor<15x12xf32>, tensor<12x15xf32>, tensor<2x1x5xi1>)
    -> (tensor<2x5x12xf32>, tensor<2x3x6x5xf32>)
  %wanted = tw.constant {{mla_latent_array_masked_nobias:out.y}}
  %updated = tw.constant {{mla_latent_array_masked_nobias:out.latent_out}}
  check.expect_close %y, %wanted {absolute = {{mla_latent_array_masked_nobias:limit out.y}} : f64} : tensor<2x5x12xf32>
  check.expect_close %h, %updated {absolute = {{mla_latent_array_masked_nobias:limit out.latent_out}} : f64} : tensor<2x3x6x5xf32>
  // One mask for each latent, all equal.
  %m6 = tw.concat dim 1 %m, %m, %m, %m, %m, %m : tensor<2x1x5xi1>, tensor<2x1x5xi1>, tensor<2x1x5xi1>, tensor<2x1x5xi1>, tensor<2x1x5xi1>, tensor<2x1x5xi1> -> tensor<2x6x5xi1>
  %z, %g = "latent_attention.latent_array"(%x, %n, %wq, %wk, %wv, %wo, %m6) {heads = 3 : i64,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1>}
    : (tensor<2x5x12xf32>, tensor<6x12xf32>, tensor<15x12xf32>, tensor<15x12xf32>, tensor<15x12xf32>, tensor<12x15xf32>, tensor<2x6x5xi1>)
    -> (tensor<2x5x12xf32>, tensor<2x3x6x5xf32>)
  check.expect_close %z, %y {absolute = 1.0e-06 : f64} : tensor<2x5x12xf32>
  return
}

// Prefill of 7 positions: expanded, absorbed, and the last position alone, which sees all keys.
func.func @test_forms() {
  %x = tw.constant {{mla_lowrank:in.x}}
  %c = tw.constant {{mla_lowrank:out.c_kv}}
  %k0 = tw.constant {{mla_lowrank:out.k_rope}}
  %w = tw.constant {{mla_lowrank:in.kv_b}}
  %x4 = tw.reshape %x : tensor<2x7x24xf32> -> tensor<2x7x3x8xf32>
  %q = tw.transpose %x4 perm [0, 2, 1, 3] : tensor<2x7x3x8xf32> -> tensor<2x3x7x8xf32>
  %qn = tw.slice %q dim 3 start 0 size 6 : tensor<2x3x7x8xf32> -> tensor<2x3x7x6xf32>
  %qr = tw.slice %q dim 3 start 4 size 4 : tensor<2x3x7x8xf32> -> tensor<2x3x7x4xf32>
  %e = latent_attention.attention query(%qn, %qr : tensor<2x3x7x6xf32>, tensor<2x3x7x4xf32>) up(%w : tensor<33x8xf32>)
         latent(%c, %k0 : tensor<2x7x8xf32>, tensor<2x7x4xf32>) {causal = "end", form = "expanded"} -> tensor<2x3x7x5xf32>
  %a = latent_attention.attention query(%qn, %qr : tensor<2x3x7x6xf32>, tensor<2x3x7x4xf32>) up(%w : tensor<33x8xf32>)
         latent(%c, %k0 : tensor<2x7x8xf32>, tensor<2x7x4xf32>) {causal = "end", form = "absorbed"} -> tensor<2x3x7x5xf32>
  check.expect_close %a, %e {absolute = 1.0e-05 : f64} : tensor<2x3x7x5xf32>
  %on = tw.slice %qn dim 2 start 6 size 1 : tensor<2x3x7x6xf32> -> tensor<2x3x1x6xf32>
  %or = tw.slice %qr dim 2 start 6 size 1 : tensor<2x3x7x4xf32> -> tensor<2x3x1x4xf32>
  %d = latent_attention.attention query(%on, %or : tensor<2x3x1x6xf32>, tensor<2x3x1x4xf32>) up(%w : tensor<33x8xf32>)
         latent(%c, %k0 : tensor<2x7x8xf32>, tensor<2x7x4xf32>) {causal = "end"} -> tensor<2x3x1x5xf32>
  %last = tw.slice %e dim 2 start 6 size 1 : tensor<2x3x7x5xf32> -> tensor<2x3x1x5xf32>
  check.expect_close %d, %last {absolute = 1.0e-05 : f64} : tensor<2x3x1x5xf32>
  // The scale is of the whole query head, 6 + 4.
  %s = latent_attention.attention query(%qn, %qr : tensor<2x3x7x6xf32>, tensor<2x3x7x4xf32>) up(%w : tensor<33x8xf32>)
         latent(%c, %k0 : tensor<2x7x8xf32>, tensor<2x7x4xf32>) {causal = "end", scale = 0.31622776601683794 : f64} -> tensor<2x3x7x5xf32>
  check.expect_close %s, %e {absolute = 1.0e-05 : f64} : tensor<2x3x7x5xf32>
  return
}
