// RUN: %tw-opt --pass-pipeline="builtin.module(cuda-lower-to-nvvm)" %s | FileCheck %s

// Shared memory is extern, its size the launch's; bodies are inlined, entries say how many threads they want.
// CHECK: llvm.mlir.global external @[[SHARED:.+]]() {addr_space = 3 : i32
// CHECK: llvm.func @entry(%arg0: !llvm.ptr) attributes {
// CHECK-SAME: nvvm.kernel
// CHECK-SAME: nvvm.minctasm = 1
// CHECK-SAME: nvvm.reqntid = array<i32: 64>
func.func @entry(%p: !llvm.ptr) attributes {tw.warps = 2 : i64} {
  func.call @entry.body() : () -> ()
  return
}
// CHECK: llvm.func internal @entry.body() attributes {
// CHECK-SAME: "alwaysinline"
func.func private @entry.body() {
  // CHECK: llvm.mlir.addressof @[[SHARED]] : !llvm.ptr<3>
  %shared = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
  %c0 = arith.constant 0 : index
  %tile = memref.view %shared[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
  // CHECK: nvvm.read.ptx.sreg.tid.x
  %t = gpu.thread_id x
  // CHECK: nvvm.barrier
  gpu.barrier
  // CHECK: llvm.load %{{.+}} : !llvm.ptr<3> -> f32
  %x = memref.load %tile[%t] : memref<64xf32, #gpu.address_space<workgroup>>
  // CHECK: nvvm.shfl.sync bfly
  %one = arith.constant 1 : i32
  %width = arith.constant 32 : i32
  %y, %ok = gpu.shuffle xor %x, %one, %width : f32
  // CHECK: llvm.intr.sqrt
  %z = math.sqrt %y : f32
  memref.store %z, %tile[%t] : memref<64xf32, #gpu.address_space<workgroup>>
  return
}
