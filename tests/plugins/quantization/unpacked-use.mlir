// REQUIRES: plugin-quantization
// RUN: %tw-opt %s --tile-pack-weights --verify-diagnostics

// A quantised weight has no form but the packed one, which linear maps and gathers read.
func.func @other_use(%x: tensor<?x64xf32>, %w: tensor<32x64x!quantization.q8_0>) -> (tensor<?x32xf32>, tensor<64x32x!quantization.q8_0>) {
  %y = tw.linear %x, %w : tensor<?x64xf32>, tensor<32x64x!quantization.q8_0> -> tensor<?x32xf32>
  // expected-error @below {{reads a packed weight of type 'tensor<32x64x!quantization.q8_0>', which only tw.linear, tw.grouped_linear and tw.gather can}}
  %v = tw.transpose %w perm [1, 0] : tensor<32x64x!quantization.q8_0> -> tensor<64x32x!quantization.q8_0>
  return %y, %v : tensor<?x32xf32>, tensor<64x32x!quantization.q8_0>
}

