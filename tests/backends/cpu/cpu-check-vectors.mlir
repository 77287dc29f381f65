// RUN: %tw-opt %s -split-input-file -verify-diagnostics -pass-pipeline='builtin.module(func.func(cpu-check-vectors))'

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func @contract(%x: vector<2x4xf32>, %w: vector<8x4xf32>, %y: vector<2x8xf32>) -> vector<2x8xf32> {
  // expected-error @below {{has no instruction on this level: wanted an accumulator whose innermost dimension is the right operand's (f32), or packed quads of one signed and one unsigned byte operand (i8), or packed pairs (bf16)}}
  %r = vector.contract {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"],
      kind = #vector.kind<add>} %x, %w, %y : vector<2x4xf32>, vector<8x4xf32> into vector<2x8xf32>
  return %r : vector<2x8xf32>
}

// -----

func.func @transfer(%x: memref<?xf32>, %i: index) -> vector<4xf32> {
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{is left before LLVM: it has no 1-D form}}
  %r = vector.transfer_read %x[%i], %zero : memref<?xf32>, vector<4xf32>
  return %r : vector<4xf32>
}
