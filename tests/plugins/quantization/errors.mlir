// REQUIRES: plugin-quantization
// RUN: %tw-opt %s --split-input-file --verify-diagnostics

// Blocks never cross a row: 48 is no multiple of 32.
func.func @rows_of_whole_blocks(%x: tensor<?x48xf32>, %w: tensor<16x48x!quantization.q4_1>) {
  // expected-error @+1 {{block}}
  %0 = tw.linear %x, %w : tensor<?x48xf32>, tensor<16x48x!quantization.q4_1> -> tensor<?x16xf32>
  return
}

// -----

// expected-error @+1 {{type `q9_9` in dialect `quantization`}}
func.func @no_such_type(%w: tensor<16x32x!quantization.q9_9>) {
  return
}

// -----

func.func @gather_c3_storage(%t: tensor<4x32x!quantization.q8_0>, %ids: tensor<4xi32>) {
  // expected-error @+1 {{has batch_dims 1 for a table of '!quantization.q8_0', wanted 0}}
  %0 = tw.gather %t, %ids {batch_dims = 1 : i64} : tensor<4x32x!quantization.q8_0>, tensor<4xi32> -> tensor<4xf32>
  return
}
