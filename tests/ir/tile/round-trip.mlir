// RUN: %tw-opt %s | %tw-opt | FileCheck %s

// CHECK-LABEL: func @fields
// CHECK-SAME: (%[[P:.*]]: tensor<?x?x320xi8>, %[[G:.*]]: index, %[[B:.*]]: index)
func.func @fields(%p: tensor<?x?x320xi8>, %g: index, %b: index) -> (tensor<16xf16>, tensor<8x16x4xi8>) {
  // CHECK: tile.load_field %[[P]][%[[G]], %[[B]]] at 256 : tensor<?x?x320xi8> -> tensor<16xf16>
  %s = tile.load_field %p[%g, %b] at 256 : tensor<?x?x320xi8> -> tensor<16xf16>
  // CHECK: tile.load_nibbles %[[P]][%[[G]], %[[B]]] at 0 : tensor<?x?x320xi8> -> tensor<8x16x4xi8>
  %q = tile.load_nibbles %p[%g, %b] at 0 : tensor<?x?x320xi8> -> tensor<8x16x4xi8>
  return %s, %q : tensor<16xf16>, tensor<8x16x4xi8>
}

// A block alone, read to its last byte.
// CHECK-LABEL: func @one_block
func.func @one_block(%p: tensor<20xi8>) -> tensor<1xi32> {
  // CHECK: tile.load_field %{{.*}}[] at 16 : tensor<20xi8> -> tensor<1xi32>
  %s = tile.load_field %p[] at 16 : tensor<20xi8> -> tensor<1xi32>
  return %s : tensor<1xi32>
}
