// RUN: %tw-opt --pass-pipeline="builtin.module(func.func(cuda-stage-tiles))" --split-input-file --verify-diagnostics %s | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#elements = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>

// Scores are an accumulator, their maximum a row value; keys that three warps read come through shared memory; the product
// with the values takes the scores as they are. What is taken out in slices is copied to shared memory first.
// CHECK-LABEL: func.func @scores
// CHECK-SAME: tw.warps = 3
func.func @scores(%q: memref<48x64xf32>, %k: memref<64x64xf32>, %v: memref<64x64xf32>, %row: index) -> (tensor<48xf32>, tensor<3x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %queries = bufferization.to_tensor %q restrict : memref<48x64xf32> to tensor<48x64xf32>
  %keys = bufferization.to_tensor %k restrict : memref<64x64xf32> to tensor<64x64xf32>
  %values = bufferization.to_tensor %v restrict : memref<64x64xf32> to tensor<64x64xf32>
  // CHECK: bufferization.alloc_tensor() {memory_space = "accumulator"} : tensor<48x64xf32>
  %b0 = bufferization.alloc_tensor() : tensor<48x64xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%b0 : tensor<48x64xf32>) -> tensor<48x64xf32>
  // CHECK: %[[B:.+]] = bufferization.alloc_tensor() {memory_space = #gpu.address_space<workgroup>} : tensor<64x64xf32>
  // CHECK: %[[KEYS:.+]] = linalg.generic {{.*}} outs(%[[B]] : tensor<64x64xf32>)
  // CHECK: linalg.generic {{.*}} ins(%{{.+}}, %[[KEYS]] :
  %s = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%queries, %keys : tensor<48x64xf32>, tensor<64x64xf32>) outs(%s0 : tensor<48x64xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  } -> tensor<48x64xf32>
  // CHECK: bufferization.alloc_tensor() {memory_space = "row"} : tensor<48xf32>
  %b1 = bufferization.alloc_tensor() : tensor<48xf32>
  %m0 = linalg.fill ins(%zero : f32) outs(%b1 : tensor<48xf32>) -> tensor<48xf32>
  // CHECK: %[[MAX:.+]] = linalg.generic {{.*}} ["parallel", "reduction"]
  %m = linalg.generic {indexing_maps = [#elements, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%s : tensor<48x64xf32>) outs(%m0 : tensor<48xf32>) {
  ^bb0(%x: f32, %o: f32):
    %r = arith.maxnumf %x, %o : f32
    linalg.yield %r : f32
  } -> tensor<48xf32>
  // CHECK: bufferization.alloc_tensor() {memory_space = "accumulator"} : tensor<48x64xf32>
  %b2 = bufferization.alloc_tensor() : tensor<48x64xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%b2 : tensor<48x64xf32>) -> tensor<48x64xf32>
  // CHECK: %[[OUT:.+]] = linalg.generic {{.*}} ["parallel", "parallel", "reduction"]
  %o = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s, %values : tensor<48x64xf32>, tensor<64x64xf32>) outs(%o0 : tensor<48x64xf32>) {
  ^bb0(%x: f32, %y: f32, %a: f32):
    %p = arith.mulf %x, %y : f32
    %r = arith.addf %a, %p : f32
    linalg.yield %r : f32
  } -> tensor<48x64xf32>
  // CHECK: %[[C:.+]] = bufferization.alloc_tensor() {memory_space = #gpu.address_space<workgroup>} : tensor<48x64xf32>
  // CHECK: %[[COPY:.+]] = linalg.generic {{.*}} ins(%[[OUT]] : tensor<48x64xf32>) outs(%[[C]] :
  // CHECK: tensor.extract_slice %[[COPY]][%arg3, 0]
  %slice = tensor.extract_slice %o[%row, 0] [3, 64] [1, 1] : tensor<48x64xf32> to tensor<3x64xf32>
  return %m, %slice : tensor<48xf32>, tensor<3x64xf32>
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#elements = affine_map<(d0, d1) -> (d0, d1)>

// For one warp operand B is calculated where it is needed. A result goes straight to its place in a slice.
// CHECK-LABEL: func.func @weights
// CHECK-SAME: tw.warps = 1
func.func @weights(%x: memref<5x32xf32>, %w: memref<32x16xi8>, %column: index) -> tensor<5x64xf32> {
  %zero = arith.constant 0.0 : f32
  %a = bufferization.to_tensor %x restrict : memref<5x32xf32> to tensor<5x32xf32>
  %bytes = bufferization.to_tensor %w restrict : memref<32x16xi8> to tensor<32x16xi8>
  // CHECK: %[[B:.+]] = bufferization.alloc_tensor() {memory_space = "operand_b"} : tensor<32x16xf32>
  %b0 = tensor.empty() : tensor<32x16xf32>
  %b = linalg.generic {indexing_maps = [#elements, #elements], iterator_types = ["parallel", "parallel"]}
      ins(%bytes : tensor<32x16xi8>) outs(%b0 : tensor<32x16xf32>) {
  ^bb0(%in: i8, %out: f32):
    %f = arith.uitofp %in : i8 to f32
    linalg.yield %f : f32
  } -> tensor<32x16xf32>
  // CHECK: bufferization.alloc_tensor() {memory_space = "accumulator"} : tensor<5x16xf32>
  %c0 = bufferization.alloc_tensor() : tensor<5x16xf32>
  %c1 = linalg.fill ins(%zero : f32) outs(%c0 : tensor<5x16xf32>) -> tensor<5x16xf32>
  // CHECK: %[[R:.+]] = linalg.generic {{.*}} ["parallel", "parallel", "reduction"]
  %c = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<5x32xf32>, tensor<32x16xf32>) outs(%c1 : tensor<5x16xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<5x16xf32>
  // CHECK: %[[WHOLE:.+]] = bufferization.alloc_tensor() {memory_space = #gpu.address_space<workgroup>} : tensor<5x64xf32>
  // CHECK: %[[PLACE:.+]] = tensor.extract_slice %[[WHOLE]][0, %arg2] [5, 16]
  // CHECK: %[[IN:.+]] = linalg.generic {{.*}} ins(%[[R]] : tensor<5x16xf32>) outs(%[[PLACE]] :
  // CHECK: tensor.insert_slice %[[IN]] into %[[WHOLE]][0, %arg2]
  %whole = bufferization.alloc_tensor() : tensor<5x64xf32>
  %r = tensor.insert_slice %c into %whole[0, %column] [5, 16] [1, 1] : tensor<5x16xf32> into tensor<5x64xf32>
  return %r : tensor<5x64xf32>
}

// -----

func.func @dynamic(%x: tensor<?x4xf32>, %zero: f32) -> tensor<?x4xf32> {
  // expected-error@below {{has a dynamic shape; tiles of a kernel are static}}
  %r = linalg.fill ins(%zero : f32) outs(%x : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
