// RUN: %tw-opt --pass-pipeline="builtin.module(func.func(cuda-fold-tile-loads))" --split-input-file %s | FileCheck %s

#elements = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#swapped = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#scale = affine_map<(d0, d1, d2) -> (d2)>

// Nibbles become arithmetic on bytes inside of what reads them; a slice of the packed weight becomes an index.
// CHECK: #[[BYTES:.+]] = affine_map<(d0, d1, d2) -> (d0 mod 4, d2, d1)>
// CHECK-LABEL: func.func @dequantise
func.func @dequantise(%packed: tensor<?x18x320xi8>, %group: index, %block: index, %out: tensor<8x4x16xf32>) -> tensor<8x4x16xf32> {
  %c0 = arith.constant 0 : index
  %slice = tensor.extract_slice %packed[%group, 0, 0] [1, 18, 320] [1, 1, 1] : tensor<?x18x320xi8> to tensor<1x18x320xi8>
  %w = tile.load_bits %slice[%c0, %block] at 0 width 4 items 0, 2 : tensor<1x18x320xi8> -> tensor<8x16x4xi8>
  %s = tile.load_field %slice[%c0, %block] at 256 : tensor<1x18x320xi8> -> tensor<16xf16>
  // CHECK: %[[I:.+]] = arith.addi %{{.+}}, %arg1 : index
  // CHECK: %[[B:.+]] = tile.load_field %arg0[%[[I]], %{{.+}}] at 0 : tensor<?x18x320xi8> -> tensor<4x16x4xi8>
  // CHECK: tile.load_field %arg0[%{{.+}}, %{{.+}}] at 256
  // CHECK-NOT: tile.load_bits
  // CHECK: linalg.generic {indexing_maps = [#[[BYTES]]
  // CHECK: linalg.index 0
  // CHECK: arith.andi
  // CHECK: arith.shrui
  // CHECK: arith.uitofp
  // CHECK-NOT: linalg.generic
  %r = linalg.generic {indexing_maps = [#swapped, #scale, #elements], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w, %s : tensor<8x16x4xi8>, tensor<16xf16>) outs(%out : tensor<8x4x16xf32>) {
  ^bb0(%q: i8, %scale: f16, %o: f32):
    %f = arith.uitofp %q : i8 to f32
    %g = arith.extf %scale : f16 to f32
    %h = arith.mulf %f, %g : f32
    linalg.yield %h : f32
  } -> tensor<8x4x16xf32>
  return %r : tensor<8x4x16xf32>
}

// -----

// A half has one kind of nibble, and no other reader than a contraction: it stays an op of its own.
// CHECK-LABEL: func.func @half
func.func @half(%packed: tensor<2x320xi8>, %block: index) -> tensor<4x16x4xi8> {
  // CHECK: linalg.generic
  // CHECK: arith.shrui
  // CHECK-NOT: arith.andi
  %w = tile.load_bits %packed[%block] at 0 width 4 items 1, 1 : tensor<2x320xi8> -> tensor<4x16x4xi8>
  return %w : tensor<4x16x4xi8>
}
