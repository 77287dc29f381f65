// RUN: %tw-opt %s --cpu-plain-loops | FileCheck %s --implicit-check-not=tensor --implicit-check-not=linalg --implicit-check-not=memref.copy --implicit-check-not=math.exp

// Bytes become numbers one by one: each half of the result has its nibbles of the bytes.
// CHECK-LABEL: func.func @nibbles
// CHECK: scf.for
// CHECK: %[[INDEX:.*]] = arith.remui %{{.*}}, %c32
// CHECK: %[[PART:.*]] = arith.divui %{{.*}}, %c32
// CHECK: %[[BYTE:.*]] = memref.load %arg0[%{{.*}}, %[[INDEX]]] : memref<?x40xi8>
// CHECK: %[[PLACE:.*]] = arith.muli %[[PART]], %c4
// CHECK: %[[SHIFT:.*]] = arith.index_cast %[[PLACE]] : index to i8
// CHECK: %[[MOVED:.*]] = arith.shrui %[[BYTE]], %[[SHIFT]] : i8
// CHECK: arith.andi %[[MOVED]], %c15_i8 : i8
func.func @nibbles(%packed: memref<?x40xi8>, %out: memref<4x16xi8>, %begin: index, %end: index) {
  %p = bufferization.to_tensor %packed restrict : memref<?x40xi8> to tensor<?x40xi8>
  %n = tile.load_bits %p[%begin] at 0 width 4 items 0, 2 : tensor<?x40xi8> -> tensor<4x16xi8>
  bufferization.materialize_in_destination %n in restrict writable %out : (tensor<4x16xi8>, memref<4x16xi8>) -> ()
  return
}

// Two bytes, the lower first, are the bits of an f16.
// CHECK-LABEL: func.func @field
// CHECK: %[[FIRST:.*]] = memref.load %arg0
// CHECK: %[[A:.*]] = arith.extui %[[FIRST]] : i8 to i16
// CHECK: %[[SECOND:.*]] = memref.load %arg0
// CHECK: %[[B:.*]] = arith.extui %[[SECOND]] : i8 to i16
// CHECK: %[[SHIFTED:.*]] = arith.shli %[[B]], %c8_i16 : i16
// CHECK: %[[BITS:.*]] = arith.ori %[[A]], %[[SHIFTED]] : i16
// CHECK: arith.bitcast %[[BITS]] : i16 to f16
// Functions become arithmetic.
// CHECK: scf.for
// CHECK: arith.extf
func.func @field(%packed: memref<?x40xi8>, %out: memref<4xf32>, %begin: index, %end: index) {
  %p = bufferization.to_tensor %packed restrict : memref<?x40xi8> to tensor<?x40xi8>
  %o = bufferization.to_tensor %out restrict writable : memref<4xf32> to tensor<4xf32>
  %n = tile.load_field %p[%begin] at 32 : tensor<?x40xi8> -> tensor<4xf16>
  %e = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%n : tensor<4xf16>) outs(%o : tensor<4xf32>) {
  ^bb0(%x: f16, %y: f32):
    %wide = arith.extf %x : f16 to f32
    %power = math.exp2 %wide : f32
    linalg.yield %power : f32
  } -> tensor<4xf32>
  bufferization.materialize_in_destination %e in restrict writable %out : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}
