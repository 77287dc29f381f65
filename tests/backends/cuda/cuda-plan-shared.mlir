// RUN: %tw-opt --pass-pipeline="builtin.module(func.func(cuda-plan-shared))" --split-input-file --verify-diagnostics %s | FileCheck %s

!tile = memref<64xf32, #gpu.address_space<workgroup>>

// Loops that follow each other use the same place, behind what lives around them.
// CHECK-LABEL: func.func @loops
// CHECK-SAME: tw.shared_bytes = 512
func.func @loops(%count: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[ALL:.+]] = gpu.dynamic_shared_memory
  // CHECK: memref.view %[[ALL]][%{{.+}}][]
  %around = memref.alloc() : !tile
  memref.store %x, %around[%c0] : !tile
  // CHECK: scf.for
  // CHECK: %[[PLACE:.+]] = arith.constant 256 : index
  // CHECK: memref.view %[[ALL]][%[[PLACE]]][]
  scf.for %i = %c0 to %count step %c1 {
    %inner = memref.alloc() : !tile
    memref.store %x, %inner[%c0] : !tile
  }
  // CHECK: scf.for
  // CHECK: %[[PLACE2:.+]] = arith.constant 256 : index
  // CHECK: memref.view %[[ALL]][%[[PLACE2]]][]
  scf.for %i = %c0 to %count step %c1 {
    %inner = memref.alloc() : memref<3xf32, #gpu.address_space<workgroup>>
    memref.store %x, %inner[%c0] : memref<3xf32, #gpu.address_space<workgroup>>
  }
  return
}

// -----

// expected-error@below {{needs 262144 bytes of shared memory, a block has at most 166912}}
func.func @large(%x: f32) {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<65536xf32, #gpu.address_space<workgroup>>
  memref.store %x, %a[%c0] : memref<65536xf32, #gpu.address_space<workgroup>>
  return
}
