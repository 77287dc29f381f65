// What `tilewright plugins check` tries (docs/conformance.md).
ml_program.global private @w(#ml_program.extern : tensor<20x64x!quantization.q4_0>) : tensor<20x64x!quantization.q4_0>
func.func @linear_q4_0(%x: tensor<?x64xf32>) -> tensor<?x20xf32> {
  %w = ml_program.global_load_const @w : tensor<20x64x!quantization.q4_0>
  %y = tw.linear %x, %w : tensor<?x64xf32>, tensor<20x64x!quantization.q4_0> -> tensor<?x20xf32>
  return %y : tensor<?x20xf32>
}

// -----

ml_program.global private @w(#ml_program.extern : tensor<20x64x!quantization.q4_1>) : tensor<20x64x!quantization.q4_1>
func.func @linear_q4_1(%x: tensor<?x64xf32>) -> tensor<?x20xf32> {
  %w = ml_program.global_load_const @w : tensor<20x64x!quantization.q4_1>
  %y = tw.linear %x, %w : tensor<?x64xf32>, tensor<20x64x!quantization.q4_1> -> tensor<?x20xf32>
  return %y : tensor<?x20xf32>
}

// -----

ml_program.global private @w(#ml_program.extern : tensor<20x64x!quantization.q8_0>) : tensor<20x64x!quantization.q8_0>
func.func @linear_q8_0(%x: tensor<?x64xf32>) -> tensor<?x20xf32> {
  %w = ml_program.global_load_const @w : tensor<20x64x!quantization.q8_0>
  %y = tw.linear %x, %w : tensor<?x64xf32>, tensor<20x64x!quantization.q8_0> -> tensor<?x20xf32>
  return %y : tensor<?x20xf32>
}

// -----

ml_program.global private @w(#ml_program.extern : tensor<20x64x!quantization.q5_0>) : tensor<20x64x!quantization.q5_0>
func.func @linear_q5_0(%x: tensor<?x64xf32>) -> tensor<?x20xf32> {
  %w = ml_program.global_load_const @w : tensor<20x64x!quantization.q5_0>
  %y = tw.linear %x, %w : tensor<?x64xf32>, tensor<20x64x!quantization.q5_0> -> tensor<?x20xf32>
  return %y : tensor<?x20xf32>
}

// -----

ml_program.global private @w(#ml_program.extern : tensor<20x64x!quantization.q5_1>) : tensor<20x64x!quantization.q5_1>
func.func @linear_q5_1(%x: tensor<?x64xf32>) -> tensor<?x20xf32> {
  %w = ml_program.global_load_const @w : tensor<20x64x!quantization.q5_1>
  %y = tw.linear %x, %w : tensor<?x64xf32>, tensor<20x64x!quantization.q5_1> -> tensor<?x20xf32>
  return %y : tensor<?x20xf32>
}

// -----

ml_program.global private @w(#ml_program.extern : tensor<20x512x!quantization.q2_k>) : tensor<20x512x!quantization.q2_k>
func.func @linear_q2_k(%x: tensor<?x512xf32>) -> tensor<?x20xf32> {
  %w = ml_program.global_load_const @w : tensor<20x512x!quantization.q2_k>
  %y = tw.linear %x, %w : tensor<?x512xf32>, tensor<20x512x!quantization.q2_k> -> tensor<?x20xf32>
  return %y : tensor<?x20xf32>
}

// -----

ml_program.global private @w(#ml_program.extern : tensor<20x512x!quantization.q3_k>) : tensor<20x512x!quantization.q3_k>
func.func @linear_q3_k(%x: tensor<?x512xf32>) -> tensor<?x20xf32> {
  %w = ml_program.global_load_const @w : tensor<20x512x!quantization.q3_k>
  %y = tw.linear %x, %w : tensor<?x512xf32>, tensor<20x512x!quantization.q3_k> -> tensor<?x20xf32>
  return %y : tensor<?x20xf32>
}

// -----

ml_program.global private @w(#ml_program.extern : tensor<20x512x!quantization.q4_k>) : tensor<20x512x!quantization.q4_k>
func.func @linear_q4_k(%x: tensor<?x512xf32>) -> tensor<?x20xf32> {
  %w = ml_program.global_load_const @w : tensor<20x512x!quantization.q4_k>
  %y = tw.linear %x, %w : tensor<?x512xf32>, tensor<20x512x!quantization.q4_k> -> tensor<?x20xf32>
  return %y : tensor<?x20xf32>
}

// -----

ml_program.global private @w(#ml_program.extern : tensor<20x512x!quantization.q5_k>) : tensor<20x512x!quantization.q5_k>
func.func @linear_q5_k(%x: tensor<?x512xf32>) -> tensor<?x20xf32> {
  %w = ml_program.global_load_const @w : tensor<20x512x!quantization.q5_k>
  %y = tw.linear %x, %w : tensor<?x512xf32>, tensor<20x512x!quantization.q5_k> -> tensor<?x20xf32>
  return %y : tensor<?x20xf32>
}

// -----

ml_program.global private @w(#ml_program.extern : tensor<20x512x!quantization.q6_k>) : tensor<20x512x!quantization.q6_k>
func.func @linear_q6_k(%x: tensor<?x512xf32>) -> tensor<?x20xf32> {
  %w = ml_program.global_load_const @w : tensor<20x512x!quantization.q6_k>
  %y = tw.linear %x, %w : tensor<?x512xf32>, tensor<20x512x!quantization.q6_k> -> tensor<?x20xf32>
  return %y : tensor<?x20xf32>
}

// -----

ml_program.global private @w(#ml_program.extern : tensor<16x32x!quantization.q8_0>) : tensor<16x32x!quantization.q8_0>
func.func @gather(%i: tensor<?xi32> {check.input = "index 16"}) -> tensor<?x32xf32> {
  %w = ml_program.global_load_const @w : tensor<16x32x!quantization.q8_0>
  %y = tw.gather %w, %i : tensor<16x32x!quantization.q8_0>, tensor<?xi32> -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// -----

ml_program.global private @w(#ml_program.extern : tensor<16x256x!quantization.q6_k>) : tensor<16x256x!quantization.q6_k>
func.func @gather_q6_k(%i: tensor<?xi32> {check.input = "index 16"}) -> tensor<?x256xf32> {
  %w = ml_program.global_load_const @w : tensor<16x256x!quantization.q6_k>
  %y = tw.gather %w, %i : tensor<16x256x!quantization.q6_k>, tensor<?xi32> -> tensor<?x256xf32>
  return %y : tensor<?x256xf32>
}

// -----

ml_program.global private @w(#ml_program.extern : tensor<20x64x!quantization.int8>) : tensor<20x64x!quantization.int8>
func.func @linear_int8(%x: tensor<?x64xf32>, %scale: tensor<20xf32>) -> tensor<?x20xf32> {
  %w = ml_program.global_load_const @w : tensor<20x64x!quantization.int8>
  %q = tw.linear %x, %w : tensor<?x64xf32>, tensor<20x64x!quantization.int8> -> tensor<?x20xf32>
  %s = tw.broadcast %scale like %q dims [1] : tensor<20xf32>, tensor<?x20xf32> -> tensor<?x20xf32>
  %y = tw.mul %q, %s : tensor<?x20xf32>
  return %y : tensor<?x20xf32>
}

// -----

// Rows that end within a block.
ml_program.global private @w(#ml_program.extern : tensor<12x45x!quantization.int8>) : tensor<12x45x!quantization.int8>
func.func @linear_int8_odd(%x: tensor<?x45xf32>) -> tensor<?x12xf32> {
  %w = ml_program.global_load_const @w : tensor<12x45x!quantization.int8>
  %y = tw.linear %x, %w : tensor<?x45xf32>, tensor<12x45x!quantization.int8> -> tensor<?x12xf32>
  return %y : tensor<?x12xf32>
}

// -----

ml_program.global private @w(#ml_program.extern : tensor<16x37x!quantization.int8>) : tensor<16x37x!quantization.int8>
func.func @gather_int8(%i: tensor<?xi32> {check.input = "index 16"}) -> tensor<?x37xf32> {
  %w = ml_program.global_load_const @w : tensor<16x37x!quantization.int8>
  %y = tw.gather %w, %i : tensor<16x37x!quantization.int8>, tensor<?xi32> -> tensor<?x37xf32>
  return %y : tensor<?x37xf32>
}

// -----

// Blocks never cross a row: 48 is no multiple of 32.
func.func @rows_of_whole_blocks(%x: tensor<?x48xf32>, %w: tensor<16x48x!quantization.q4_1>) {
  // expected-error@below {{block}}
  %0 = tw.linear %x, %w : tensor<?x48xf32>, tensor<16x48x!quantization.q4_1> -> tensor<?x16xf32>
  return
}

// -----

func.func @rows_of_whole_superblocks(%x: tensor<?x288xf32>, %w: tensor<16x288x!quantization.q4_k>) {
  // expected-error@below {{wanted a multiple of the block of '!quantization.q4_k', 256}}
  %0 = tw.linear %x, %w : tensor<?x288xf32>, tensor<16x288x!quantization.q4_k> -> tensor<?x16xf32>
  return
}
