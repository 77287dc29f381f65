// RUN: %tw-opt %s | %tw-opt | FileCheck %s

// CHECK-LABEL: func @fields
// CHECK-SAME: (%[[P:.*]]: tensor<?x?x320xi8>, %[[G:.*]]: index, %[[B:.*]]: index)
func.func @fields(%p: tensor<?x?x320xi8>, %g: index, %b: index) -> (tensor<16xf16>, tensor<8x16x4xi8>) {
  // CHECK: tile.load_field %[[P]][%[[G]], %[[B]]] at 256 : tensor<?x?x320xi8> -> tensor<16xf16>
  %s = tile.load_field %p[%g, %b] at 256 : tensor<?x?x320xi8> -> tensor<16xf16>
  // CHECK: tile.load_bits %[[P]][%[[G]], %[[B]]] at 0 width 4 items 0, 2 : tensor<?x?x320xi8> -> tensor<8x16x4xi8>
  %q = tile.load_bits %p[%g, %b] at 0 width 4 items 0, 2 : tensor<?x?x320xi8> -> tensor<8x16x4xi8>
  return %s, %q : tensor<16xf16>, tensor<8x16x4xi8>
}

// A block alone, read to its last byte.
// CHECK-LABEL: func @one_block
func.func @one_block(%p: tensor<20xi8>) -> tensor<1xi32> {
  // CHECK: tile.load_field %{{.*}}[] at 16 : tensor<20xi8> -> tensor<1xi32>
  %s = tile.load_field %p[] at 16 : tensor<20xi8> -> tensor<1xi32>
  return %s : tensor<1xi32>
}

// From a byte of a block that is known when the kernel runs.
// CHECK-LABEL: func @places
func.func @places(%p: tensor<?x?x320xi8>, %g: index, %b: index, %byte: index) -> (tensor<16xi8>, tensor<4x16x4xi8>) {
  // CHECK: tile.load_field %{{.*}}[%{{.*}}, %{{.*}}, %[[BYTE:.*]]] at 256 : tensor<?x?x320xi8> -> tensor<16xi8>
  %s = tile.load_field %p[%g, %b, %byte] at 256 : tensor<?x?x320xi8> -> tensor<16xi8>
  // CHECK: tile.load_bits %{{.*}}[%{{.*}}, %{{.*}}, %[[BYTE]]] at 128 width 1 items 4, 4 : tensor<?x?x320xi8> -> tensor<4x16x4xi8>
  %q = tile.load_bits %p[%g, %b, %byte] at 128 width 1 items 4, 4 : tensor<?x?x320xi8> -> tensor<4x16x4xi8>
  return %s, %q : tensor<16xi8>, tensor<4x16x4xi8>
}
