// RUN: %tw-opt --pass-pipeline="builtin.module(func.func(cuda-bufferize))" --split-input-file --verify-diagnostics %s | FileCheck %s

// A tile's layout is its buffer's memory space; a field of a block is a view of the weight's bytes.
// CHECK-LABEL: func.func @field
func.func @field(%w: memref<12x18x320xi8>, %out: memref<16xf16>, %group: index, %block: index) {
  %packed = bufferization.to_tensor %w restrict : memref<12x18x320xi8> to tensor<12x18x320xi8>
  %to = bufferization.to_tensor %out restrict writable : memref<16xf16> to tensor<16xf16>
  // CHECK: %[[BYTES:.+]] = memref.collapse_shape %arg0 {{.*}} into memref<69120xi8>
  // CHECK: %[[FIELD:.+]] = memref.view %[[BYTES]][%{{.+}}][] : memref<69120xi8> to memref<16xf16>
  %s = tile.load_field %packed[%group, %block] at 256 : tensor<12x18x320xi8> -> tensor<16xf16>
  // CHECK: linalg.generic {{.*}} ins(%[[FIELD]] : memref<16xf16>) outs(%arg1 : memref<16xf16>)
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%s : tensor<16xf16>) outs(%to : tensor<16xf16>) {
  ^bb0(%in: f16, %o: f16):
    linalg.yield %in : f16
  } -> tensor<16xf16>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<16xf16>, memref<16xf16>) -> ()
  return
}

// -----

// CHECK-LABEL: func.func @layouts
func.func @layouts(%zero: f32) -> f32 {
  %c0 = arith.constant 0 : index
  // CHECK: memref.alloc() {alignment = 16 : i64} : memref<16x8xf32, "accumulator">
  %a = bufferization.alloc_tensor() {memory_space = "accumulator"} : tensor<16x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%a : tensor<16x8xf32>) -> tensor<16x8xf32>
  %r = tensor.extract %f[%c0, %c0] : tensor<16x8xf32>
  return %r : f32
}

// -----

func.func @unaligned(%w: memref<4x321xi8>, %block: index) -> f16 {
  %c0 = arith.constant 0 : index
  %packed = bufferization.to_tensor %w restrict : memref<4x321xi8> to tensor<4x321xi8>
  // expected-error@below {{reads items of 2 bytes at offset 256 of blocks of 321 bytes: they do not lie on their size}}
  // expected-error@below {{failed to bufferize op}}
  %s = tile.load_field %packed[%block] at 256 : tensor<4x321xi8> -> tensor<16xf16>
  %r = tensor.extract %s[%c0] : tensor<16xf16>
  return %r : f16
}
