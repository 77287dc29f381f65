// What `tilewright plugins check` tries (docs/conformance.md).
func.func @half(%x: tensor<?x3x16xf32>, %p: tensor<?xi32> {check.input = "index 1048576"}) -> tensor<?x3x16xf32> {
  %y = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 16 : i64} : tensor<?x3x16xf32>, tensor<?xi32>
  return %y : tensor<?x3x16xf32>
}

// -----

func.func @partial(%x: tensor<?x2x24xf32>, %p: tensor<?xi32>) -> tensor<?x2x24xf32> {
  %y = rotary_embedding.rotate %x, %p {base = 500000.0 : f64, rotary_dim = 8 : i64} : tensor<?x2x24xf32>, tensor<?xi32>
  return %y : tensor<?x2x24xf32>
}

// -----

func.func @interleaved(%x: tensor<?x3x16xf32>, %p: tensor<?xi32>) -> tensor<?x3x16xf32> {
  %y = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 16 : i64, layout = "interleaved"} : tensor<?x3x16xf32>, tensor<?xi32>
  return %y : tensor<?x3x16xf32>
}

// -----

func.func @factors(%x: tensor<?x3x16xf32>, %p: tensor<?xi32>, %f: tensor<8xf32> {check.input = "positive"}) -> tensor<?x3x16xf32> {
  %y = rotary_embedding.rotate %x, %p factors(%f : tensor<8xf32>) {base = 10000.0 : f64, rotary_dim = 16 : i64} : tensor<?x3x16xf32>, tensor<?xi32>
  return %y : tensor<?x3x16xf32>
}

// -----

func.func @dense(%x: tensor<?x2x?x8xf32> {tw.symbols = ["B", 2, "T", 8]}, %p: tensor<?x?xi32> {tw.symbols = ["B", "T"]}) -> tensor<?x2x?x8xf32> {
  %y = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64} : tensor<?x2x?x8xf32>, tensor<?x?xi32>
  return %y : tensor<?x2x?x8xf32>
}

// -----

func.func @dense_shared(%x: tensor<?x2x?x8xf32> {tw.symbols = ["B", 2, "T", 8]}, %p: tensor<?xi32> {tw.symbols = ["T"]}) -> tensor<?x2x?x8xf32> {
  %y = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64} : tensor<?x2x?x8xf32>, tensor<?xi32>
  return %y : tensor<?x2x?x8xf32>
}

// -----

func.func @attention_factor(%x: tensor<?x3x16xf32>, %p: tensor<?xi32>) -> tensor<?x3x16xf32> {
  %y = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64, attention_factor = 1.25 : f64} : tensor<?x3x16xf32>, tensor<?xi32>
  return %y : tensor<?x3x16xf32>
}

// -----

func.func @sections(%x: tensor<?x2x16xf32>, %p: tensor<3x?xi32> {check.input = "index 300", tw.symbols = [3, "N"]}) -> tensor<?x2x16xf32> {
  %y = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 16 : i64, sections = array<i64: 2, 3, 3>} : tensor<?x2x16xf32>, tensor<3x?xi32>
  return %y : tensor<?x2x16xf32>
}

// -----

func.func @sections_interleaved(%x: tensor<?x2x16xf32>, %p: tensor<3x?xi32> {tw.symbols = [3, "N"]}, %f: tensor<8xf64> {check.input = "positive"}) -> tensor<?x2x16xf32> {
  %y = rotary_embedding.rotate %x, %p factors(%f : tensor<8xf64>) {base = 10000.0 : f64, rotary_dim = 16 : i64, layout = "interleaved", sections = array<i64: 4, 2, 2>, section_layout = "interleaved"} : tensor<?x2x16xf32>, tensor<3x?xi32>
  return %y : tensor<?x2x16xf32>
}

// -----

func.func @tables(%p: tensor<?xi32>) -> (tensor<?x12xf32>, tensor<?x12xf32>) {
  %c, %s = rotary_embedding.tables %p {dim = 12 : i64} : tensor<?xi32> -> tensor<?x12xf32>
  return %c, %s : tensor<?x12xf32>, tensor<?x12xf32>
}

// -----

func.func @tables_batched(%p: tensor<?x?xi32> {check.input = "index 3000", tw.symbols = ["B", "T"]}, %f: tensor<3xf32> {check.input = "positive"}) -> (tensor<?x?x6xf32>, tensor<?x?x6xf32>) {
  %c, %s = rotary_embedding.tables %p factors(%f : tensor<3xf32>) {dim = 6 : i64, base = 500000.0 : f64, layout = "interleaved", attention_factor = 1.5 : f64} : tensor<?x?xi32> -> tensor<?x?x6xf32>
  return %c, %s : tensor<?x?x6xf32>, tensor<?x?x6xf32>
}

// -----

func.func @tables_sections(%p: tensor<3x?xi32> {tw.symbols = [3, "T"]}) -> (tensor<?x16xf32>, tensor<?x16xf32>) {
  %c, %s = rotary_embedding.tables %p {dim = 16 : i64, sections = array<i64: 2, 3, 3>} : tensor<3x?xi32> -> tensor<?x16xf32>
  return %c, %s : tensor<?x16xf32>, tensor<?x16xf32>
}

// -----

func.func @apply(%x: tensor<?x3x16xf32>, %c: tensor<?x12xf32>, %s: tensor<?x12xf32>) -> tensor<?x3x16xf32> {
  %y = rotary_embedding.apply %x, %c, %s : tensor<?x3x16xf32>, tensor<?x12xf32>
  return %y : tensor<?x3x16xf32>
}

// -----

func.func @apply_interleaved(%x: tensor<?x2x?x8xf32> {tw.symbols = ["B", 2, "T", 8]}, %c: tensor<?x8xf32> {tw.symbols = ["T", 8]}, %s: tensor<?x8xf32> {tw.symbols = ["T", 8]}) -> tensor<?x2x?x8xf32> {
  %y = rotary_embedding.apply %x, %c, %s {layout = "interleaved"} : tensor<?x2x?x8xf32>, tensor<?x8xf32>
  return %y : tensor<?x2x?x8xf32>
}

// -----

// What -rotary-embedding-fold-tables makes one op of.
func.func @apply_tables(%x: tensor<?x3x16xf32>, %p: tensor<?xi32>) -> tensor<?x3x16xf32> {
  %c, %s = rotary_embedding.tables %p {dim = 16 : i64} : tensor<?xi32> -> tensor<?x16xf32>
  %y = rotary_embedding.apply %x, %c, %s : tensor<?x3x16xf32>, tensor<?x16xf32>
  return %y : tensor<?x3x16xf32>
}

// -----

func.func @factors_linear() -> tensor<8xf64> {
  %f = rotary_embedding.factors {kind = "linear", base = 10000.0 : f64, rotary_dim = 16 : i64, factor = 4.0 : f64} : tensor<8xf64>
  return %f : tensor<8xf64>
}

// -----

func.func @factors_dynamic(%n: tensor<?xi32> {check.input = "index 3000"}) -> tensor<?x8xf64> {
  %f = rotary_embedding.factors lengths(%n : tensor<?xi32>) {kind = "dynamic", base = 10000.0 : f64, rotary_dim = 16 : i64, factor = 2.0 : f64, original_max_position_embeddings = 64 : i64} : tensor<?x8xf64>
  return %f : tensor<?x8xf64>
}

// -----

func.func @factors_dynamic_f32(%n: tensor<?xi32> {check.input = "index 1048576"}) -> tensor<?x3xf32> {
  %f = rotary_embedding.factors lengths(%n : tensor<?xi32>) {kind = "dynamic", base = 500000.0 : f64, rotary_dim = 6 : i64, factor = 4.0 : f64, original_max_position_embeddings = 4096 : i64} : tensor<?x3xf32>
  return %f : tensor<?x3xf32>
}

// -----

func.func @factors_longrope(%n: tensor<?xi32> {check.input = "index 8"}) -> tensor<?x2xf32> {
  %f = rotary_embedding.factors lengths(%n : tensor<?xi32>) {kind = "longrope", base = 10000.0 : f64, rotary_dim = 4 : i64, short_factor = array<f64: 1.0, 1.5>, long_factor = array<f64: 2.0, 8.0>, original_max_position_embeddings = 4 : i64} : tensor<?x2xf32>
  return %f : tensor<?x2xf32>
}

// -----

func.func @factors_longrope_batched(%n: tensor<?x?xi32> {check.input = "index 8", tw.symbols = ["B", "T"]}) -> tensor<?x?x2xf64> {
  %f = rotary_embedding.factors lengths(%n : tensor<?x?xi32>) {kind = "longrope", base = 10000.0 : f64, rotary_dim = 4 : i64, short_factor = array<f64: 1.0, 1.5>, long_factor = array<f64: 2.0, 8.0>, original_max_position_embeddings = 4 : i64} : tensor<?x?x2xf64>
  return %f : tensor<?x?x2xf64>
}

// -----

// Each row by the factors of its own sequence.
func.func @rotate_by_length(%x: tensor<?x3x16xf32>, %p: tensor<?xi32>, %n: tensor<?xi32> {check.input = "index 8"}) -> tensor<?x3x16xf32> {
  %f = rotary_embedding.factors lengths(%n : tensor<?xi32>) {kind = "longrope", base = 10000.0 : f64, rotary_dim = 4 : i64, short_factor = array<f64: 1.0, 1.5>, long_factor = array<f64: 2.0, 8.0>, original_max_position_embeddings = 4 : i64} : tensor<?x2xf64>
  %y = rotary_embedding.rotate %x, %p factors(%f : tensor<?x2xf64>) {base = 10000.0 : f64, rotary_dim = 4 : i64} : tensor<?x3x16xf32>, tensor<?xi32>
  return %y : tensor<?x3x16xf32>
}

// -----

func.func @factors_of_rows_interleaved(%x: tensor<?x3x16xf32>, %p: tensor<?xi32>, %f: tensor<?x6xf32> {check.input = "positive"}) -> tensor<?x3x16xf32> {
  %y = rotary_embedding.rotate %x, %p factors(%f : tensor<?x6xf32>) {base = 10000.0 : f64, rotary_dim = 12 : i64, layout = "interleaved"} : tensor<?x3x16xf32>, tensor<?xi32>
  return %y : tensor<?x3x16xf32>
}

// -----

func.func @factors_of_rows_dense(%x: tensor<?x2x?x8xf32> {tw.symbols = ["B", 2, "T", 8]}, %p: tensor<?x?xi32> {tw.symbols = ["B", "T"]}, %f: tensor<?x?x4xf64> {check.input = "positive", tw.symbols = ["B", "T", 4]}) -> tensor<?x2x?x8xf32> {
  %y = rotary_embedding.rotate %x, %p factors(%f : tensor<?x?x4xf64>) {base = 10000.0 : f64, rotary_dim = 8 : i64} : tensor<?x2x?x8xf32>, tensor<?x?xi32>
  return %y : tensor<?x2x?x8xf32>
}

// -----

func.func @tables_factors_of_rows(%p: tensor<3x?xi32> {tw.symbols = [3, "T"]}, %f: tensor<?x8xf32> {check.input = "positive", tw.symbols = ["T", 8]}) -> (tensor<?x16xf32>, tensor<?x16xf32>) {
  %c, %s = rotary_embedding.tables %p factors(%f : tensor<?x8xf32>) {dim = 16 : i64, layout = "interleaved", sections = array<i64: 2, 3, 3>} : tensor<3x?xi32> -> tensor<?x16xf32>
  return %c, %s : tensor<?x16xf32>, tensor<?x16xf32>
}

// -----

func.func @factors_yarn() -> tensor<8xf64> {
  %f = rotary_embedding.factors {kind = "yarn", base = 10000.0 : f64, rotary_dim = 16 : i64, factor = 8.0 : f64, original_max_position_embeddings = 128 : i64, beta_fast = 16.0 : f64, truncate = false} : tensor<8xf64>
  return %f : tensor<8xf64>
}

// -----

func.func @factors_llama3() -> tensor<8xf64> {
  %f = rotary_embedding.factors {kind = "llama3", base = 500000.0 : f64, rotary_dim = 16 : i64, factor = 8.0 : f64, original_max_position_embeddings = 8192 : i64, low_freq_factor = 1.0 : f64, high_freq_factor = 4.0 : f64} : tensor<8xf64>
  return %f : tensor<8xf64>
}

// -----

func.func @rotate_c1(%x: tensor<4x8xf32>, %p: tensor<4xi32>) {
  // expected-error@below {{wants an input [N, H, D] with positions [N], or [B, H, T, D] with [B, T] or [T]; found 'tensor<4x8xf32>' and 'tensor<4xi32>'}}
  %0 = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64} : tensor<4x8xf32>, tensor<4xi32>
  return
}

// -----

func.func @rotate_c1_positions(%x: tensor<4x2x8xf32>, %p: tensor<4x2xi32>) {
  // expected-error@below {{found 'tensor<4x2x8xf32>' and 'tensor<4x2xi32>'}}
  %0 = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64} : tensor<4x2x8xf32>, tensor<4x2xi32>
  return
}

// -----

func.func @rotate_c2(%x: tensor<4x2x8xf32>, %p: tensor<5xi32>) {
  // expected-error@below {{has 5 positions along dimension 0 of the input, wanted 4}}
  %0 = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64} : tensor<4x2x8xf32>, tensor<5xi32>
  return
}

// -----

func.func @rotate_c3(%x: tensor<4x2x8xf32>, %p: tensor<4xi32>) {
  // expected-error@below {{wants an even rotary_dim from 0 to 8, found 5}}
  %0 = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 5 : i64} : tensor<4x2x8xf32>, tensor<4xi32>
  return
}

// -----

func.func @rotate_c3_large(%x: tensor<4x2x8xf32>, %p: tensor<4xi32>) {
  // expected-error@below {{wants an even rotary_dim from 0 to 8, found 10}}
  %0 = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 10 : i64} : tensor<4x2x8xf32>, tensor<4xi32>
  return
}

// -----

func.func @rotate_c4(%x: tensor<4x2x8xf32>, %p: tensor<4xi32>) {
  // expected-error@below {{wants a finite base above 0, found 0.000000e+00}}
  %0 = rotary_embedding.rotate %x, %p {base = 0.0 : f64, rotary_dim = 8 : i64} : tensor<4x2x8xf32>, tensor<4xi32>
  return
}

// -----

func.func @rotate_c5(%x: tensor<4x2x8xf32>, %p: tensor<4xi32>, %f: tensor<8xf32>) {
  // expected-error@below {{wants factors of shape [4] or [rows..., 4], found 'tensor<8xf32>'}}
  %0 = rotary_embedding.rotate %x, %p factors(%f : tensor<8xf32>) {base = 10000.0 : f64, rotary_dim = 8 : i64} : tensor<4x2x8xf32>, tensor<4xi32>
  return
}

// -----

func.func @rotate_c1_sections(%x: tensor<4x2x8xf32>, %p: tensor<3x4xi32>) {
  // expected-error@below {{has 2 sections and positions 'tensor<3x4xi32>', wanted as many of each row}}
  %0 = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64, sections = array<i64: 2, 2>} : tensor<4x2x8xf32>, tensor<3x4xi32>
  return
}

// -----

func.func @rotate_c1_section_rank(%x: tensor<4x2x8xf32>, %p: tensor<4xi32>) {
  // expected-error@below {{behind a dimension of sections; found 'tensor<4x2x8xf32>' and 'tensor<4xi32>'}}
  %0 = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64, sections = array<i64: 2, 2>} : tensor<4x2x8xf32>, tensor<4xi32>
  return
}

// -----

func.func @rotate_c6(%x: tensor<4x2x8xf32>, %p: tensor<4xi32>) {
  // expected-error@below {{wants a finite attention_factor above 0, found 0.000000e+00}}
  %0 = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64, attention_factor = 0.0 : f64} : tensor<4x2x8xf32>, tensor<4xi32>
  return
}

// -----

func.func @rotate_c7(%x: tensor<4x2x8xf32>, %p: tensor<2x4xi32>) {
  // expected-error@below {{has sections with the sum 5, wanted rotary_dim / 2 = 4}}
  %0 = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64, sections = array<i64: 2, 3>} : tensor<4x2x8xf32>, tensor<2x4xi32>
  return
}

// -----

func.func @rotate_c7_negative(%x: tensor<4x2x8xf32>, %p: tensor<2x4xi32>) {
  // expected-error@below {{has a section of -1 pairs, wanted 0 to 4}}
  %0 = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64, sections = array<i64: -1, 4>} : tensor<4x2x8xf32>, tensor<2x4xi32>
  return
}

// -----

func.func @rotate_c7_none(%x: tensor<4x2x8xf32>, %p: tensor<0x4xi32>) {
  // expected-error@below {{has sections with the sum 0, wanted rotary_dim / 2 = 4}}
  %0 = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64, sections = array<i64>} : tensor<4x2x8xf32>, tensor<0x4xi32>
  return
}

// -----

func.func @rotate_c7_interleaved(%x: tensor<4x2x8xf32>, %p: tensor<2x4xi32>) {
  // expected-error@below {{has an interleaved section 1 whose last pair is 5, of 4}}
  %0 = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64, sections = array<i64: 1, 3>, section_layout = "interleaved"} : tensor<4x2x8xf32>, tensor<2x4xi32>
  return
}

// -----

func.func @tables_c1(%p: tensor<4xi32>) {
  // expected-error@below {{wants an even dim of at least 2, found 7}}
  %c, %s = rotary_embedding.tables %p {dim = 7 : i64} : tensor<4xi32> -> tensor<4x7xf32>
  return
}

// -----

func.func @tables_c1_shape(%p: tensor<4xi32>) {
  // expected-error@below {{has tables 'tensor<5x8xf32>' for positions 'tensor<4xi32>' and dim 8}}
  %c, %s = rotary_embedding.tables %p {dim = 8 : i64} : tensor<4xi32> -> tensor<5x8xf32>
  return
}

// -----

func.func @tables_c1_sections(%p: tensor<3x4xi32>) {
  // expected-error@below {{has tables 'tensor<4x8xf32>' for positions 'tensor<3x4xi32>' and dim 8, with one entry of the first dimension for each section}}
  %c, %s = rotary_embedding.tables %p {dim = 8 : i64, sections = array<i64: 2, 2>} : tensor<3x4xi32> -> tensor<4x8xf32>
  return
}

// -----

func.func @tables_c2(%p: tensor<4xi32>) {
  // expected-error@below {{wants a finite base above 0, found -1.000000e+00}}
  %c, %s = rotary_embedding.tables %p {dim = 8 : i64, base = -1.0 : f64} : tensor<4xi32> -> tensor<4x8xf32>
  return
}

// -----

func.func @tables_c2_attention_factor(%p: tensor<4xi32>) {
  // expected-error@below {{wants a finite attention_factor above 0, found INF}}
  %c, %s = rotary_embedding.tables %p {dim = 8 : i64, attention_factor = 0x7FF0000000000000 : f64} : tensor<4xi32> -> tensor<4x8xf32>
  return
}

// -----

func.func @tables_c3(%p: tensor<4xi32>, %f: tensor<8xf32>) {
  // expected-error@below {{wants factors of shape [4] or [rows..., 4], found 'tensor<8xf32>'}}
  %c, %s = rotary_embedding.tables %p factors(%f : tensor<8xf32>) {dim = 8 : i64} : tensor<4xi32> -> tensor<4x8xf32>
  return
}

// -----

func.func @tables_c4(%p: tensor<2x4xi32>) {
  // expected-error@below {{has sections with the sum 3, wanted rotary_dim / 2 = 4}}
  %c, %s = rotary_embedding.tables %p {dim = 8 : i64, sections = array<i64: 1, 2>} : tensor<2x4xi32> -> tensor<4x8xf32>
  return
}

// -----

func.func @apply_c1(%x: tensor<4x8xf32>, %c: tensor<4x8xf32>) {
  // expected-error@below {{wants an input [N, H, D] with tables [N, r], or [B, H, T, D] with [B, T, r] or [T, r]; found 'tensor<4x8xf32>' and 'tensor<4x8xf32>'}}
  %0 = rotary_embedding.apply %x, %c, %c : tensor<4x8xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @apply_c1_rows(%x: tensor<4x2x8xf32>, %c: tensor<5x8xf32>) {
  // expected-error@below {{has tables of 5 rows along dimension 0 of the input, wanted 4}}
  %0 = rotary_embedding.apply %x, %c, %c : tensor<4x2x8xf32>, tensor<5x8xf32>
  return
}

// -----

func.func @apply_c1_dynamic(%x: tensor<4x2x?xf32>, %c: tensor<4x8xf32>) {
  // expected-error@below {{wants a static last dimension, found 'tensor<4x2x?xf32>'}}
  %0 = rotary_embedding.apply %x, %c, %c : tensor<4x2x?xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @apply_c2(%x: tensor<4x2x8xf32>, %c: tensor<4x10xf32>) {
  // expected-error@below {{wants an even, static last dimension of the tables, at most 8, found 'tensor<4x10xf32>'}}
  %0 = rotary_embedding.apply %x, %c, %c : tensor<4x2x8xf32>, tensor<4x10xf32>
  return
}

// -----

func.func @factors_c1() {
  // expected-error@below {{has the unknown scaling kind 'ntk-aware', wanted one of default, linear, dynamic, yarn, longrope, llama3}}
  %0 = rotary_embedding.factors {base = 10000.0 : f64, rotary_dim = 8 : i64, kind = "ntk-aware"} : tensor<4xf64>
  return
}

// -----

func.func @factors_c2() {
  // expected-error@below {{of kind 'linear' lacks the attribute factor}}
  %0 = rotary_embedding.factors {base = 10000.0 : f64, rotary_dim = 8 : i64, kind = "linear"} : tensor<4xf64>
  return
}

// -----

func.func @factors_c2_other() {
  // expected-error@below {{of kind 'linear' has the attribute beta_fast, which that kind does not know}}
  %0 = rotary_embedding.factors {base = 10000.0 : f64, rotary_dim = 8 : i64, kind = "linear", factor = 2.0 : f64, beta_fast = 32.0 : f64} : tensor<4xf64>
  return
}

// -----

func.func @factors_c3() {
  // expected-error@below {{of kind 'dynamic' needs lengths}}
  %0 = rotary_embedding.factors {base = 10000.0 : f64, rotary_dim = 8 : i64, kind = "dynamic", factor = 2.0 : f64, original_max_position_embeddings = 64 : i64} : tensor<4xf64>
  return
}

// -----

func.func @factors_c3_none(%n: tensor<?xi32>) {
  // expected-error@below {{of kind 'linear' takes no lengths}}
  %0 = rotary_embedding.factors lengths(%n : tensor<?xi32>) {base = 10000.0 : f64, rotary_dim = 8 : i64, kind = "linear", factor = 2.0 : f64} : tensor<4xf64>
  return
}

// -----

func.func @factors_c4() {
  // expected-error@below {{wants an even rotary_dim of at least 2, found 7}}
  %0 = rotary_embedding.factors {base = 10000.0 : f64, rotary_dim = 7 : i64, kind = "default"} : tensor<4xf64>
  return
}

// -----

func.func @factors_c4_base() {
  // expected-error@below {{wants a finite base above 0 other than 1, found 1.000000e+00}}
  %0 = rotary_embedding.factors {base = 1.0 : f64, rotary_dim = 8 : i64, kind = "yarn", factor = 2.0 : f64, original_max_position_embeddings = 64 : i64} : tensor<4xf64>
  return
}

// -----

func.func @factors_c5() {
  // expected-error@below {{wants a finite factor of at least 1, found 5.000000e-01}}
  %0 = rotary_embedding.factors {base = 10000.0 : f64, rotary_dim = 8 : i64, kind = "linear", factor = 0.5 : f64} : tensor<4xf64>
  return
}

// -----

func.func @factors_c6(%n: tensor<?xi32>) {
  // expected-error@below {{wants original_max_position_embeddings of at least 1, found 0}}
  %0 = rotary_embedding.factors lengths(%n : tensor<?xi32>) {base = 10000.0 : f64, rotary_dim = 8 : i64, kind = "dynamic", factor = 2.0 : f64, original_max_position_embeddings = 0 : i64} : tensor<?x4xf64>
  return
}

// -----

func.func @factors_c7(%n: tensor<?xi32>) {
  // expected-error@below {{has 3 numbers in long_factor, wanted rotary_dim / 2 = 4}}
  %0 = rotary_embedding.factors lengths(%n : tensor<?xi32>) {base = 10000.0 : f64, rotary_dim = 8 : i64, kind = "longrope", short_factor = array<f64: 1.0, 1.0, 1.0, 1.0>, long_factor = array<f64: 1.0, 1.0, 1.0>, original_max_position_embeddings = 64 : i64} : tensor<?x4xf64>
  return
}

// -----

func.func @factors_c7_positive(%n: tensor<?xi32>) {
  // expected-error@below {{has 0.000000e+00 in short_factor, wanted finite numbers above 0}}
  %0 = rotary_embedding.factors lengths(%n : tensor<?xi32>) {base = 10000.0 : f64, rotary_dim = 8 : i64, kind = "longrope", short_factor = array<f64: 1.0, 0.0, 1.0, 1.0>, long_factor = array<f64: 1.0, 1.0, 1.0, 1.0>, original_max_position_embeddings = 64 : i64} : tensor<?x4xf64>
  return
}

// -----

func.func @factors_c8() {
  // expected-error@below {{wants 0 < low_freq_factor < high_freq_factor, found 4.000000e+00 and 4.000000e+00}}
  %0 = rotary_embedding.factors {base = 10000.0 : f64, rotary_dim = 8 : i64, kind = "llama3", factor = 2.0 : f64, low_freq_factor = 4.0 : f64, high_freq_factor = 4.0 : f64, original_max_position_embeddings = 64 : i64} : tensor<4xf64>
  return
}

// -----

func.func @factors_c8_beta() {
  // expected-error@below {{wants 0 < beta_slow < beta_fast, found 1.000000e+00 and 1.000000e+00}}
  %0 = rotary_embedding.factors {base = 10000.0 : f64, rotary_dim = 8 : i64, kind = "yarn", factor = 2.0 : f64, beta_fast = 1.0 : f64, original_max_position_embeddings = 64 : i64} : tensor<4xf64>
  return
}

// -----

func.func @factors_c9() {
  // expected-error@below {{wants a result of shape [4] and type f64 or f32, found 'tensor<8xf64>'}}
  %0 = rotary_embedding.factors {base = 10000.0 : f64, rotary_dim = 8 : i64, kind = "default"} : tensor<8xf64>
  return
}

// -----

func.func @factors_c9_rows(%n: tensor<3xi32>) {
  // expected-error@below {{wants a result of shape [lengths..., 4] and type f64 or f32, found 'tensor<2x4xf64>'}}
  %0 = rotary_embedding.factors lengths(%n : tensor<3xi32>) {base = 10000.0 : f64, rotary_dim = 8 : i64, kind = "dynamic", factor = 2.0 : f64, original_max_position_embeddings = 64 : i64} : tensor<2x4xf64>
  return
}

// -----

func.func @rotate_c5_rows(%x: tensor<4x2x8xf32>, %p: tensor<4xi32>, %f: tensor<3x4xf32>) {
  // expected-error@below {{wants factors of shape [4] or [rows..., 4], found 'tensor<3x4xf32>'}}
  %0 = rotary_embedding.rotate %x, %p factors(%f : tensor<3x4xf32>) {base = 10000.0 : f64, rotary_dim = 8 : i64} : tensor<4x2x8xf32>, tensor<4xi32>
  return
}
