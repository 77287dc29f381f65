// RUN: %tw-opt --pass-pipeline="builtin.module(func.func(cuda-place-barriers))" %s | FileCheck %s

#map = affine_map<(d0) -> (d0)>
!shared = memref<64xf32, #gpu.address_space<workgroup>>

// CHECK-LABEL: func.func @ops
func.func @ops(%in: memref<64xf32>, %out: memref<64xf32>, %zero: f32) {
  %a = memref.alloc() : !shared
  %b = memref.alloc() : !shared
  // Nothing is pending: no barrier. The second op shares nothing with the first.
  // CHECK-NOT: gpu.barrier
  // CHECK: linalg.fill
  // CHECK-NOT: gpu.barrier
  // CHECK: linalg.fill
  linalg.fill ins(%zero : f32) outs(%a : !shared)
  linalg.fill ins(%zero : f32) outs(%b : !shared)
  // Reads what was written.
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: linalg.generic
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%a : !shared) outs(%out : memref<64xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  // The barrier served this one, too; arguments that are only read need none.
  // CHECK-NOT: gpu.barrier
  // CHECK: linalg.generic
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%in : memref<64xf32>) outs(%b : !shared) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  // Writes what was read.
  // CHECK: gpu.barrier
  // CHECK-NEXT: linalg.fill
  linalg.fill ins(%zero : f32) outs(%a : !shared)
  // The output, an argument that is written, is read by other threads.
  // CHECK-NOT: gpu.barrier
  // CHECK: linalg.fill
  // CHECK-NEXT: return
  %private = memref.alloc() : memref<64xf32, "row">
  linalg.fill ins(%zero : f32) outs(%private : memref<64xf32, "row">)
  return
}

// CHECK-LABEL: func.func @loops
func.func @loops(%count: index, %zero: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : !shared
  // A round follows another: the first access in a loop waits, and so does the first behind it.
  // CHECK: scf.for
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: linalg.fill
  // CHECK: }
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: linalg.fill
  scf.for %i = %c0 to %count step %c1 {
    linalg.fill ins(%zero : f32) outs(%a : !shared)
  }
  linalg.fill ins(%zero : f32) outs(%a : !shared)
  return
}
