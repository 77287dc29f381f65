// What `tilewright plugins check` tries (docs/conformance.md).
func.func @self_attention(%x: tensor<2x?x16xf32> {tw.symbols = [2, "T", 16]}, %wq: tensor<16x16xf32>, %wk: tensor<8x16xf32>, %wv: tensor<8x16xf32>, %wo: tensor<16x16xf32>)
    -> tensor<2x?x16xf32> {
  %y = "multi_head_attention.self_attention"(%x, %wq, %wk, %wv, %wo) {heads = 4 : i64, kv_heads = 2 : i64, causal = "end",
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
    : (tensor<2x?x16xf32>, tensor<16x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<2x?x16xf32>
  return %y : tensor<2x?x16xf32>
}

// -----

// Biases and a mask, no output weight.
func.func @masked(%x: tensor<?x5x8xf32> {tw.symbols = ["B", 5, 8]}, %w: tensor<8x8xf32>, %b: tensor<8xf32>, %m: tensor<5x5xi1>) -> tensor<?x5x8xf32> {
  %y = "multi_head_attention.self_attention"(%x, %w, %w, %w, %b, %b, %b, %m) {heads = 2 : i64, kv_heads = 2 : i64, scale = 0.5 : f64,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1, 1, 1, 0, 1, 0, 0, 0, 0>}
    : (tensor<?x5x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<5x5xi1>) -> tensor<?x5x8xf32>
  return %y : tensor<?x5x8xf32>
}

// -----

func.func @cross_attention(%x: tensor<2x?x16xf32> {tw.symbols = [2, "T", 16]}, %c: tensor<2x?x12xf32> {tw.symbols = [2, "S", 12]}, %wq: tensor<16x16xf32>,
    %wk: tensor<16x12xf32>, %wv: tensor<16x12xf32>) -> tensor<2x?x16xf32> {
  %y = "multi_head_attention.cross_attention"(%x, %c, %wq, %wk, %wv) {heads = 4 : i64, kv_heads = 4 : i64,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
    : (tensor<2x?x16xf32>, tensor<2x?x12xf32>, tensor<16x16xf32>, tensor<16x12xf32>, tensor<16x12xf32>) -> tensor<2x?x16xf32>
  return %y : tensor<2x?x16xf32>
}

// -----

// Norms of each query and key head.
func.func @rms_heads(%x: tensor<2x?x8xf32> {tw.symbols = [2, "T", 8]}, %w: tensor<8x8xf32>, %g: tensor<4xf32>) -> tensor<2x?x8xf32> {
  %y = "multi_head_attention.self_attention"(%x, %w, %w, %w, %g, %g) {heads = 2 : i64, kv_heads = 2 : i64, qk_norm = "rms", qk_norm_epsilon = 1.0e-02 : f64,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0>}
    : (tensor<2x?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x?x8xf32>
  return %y : tensor<2x?x8xf32>
}

// -----

func.func @layer_heads(%x: tensor<2x?x8xf32> {tw.symbols = [2, "T", 8]}, %c: tensor<2x?x8xf32> {tw.symbols = [2, "S", 8]}, %w: tensor<8x8xf32>, %g: tensor<4xf32>)
    -> tensor<2x?x8xf32> {
  %y = "multi_head_attention.cross_attention"(%x, %c, %w, %w, %w, %g, %g, %g) {heads = 2 : i64, kv_heads = 2 : i64, qk_norm = "layer", qk_norm_epsilon = 1.0e-02 : f64,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 0, 1>}
    : (tensor<2x?x8xf32>, tensor<2x?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x?x8xf32>
  return %y : tensor<2x?x8xf32>
}

// -----

// For multi-head-attention-stack: two heads with keys and values of their own.
func.func @apart(%q: tensor<2x?x4xf32> {tw.symbols = [2, "T", 4]}, %r: tensor<2x?x4xf32> {tw.symbols = [2, "T", 4]},
    %k: tensor<2x?x4xf32> {tw.symbols = [2, "S", 4]}, %l: tensor<2x?x4xf32> {tw.symbols = [2, "S", 4]}) -> tensor<2x?x8xf32> {
  %q0 = tw.reshape %q : tensor<2x?x4xf32> -> tensor<1x2x?x4xf32>
  %k0 = tw.reshape %k : tensor<2x?x4xf32> -> tensor<1x2x?x4xf32>
  %a0 = tw.attention query(%q0 : tensor<1x2x?x4xf32>) key(%k0 : tensor<1x2x?x4xf32>) value(%k0 : tensor<1x2x?x4xf32>) {scale = 0.5 : f64, causal = "end"} -> tensor<1x2x?x4xf32>
  %o0 = tw.reshape %a0 : tensor<1x2x?x4xf32> -> tensor<2x?x4xf32>
  %q1 = tw.reshape %r : tensor<2x?x4xf32> -> tensor<1x2x?x4xf32>
  %k1 = tw.reshape %l : tensor<2x?x4xf32> -> tensor<1x2x?x4xf32>
  %a1 = tw.attention query(%q1 : tensor<1x2x?x4xf32>) key(%k1 : tensor<1x2x?x4xf32>) value(%k1 : tensor<1x2x?x4xf32>) {scale = 0.5 : f64, causal = "end"} -> tensor<1x2x?x4xf32>
  %o1 = tw.reshape %a1 : tensor<1x2x?x4xf32> -> tensor<2x?x4xf32>
  %y = tw.concat dim 2 %o0, %o1 : tensor<2x?x4xf32>, tensor<2x?x4xf32> -> tensor<2x?x8xf32>
  return %y : tensor<2x?x8xf32>
}

// -----

// For multi-head-attention-recognise. A row whose keys are all hidden would change; no mask of the check hides them all.
func.func @spelled_out(%q: tensor<1x2x?x4xf32> {tw.symbols = [1, 2, "T", 4]}, %k: tensor<1x2x?x4xf32> {tw.symbols = [1, 2, "S", 4]},
    %m: tensor<?x?xi1> {tw.symbols = ["T", "S"]}) -> tensor<1x2x?x4xf32> {
  %s = tw.batch_matmul %q, %k {transpose_b = true} : tensor<1x2x?x4xf32>, tensor<1x2x?x4xf32> -> tensor<1x2x?x?xf32>
  %mb = tw.broadcast %m like %s dims [2, 3] : tensor<?x?xi1>, tensor<1x2x?x?xf32> -> tensor<1x2x?x?xi1>
  %lowest = tw.constant dense<-1.0e+09> : tensor<f32>
  %f = tw.broadcast %lowest like %s dims [] : tensor<f32>, tensor<1x2x?x?xf32> -> tensor<1x2x?x?xf32>
  %sm = tw.select %mb, %s, %f : tensor<1x2x?x?xi1>, tensor<1x2x?x?xf32>
  %p = tw.softmax %sm dim 3 : tensor<1x2x?x?xf32>
  %o = tw.batch_matmul %p, %k : tensor<1x2x?x?xf32>, tensor<1x2x?x4xf32> -> tensor<1x2x?x4xf32>
  return %o : tensor<1x2x?x4xf32>
}

// -----

func.func @self_attention_c1(%x: tensor<?x?x4xf32>, %wq: tensor<4x4xf32>, %wk: tensor<4x4xf32>, %wv: tensor<4x4xf32>) {
  // expected-error@below {{wants an input [B, T, E] with E and one of B, T static, found}}
  %0 = "multi_head_attention.self_attention"(%x, %wq, %wk, %wv) {heads = 2 : i64, kv_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<?x?x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<?x?x4xf32>
  return
}

// -----

func.func @self_attention_c2(%x: tensor<2x3x4xf32>, %wq: tensor<4x4xf32>, %wk: tensor<4x4xf32>, %wv: tensor<4x4xf32>) {
  // expected-error@below {{wants heads to be a multiple of kv_heads, both at least 1, found 3 and 2}}
  %0 = "multi_head_attention.self_attention"(%x, %wq, %wk, %wv) {heads = 3 : i64, kv_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @self_attention_c3(%x: tensor<2x3x4xf32>, %wq: tensor<4x5xf32>, %wk: tensor<4x4xf32>, %wv: tensor<4x4xf32>) {
  // expected-error@below {{wants a query weight of a multiple of 2 rows by 4, found}}
  %0 = "multi_head_attention.self_attention"(%x, %wq, %wk, %wv) {heads = 2 : i64, kv_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<4x5xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @self_attention_c3_width(%x: tensor<2x3x4xf32>, %wq: tensor<4x4xf32>, %wk: tensor<8x4xf32>, %wv: tensor<4x4xf32>) {
  // expected-error@below {{has query heads of width 2 and key heads of width 4, wanted equal ones}}
  %0 = "multi_head_attention.self_attention"(%x, %wq, %wk, %wv) {heads = 2 : i64, kv_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<4x4xf32>, tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @self_attention_c4(%x: tensor<2x3x4xf32>, %wq: tensor<4x4xf32>, %wk: tensor<4x4xf32>, %wv: tensor<4x4xf32>, %bq: tensor<5xf32>) {
  // expected-error@below {{wants a query bias with as many elements as its weight has rows, found}}
  %0 = "multi_head_attention.self_attention"(%x, %wq, %wk, %wv, %bq) {heads = 2 : i64, kv_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<5xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @self_attention_c5(%x: tensor<2x3x4xf32>, %wq: tensor<4x4xf32>, %wk: tensor<4x4xf32>, %wv: tensor<4x4xf32>) {
  // expected-error@below {{has result}}
  %0 = "multi_head_attention.self_attention"(%x, %wq, %wk, %wv) {heads = 2 : i64, kv_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<2x3x6xf32>
  return
}

// -----

func.func @self_attention_c6(%x: tensor<2x3x4xf32>, %wq: tensor<4x4xf32>, %wk: tensor<4x4xf32>, %wv: tensor<4x4xf32>) {
  // expected-error@below {{wants a finite scale}}
  %0 = "multi_head_attention.self_attention"(%x, %wq, %wk, %wv) {heads = 2 : i64, kv_heads = 2 : i64, scale = 0x7FF0000000000000 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @cross_attention_c1(%x: tensor<2x3x4xf32>, %c: tensor<1x5x4xf32>, %w: tensor<4x4xf32>) {
  // expected-error@below {{wants input and source of one batch size, found}}
  %0 = "multi_head_attention.cross_attention"(%x, %c, %w, %w, %w) {heads = 2 : i64, kv_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<1x5x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @cross_attention_c3(%x: tensor<2x3x4xf32>, %c: tensor<2x5x6xf32>, %w: tensor<4x4xf32>) {
  // expected-error@below {{wants a key weight of a multiple of 2 rows by 6, found}}
  %0 = "multi_head_attention.cross_attention"(%x, %c, %w, %w, %w) {heads = 2 : i64, kv_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<2x5x6xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @self_attention_c7(%x: tensor<2x3x4xf32>, %w: tensor<4x4xf32>, %m: tensor<3xi1>) {
  // expected-error@below {{wants a mask of rank 2 to 4, found 'tensor<3xi1>'}}
  %0 = "multi_head_attention.self_attention"(%x, %w, %w, %w, %m) {heads = 2 : i64, kv_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<3xi1>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @self_attention_c8(%x: tensor<2x3x4xf32>, %w: tensor<4x4xf32>, %g: tensor<4xf32>) {
  // expected-error@below {{wants a query norm weight of shape [2], found 'tensor<4xf32>'}}
  %0 = "multi_head_attention.self_attention"(%x, %w, %w, %w, %g) {heads = 2 : i64, kv_heads = 2 : i64, qk_norm = "rms", qk_norm_epsilon = 1.0e-05 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  return
}
