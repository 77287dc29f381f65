// REQUIRES: plugin-multi_head_attention
// RUN: %tw-opt %s --split-input-file --verify-diagnostics --reference-lower

func.func @self_attention_c1(%x: tensor<?x?x4xf32>, %wq: tensor<4x4xf32>, %wk: tensor<4x4xf32>, %wv: tensor<4x4xf32>) {
  // expected-error @+1 {{wants an input [B, T, E] with E and one of B, T static, found}}
  %0 = "multi_head_attention.self_attention"(%x, %wq, %wk, %wv) {heads = 2 : i64, kv_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<?x?x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<?x?x4xf32>
  return
}

// -----

func.func @self_attention_c2(%x: tensor<2x3x4xf32>, %wq: tensor<4x4xf32>, %wk: tensor<4x4xf32>, %wv: tensor<4x4xf32>) {
  // expected-error @+1 {{wants heads to be a multiple of kv_heads, both at least 1, found 3 and 2}}
  %0 = "multi_head_attention.self_attention"(%x, %wq, %wk, %wv) {heads = 3 : i64, kv_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @self_attention_c3_columns(%x: tensor<2x3x4xf32>, %wq: tensor<4x5xf32>, %wk: tensor<4x4xf32>, %wv: tensor<4x4xf32>) {
  // expected-error @+1 {{wants a query weight of a multiple of 2 rows by 4, found}}
  %0 = "multi_head_attention.self_attention"(%x, %wq, %wk, %wv) {heads = 2 : i64, kv_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<4x5xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @self_attention_c3_width(%x: tensor<2x3x4xf32>, %wq: tensor<4x4xf32>, %wk: tensor<8x4xf32>, %wv: tensor<4x4xf32>) {
  // expected-error @+1 {{has query heads of width 2 and key heads of width 4, wanted equal ones}}
  %0 = "multi_head_attention.self_attention"(%x, %wq, %wk, %wv) {heads = 2 : i64, kv_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<4x4xf32>, tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @self_attention_c3_output(%x: tensor<2x3x4xf32>, %wq: tensor<4x4xf32>, %wk: tensor<4x4xf32>, %wv: tensor<4x4xf32>, %wo: tensor<4x6xf32>) {
  // expected-error @+1 {{wants a output weight of a multiple of 1 rows by 4, found}}
  %0 = "multi_head_attention.self_attention"(%x, %wq, %wk, %wv, %wo) {heads = 2 : i64, kv_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @self_attention_c4(%x: tensor<2x3x4xf32>, %wq: tensor<4x4xf32>, %wk: tensor<4x4xf32>, %wv: tensor<4x4xf32>, %bq: tensor<5xf32>) {
  // expected-error @+1 {{wants a query bias with as many elements as its weight has rows, found}}
  %0 = "multi_head_attention.self_attention"(%x, %wq, %wk, %wv, %bq) {heads = 2 : i64, kv_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<5xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @self_attention_c4_output(%x: tensor<2x3x4xf32>, %wq: tensor<4x4xf32>, %wk: tensor<4x4xf32>, %wv: tensor<4x4xf32>, %bo: tensor<4xf32>) {
  // expected-error @+1 {{wants a output bias with as many elements as its weight has rows, found}}
  %0 = "multi_head_attention.self_attention"(%x, %wq, %wk, %wv, %bo) {heads = 2 : i64, kv_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @self_attention_c5(%x: tensor<2x3x4xf32>, %wq: tensor<4x4xf32>, %wk: tensor<4x4xf32>, %wv: tensor<4x4xf32>) {
  // expected-error @+1 {{has result}}
  %0 = "multi_head_attention.self_attention"(%x, %wq, %wk, %wv) {heads = 2 : i64, kv_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<2x3x6xf32>
  return
}

// -----

func.func @self_attention_c6(%x: tensor<2x3x4xf32>, %wq: tensor<4x4xf32>, %wk: tensor<4x4xf32>, %wv: tensor<4x4xf32>) {
  // expected-error @+1 {{wants a finite scale}}
  %0 = "multi_head_attention.self_attention"(%x, %wq, %wk, %wv) {heads = 2 : i64, kv_heads = 2 : i64, scale = 0x7FF0000000000000 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @cross_attention_c1(%x: tensor<2x3x4xf32>, %c: tensor<1x5x4xf32>, %w: tensor<4x4xf32>) {
  // expected-error @+1 {{wants input and source of one batch size, found}}
  %0 = "multi_head_attention.cross_attention"(%x, %c, %w, %w, %w) {heads = 2 : i64, kv_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<1x5x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @cross_attention_c3(%x: tensor<2x3x4xf32>, %c: tensor<2x5x6xf32>, %w: tensor<4x4xf32>) {
  // expected-error @+1 {{wants a key weight of a multiple of 2 rows by 6, found}}
  %0 = "multi_head_attention.cross_attention"(%x, %c, %w, %w, %w) {heads = 2 : i64, kv_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<2x5x6xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

// (C7) is tw.attention's own rule, met when the op is lowered.
func.func @self_attention_c7(%x: tensor<2x3x4xf32>, %w: tensor<4x4xf32>, %m: tensor<2x3xi1>) -> tensor<2x3x4xf32> {
  // expected-error @+1 {{mask}}
  %0 = "multi_head_attention.self_attention"(%x, %w, %w, %w, %m) {heads = 2 : i64, kv_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<2x3xi1>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// -----

func.func @self_attention_c7_rank(%x: tensor<2x3x4xf32>, %w: tensor<4x4xf32>, %m: tensor<3xi1>) {
  // expected-error @+1 {{wants a mask of rank 2 to 4, found 'tensor<3xi1>'}}
  %0 = "multi_head_attention.self_attention"(%x, %w, %w, %w, %m) {heads = 2 : i64, kv_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<3xi1>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @self_attention_c8_none(%x: tensor<2x3x4xf32>, %w: tensor<4x4xf32>, %g: tensor<2xf32>) {
  // expected-error @+1 {{has a key norm weight, which qk_norm "none" does not take}}
  %0 = "multi_head_attention.self_attention"(%x, %w, %w, %w, %g) {heads = 2 : i64, kv_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0>} : (tensor<2x3x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<2xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @self_attention_c8_bias(%x: tensor<2x3x4xf32>, %w: tensor<4x4xf32>, %g: tensor<2xf32>) {
  // expected-error @+1 {{has a query norm bias, which qk_norm "rms" does not take}}
  %0 = "multi_head_attention.self_attention"(%x, %w, %w, %w, %g) {heads = 2 : i64, kv_heads = 2 : i64, qk_norm = "rms", qk_norm_epsilon = 1.0e-05 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>} : (tensor<2x3x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<2xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @self_attention_c8_no_epsilon(%x: tensor<2x3x4xf32>, %w: tensor<4x4xf32>, %g: tensor<2xf32>) {
  // expected-error @+1 {{wants a finite qk_norm_epsilon of at least 0}}
  %0 = "multi_head_attention.self_attention"(%x, %w, %w, %w) {heads = 2 : i64, kv_heads = 2 : i64, qk_norm = "layer", operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @self_attention_c8_epsilon_alone(%x: tensor<2x3x4xf32>, %w: tensor<4x4xf32>, %g: tensor<2xf32>) {
  // expected-error @+1 {{has a qk_norm_epsilon and no qk_norm}}
  %0 = "multi_head_attention.self_attention"(%x, %w, %w, %w) {heads = 2 : i64, kv_heads = 2 : i64, qk_norm_epsilon = 1.0e-05 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @self_attention_c8_kind(%x: tensor<2x3x4xf32>, %w: tensor<4x4xf32>, %g: tensor<2xf32>) {
  // expected-error @+1 {{one of none, rms, layer}}
  %0 = "multi_head_attention.self_attention"(%x, %w, %w, %w) {heads = 2 : i64, kv_heads = 2 : i64, qk_norm = "batch", operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @self_attention_c2_7_2(%x: tensor<2x3x4xf32>, %w: tensor<28x4xf32>) {
  // expected-error @+1 {{wants heads to be a multiple of kv_heads, both at least 1, found 7 and 2}}
  %0 = "multi_head_attention.self_attention"(%x, %w, %w, %w) {heads = 7 : i64, kv_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<28x4xf32>, tensor<28x4xf32>, tensor<28x4xf32>) -> tensor<2x3x28xf32>
  return
}

// -----

func.func @self_attention_c2_4_0(%x: tensor<2x3x4xf32>, %w: tensor<28x4xf32>) {
  // expected-error @+1 {{wants heads to be a multiple of kv_heads, both at least 1, found 4 and 0}}
  %0 = "multi_head_attention.self_attention"(%x, %w, %w, %w) {heads = 4 : i64, kv_heads = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<28x4xf32>, tensor<28x4xf32>, tensor<28x4xf32>) -> tensor<2x3x28xf32>
  return
}

// -----

func.func @self_attention_c2_0_1(%x: tensor<2x3x4xf32>, %w: tensor<28x4xf32>) {
  // expected-error @+1 {{wants heads to be a multiple of kv_heads, both at least 1, found 0 and 1}}
  %0 = "multi_head_attention.self_attention"(%x, %w, %w, %w) {heads = 0 : i64, kv_heads = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<28x4xf32>, tensor<28x4xf32>, tensor<28x4xf32>) -> tensor<2x3x28xf32>
  return
}

// -----

func.func @self_attention_c2_4_8(%x: tensor<2x3x4xf32>, %w: tensor<28x4xf32>) {
  // expected-error @+1 {{wants heads to be a multiple of kv_heads, both at least 1, found 4 and 8}}
  %0 = "multi_head_attention.self_attention"(%x, %w, %w, %w) {heads = 4 : i64, kv_heads = 8 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<28x4xf32>, tensor<28x4xf32>, tensor<28x4xf32>) -> tensor<2x3x28xf32>
  return
}

// -----

func.func @self_attention_c2_minus_4_2(%x: tensor<2x3x4xf32>, %w: tensor<28x4xf32>) {
  // expected-error @+1 {{wants heads to be a multiple of kv_heads, both at least 1, found -4 and 2}}
  %0 = "multi_head_attention.self_attention"(%x, %w, %w, %w) {heads = -4 : i64, kv_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<28x4xf32>, tensor<28x4xf32>, tensor<28x4xf32>) -> tensor<2x3x28xf32>
  return
}

// -----

func.func @self_attention_c2_4_minus_2(%x: tensor<2x3x4xf32>, %w: tensor<28x4xf32>) {
  // expected-error @+1 {{wants heads to be a multiple of kv_heads, both at least 1, found 4 and -2}}
  %0 = "multi_head_attention.self_attention"(%x, %w, %w, %w) {heads = 4 : i64, kv_heads = -2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<28x4xf32>, tensor<28x4xf32>, tensor<28x4xf32>) -> tensor<2x3x28xf32>
  return
}

// -----

// Heads of 16 in a model of width 40: the query weight has 64 rows, and one that has 40 does not split into them.
func.func @self_attention_c3_head_width(%x: tensor<2x3x40xf32>, %q: tensor<40x40xf32>, %kv: tensor<32x40xf32>) {
  // expected-error @+1 {{has query heads of width 10 and key heads of width 16, wanted equal ones}}
  %0 = "multi_head_attention.self_attention"(%x, %q, %kv, %kv) {heads = 4 : i64, kv_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x3x40xf32>, tensor<40x40xf32>, tensor<32x40xf32>, tensor<32x40xf32>) -> tensor<2x3x64xf32>
  return
}
