// RUN: %tw-opt %s -split-input-file -verify-diagnostics -pass-pipeline='builtin.module(func.func(cpu-schedule-tiles{level=avx512}))' | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: %tw-opt %s -split-input-file -verify-diagnostics -pass-pipeline='builtin.module(func.func(cpu-schedule-tiles{level=avx2}))' | FileCheck %s --check-prefixes=CHECK,AVX2

// A contraction: blocks of the accumulator that fit the registers, init producer inside, k loop with the accumulator
// carried as a vector.
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func @contraction
func.func @contraction(%x: tensor<32x64xf32>, %w: tensor<64x64xf32>, %y: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<32x64xf32>) -> tensor<32x64xf32>
  // AVX512: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<8x32xf32>
  // AVX2: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<4x16xf32>
  // CHECK: scf.for
  // CHECK: scf.for
  // AVX512: scf.for {{.*}} iter_args(%[[ACC:.*]] = %[[ZERO]]) -> (vector<8x32xf32>)
  // AVX2: scf.for {{.*}} iter_args(%[[ACC:.*]] = %[[ZERO]]) -> (vector<4x16xf32>)
  // CHECK-NOT: transfer_write
  // CHECK: %[[R:.*]] = vector.contract {{.*}}, %[[ACC]]
  // CHECK-NEXT: scf.yield %[[R]]
  // CHECK: vector.transfer_write
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<32x64xf32>, tensor<64x64xf32>) outs(%z : tensor<32x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<32x64xf32>
  return %r : tensor<32x64xf32>
}

// -----

// Named ops are contractions, too.
// CHECK-LABEL: func @named
func.func @named(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>, %y: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // CHECK: vector.contract
  %r = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x16xf32>) outs(%y : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}

// -----

// A row reduction that is too long for registers is reduced in parts, which are carried as one vector.
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
// CHECK-LABEL: func @long_row
func.func @long_row(%x: tensor<8x576xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: scf.for
  // AVX512: scf.for {{.*}} -> (vector<1x96xf32>)
  // AVX2: scf.for {{.*}} -> (vector<1x64xf32>)
  // CHECK: arith.addf
  // CHECK: vector.multi_reduction <add>
  %r = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x576xf32>) outs(%y : tensor<8xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// Elementwise: rows of at most eight registers; what is small altogether is one vector.
#mn = affine_map<(m, n) -> (m, n)>
// CHECK-LABEL: func @elementwise
func.func @elementwise(%x: tensor<32x256xf32>, %y: tensor<8x16xf32>) -> (tensor<32x256xf32>, tensor<8x16xf32>) {
  // AVX512: arith.negf {{.*}} : vector<1x128xf32>
  // AVX2: arith.negf {{.*}} : vector<1x64xf32>
  %r = linalg.generic {indexing_maps = [#mn], iterator_types = ["parallel", "parallel"]} outs(%x : tensor<32x256xf32>) {
  ^bb0(%a: f32):
    %t = arith.negf %a : f32
    linalg.yield %t : f32
  } -> tensor<32x256xf32>
  // CHECK: arith.negf {{.*}} : vector<8x16xf32>
  %s = linalg.generic {indexing_maps = [#mn], iterator_types = ["parallel", "parallel"]} outs(%y : tensor<8x16xf32>) {
  ^bb0(%a: f32):
    %t = arith.negf %a : f32
    linalg.yield %t : f32
  } -> tensor<8x16xf32>
  return %r, %s : tensor<32x256xf32>, tensor<8x16xf32>
}

// -----

// A copy stays vector work; it is not left to bufferisation.
#id = affine_map<(m) -> (m)>
// CHECK-LABEL: func @copy
func.func @copy(%x: tensor<?x64xf32>, %y: tensor<?x64xf32>, %i: index, %j: index) -> tensor<?x64xf32> {
  // CHECK: %[[V:.*]] = vector.transfer_read
  // CHECK: vector.transfer_write %[[V]]
  // CHECK-NOT: tensor.insert_slice
  %from = tensor.extract_slice %x[%i, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<64xf32>
  %to = tensor.extract_slice %y[%j, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<64xf32>
  %c = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%from : tensor<64xf32>) outs(%to : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<64xf32>
  %r = tensor.insert_slice %c into %y[%j, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

// -----

// A loop over quantised blocks whose rows do not fit is split: rows outside, blocks inside, accumulators in registers.
#x = affine_map<(m, n, k, v) -> (m, k, v)>
#w = affine_map<(m, n, k, v) -> (k, n, v)>
#d = affine_map<(m, n, k, v) -> (m, n)>
#mn = affine_map<(m, n) -> (m, n)>
// CHECK-LABEL: func @blocks
func.func @blocks(%x: tensor<16x18x8x4xi8>, %p: tensor<2x18x256xi8>, %acc: tensor<16x16xf32>, %g: index) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c18 = arith.constant 18 : index
  %zero = arith.constant 0 : i32
  // CHECK: scf.for {{.*}} -> (tensor<16x16xf32>)
  // AVX512: scf.for {{.*}} -> (vector<8x16xf32>)
  // AVX2: scf.for {{.*}} -> (vector<4x16xf32>)
  // CHECK: vector.transfer_read {{.*}} vector<256xi8>
  // CHECK: arith.andi
  // CHECK: arith.shrui
  // CHECK: vector.contract
  %r = scf.for %b = %c0 to %c18 step %c1 iter_args(%a = %acc) -> (tensor<16x16xf32>) {
    %q = tile.load_bits %p[%g, %b] at 0 width 4 items 0, 2 : tensor<2x18x256xi8> -> tensor<8x16x4xi8>
    %xb = tensor.extract_slice %x[0, %b, 0, 0] [16, 1, 8, 4] [1, 1, 1, 1] : tensor<16x18x8x4xi8> to tensor<16x8x4xi8>
    %e = tensor.empty() : tensor<16x16xi32>
    %z = linalg.fill ins(%zero : i32) outs(%e : tensor<16x16xi32>) -> tensor<16x16xi32>
    %dot = linalg.generic {indexing_maps = [#x, #w, #d], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%xb, %q : tensor<16x8x4xi8>, tensor<8x16x4xi8>) outs(%z : tensor<16x16xi32>) {
    ^bb0(%i: i8, %j: i8, %o: i32):
      %ii = arith.extsi %i : i8 to i32
      %jj = arith.extui %j : i8 to i32
      %t = arith.muli %ii, %jj : i32
      %s = arith.addi %o, %t : i32
      linalg.yield %s : i32
    } -> tensor<16x16xi32>
    %n = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]}
        ins(%dot : tensor<16x16xi32>) outs(%a : tensor<16x16xf32>) {
    ^bb0(%i: i32, %o: f32):
      %f = arith.sitofp %i : i32 to f32
      %s = arith.addf %o, %f : f32
      linalg.yield %s : f32
    } -> tensor<16x16xf32>
    scf.yield %n : tensor<16x16xf32>
  }
  return %r : tensor<16x16xf32>
}

// -----

// A long field is read where its consumer, once tiled, needs it.
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func @long_field
func.func @long_field(%x: tensor<8x32xf32>, %p: tensor<4x2048xi8>, %b: index, %y: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // AVX512: scf.for %[[K:[a-z0-9]+]] =
  // AVX512: %[[AT:.*]] = arith.muli %[[K]]
  // AVX512: vector.transfer_read %{{.*}}[%{{.*}}, %[[AT]]], %{{.*}} : tensor<4x2048xi8>, vector<128xi8>
  // CHECK: vector.bitcast
  // CHECK: vector.contract
  %w = tile.load_field %p[%b] at 0 : tensor<4x2048xi8> -> tensor<32x16xf32>
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8x32xf32>, tensor<32x16xf32>) outs(%y : tensor<8x16xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %t = arith.mulf %i, %j : f32
    %s = arith.addf %o, %t : f32
    linalg.yield %s : f32
  } -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}

// -----

func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{has a dynamic shape; tiles of a kernel are static}}
  %r = linalg.fill ins(%zero : f32) outs(%x : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

func.func @memory(%x: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{works on memory; kernels work on tensors}}
  linalg.fill ins(%zero : f32) outs(%x : memref<8xf32>)
  return
}
