// RUN: %tw-opt --pass-pipeline="builtin.module(func.func(cuda-lower-tiles))" --split-input-file --verify-diagnostics %s | FileCheck %s
// RUN: %tw-opt --pass-pipeline="builtin.module(func.func(cuda-lower-tiles{fast}))" --split-input-file --verify-diagnostics %s | FileCheck %s --check-prefix=FAST

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// One 16x8 tile of f32: three products of tf32, or one. The lane's four numbers are an array of its own.
// CHECK-LABEL: func.func @f32
// CHECK: memref.alloca() : memref<4xf32>
// CHECK: gpu.thread_id x
// CHECK-NOT: linalg.generic
// CHECK-COUNT-3: nvvm.mma.sync {{.*}}multiplicandAPtxType = #nvvm.mma_type<tf32>{{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 8>
// CHECK-NOT: nvvm.mma.sync
// CHECK-NOT: "accumulator"
// FAST-LABEL: func.func @f32
// FAST: nvvm.mma.sync
// FAST-NOT: nvvm.mma.sync
// FAST-LABEL: func.func @bytes
func.func @f32(%a: memref<16x8xf32>, %b: memref<8x8xf32>, %zero: f32) attributes {tw.warps = 1 : i64} {
  %c = memref.alloc() : memref<16x8xf32, "accumulator">
  linalg.fill ins(%zero : f32) outs(%c : memref<16x8xf32, "accumulator">)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<16x8xf32>, memref<8x8xf32>) outs(%c : memref<16x8xf32, "accumulator">) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  return
}

// CHECK-LABEL: func.func @bytes
// CHECK: nvvm.mma.sync {{.*}}multiplicandAPtxType = #nvvm.mma_type<s8>, multiplicandBPtxType = #nvvm.mma_type<u8>, shape = #nvvm.shape<m = 16, n = 8, k = 16>
func.func @bytes(%a: memref<16x16xi8>, %b: memref<16x8xi8>, %zero: i32) attributes {tw.warps = 1 : i64} {
  %c = memref.alloc() : memref<16x8xi32, "accumulator">
  linalg.fill ins(%zero : i32) outs(%c : memref<16x8xi32, "accumulator">)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<16x16xi8>, memref<16x8xi8>) outs(%c : memref<16x8xi32, "accumulator">) {
  ^bb0(%x: i8, %y: i8, %o: i32):
    %u = arith.extsi %x : i8 to i32
    %v = arith.extui %y : i8 to i32
    %p = arith.muli %u, %v : i32
    %r = arith.addi %o, %p : i32
    linalg.yield %r : i32
  }
  return
}

// -----

// A reduction over a fragment's columns: the lane's own, then the four lanes of a row. Rows behind the last are not written.
// CHECK-LABEL: func.func @rows
// CHECK: arith.maxnumf
// CHECK-COUNT-2: gpu.shuffle xor
// CHECK: scf.if
// CHECK: memref.store %{{.+}}, %arg0
func.func @rows(%out: memref<5xf32>, %zero: f32) attributes {tw.warps = 1 : i64} {
  %s = memref.alloc() : memref<5x8xf32, "accumulator">
  linalg.fill ins(%zero : f32) outs(%s : memref<5x8xf32, "accumulator">)
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]}
      ins(%s : memref<5x8xf32, "accumulator">) outs(%out : memref<5xf32>) {
  ^bb0(%x: f32, %o: f32):
    %r = arith.maxnumf %x, %o : f32
    linalg.yield %r : f32
  }
  return
}

// -----

// On memory: elements to threads; long rows to warps, whose lanes add up by shuffles; short ones to threads.
// CHECK-LABEL: func.func @memory
// CHECK: scf.for
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: gpu.shuffle
func.func @memory(%in: memref<4x576xf32>, %sums: memref<4xf32>, %short: memref<4x16xf32>, %out: memref<4xf32>)
    attributes {tw.warps = 8 : i64} {
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]}
      ins(%in : memref<4x576xf32>) outs(%sums : memref<4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %q = arith.mulf %x, %x : f32
    %r = arith.addf %o, %q : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]}
      ins(%short : memref<4x16xf32>) outs(%out : memref<4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %r = arith.addf %o, %x : f32
    linalg.yield %r : f32
  }
  return
}

// -----

// expected-error@below {{has no attribute 'tw.warps': cuda-stage-tiles did not run}}
func.func @unstaged() {
  return
}

// -----

func.func @carried(%a: memref<4xf32>, %b: memref<4xf32>, %n: index) attributes {tw.warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@below {{carries a buffer: the kernel could not be calculated in place}}
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (memref<4xf32>, memref<4xf32>) {
    scf.yield %y, %x : memref<4xf32>, memref<4xf32>
  }
  return
}

// -----

func.func @deep(%out: memref<16x1x8xf32>, %zero: f32) attributes {tw.warps = 1 : i64} {
  %s = memref.alloc() : memref<16x1x8xf32, "accumulator">
  // expected-error@below {{has a fragment among its operands, but loops over more than rows and columns}}
  linalg.fill ins(%zero : f32) outs(%s : memref<16x1x8xf32, "accumulator">)
  return
}
