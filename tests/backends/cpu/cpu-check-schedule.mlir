// RUN: %tw-opt %s -split-input-file -verify-diagnostics -pass-pipeline='builtin.module(func.func(cpu-check-schedule{level=avx2}))'

func.func @linalg_left(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{is left after scheduling: it has no vector form}}
  %r = linalg.fill ins(%zero : f32) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

func.func @field_left(%p: tensor<20xi8>) -> tensor<4xf32> {
  // expected-error @below {{is left after scheduling: it has no vector form}}
  %r = tile.load_field %p[] at 0 : tensor<20xi8> -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @too_wide(%x: vector<16x16xf32>) {
  // expected-error @below {{makes 'vector<16x16xf32>', 1024 bytes; level 'avx2' holds at most 512 in its registers}}
  %r = arith.negf %x : vector<16x16xf32>
  return
}

// -----

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func @accumulator_in_memory(%x: tensor<4x64xf32>, %w: tensor<64x16xf32>, %y: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %k = %c0 to %c64 step %c1 iter_args(%acc = %y) -> (tensor<4x16xf32>) {
    %a = vector.transfer_read %x[%c0, %k], %zero {in_bounds = [true, true]} : tensor<4x64xf32>, vector<4x1xf32>
    %b = vector.transfer_read %w[%k, %c0], %zero {in_bounds = [true, true]} : tensor<64x16xf32>, vector<1x16xf32>
    %c = vector.transfer_read %acc[%c0, %c0], %zero {in_bounds = [true, true]} : tensor<4x16xf32>, vector<4x16xf32>
    %d = vector.contract {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"],
        kind = #vector.kind<add>} %a, %b, %c : vector<4x1xf32>, vector<1x16xf32> into vector<4x16xf32>
    // expected-error @below {{stands in the reduction loop of a contraction: its accumulator is not carried in registers}}
    %e = vector.transfer_write %d, %acc[%c0, %c0] {in_bounds = [true, true]} : vector<4x16xf32>, tensor<4x16xf32>
    scf.yield %e : tensor<4x16xf32>
  }
  return %r : tensor<4x16xf32>
}

// -----

// A contraction of one round in a loop over chunks: its operand is decoded to memory, and its sums are written.
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func @one_round(%x: tensor<1x2xf32>, %row: vector<16xf32>, %w: tensor<2x16xf32>, %y: tensor<1x16xf32>) -> tensor<1x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %none = arith.constant dense<0.0> : vector<1x16xf32>
  %r = scf.for %chunk = %c0 to %c4 step %c1 iter_args(%before = %y) -> (tensor<1x16xf32>) {
    %d0 = vector.transfer_write %row, %w[%c0, %c0] {in_bounds = [true]} : vector<16xf32>, tensor<2x16xf32>
    %d1 = vector.transfer_write %row, %d0[%c1, %c0] {in_bounds = [true]} : vector<16xf32>, tensor<2x16xf32>
    %a = vector.transfer_read %x[%c0, %c0], %zero {in_bounds = [true, true]} : tensor<1x2xf32>, vector<1x2xf32>
    %b = vector.transfer_read %d1[%c0, %c0], %zero {in_bounds = [true, true]} : tensor<2x16xf32>, vector<2x16xf32>
    %s = vector.contract {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"],
        kind = #vector.kind<add>} %a, %b, %none : vector<1x2xf32>, vector<2x16xf32> into vector<1x16xf32>
    %e = vector.transfer_write %s, %before[%c0, %c0] {in_bounds = [true, true]} : vector<1x16xf32>, tensor<1x16xf32>
    scf.yield %e : tensor<1x16xf32>
  }
  return %r : tensor<1x16xf32>
}
