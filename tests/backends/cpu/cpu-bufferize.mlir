// RUN: %tw-opt %s -split-input-file -verify-diagnostics -pass-pipeline='builtin.module(func.func(cpu-bufferize,cse,canonicalize))' | FileCheck %s

// Arguments are used in place; a tile buffer is one aligned stack allocation at the entry, whatever loop it stands in.
// CHECK-LABEL: func @in_place
// CHECK-SAME: (%[[X:.*]]: memref<?x64xf32>, %[[Y:.*]]: memref<?x64xf32>
func.func @in_place(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %begin: index, %end: index) {
  // CHECK: %[[BUFFER:.*]] = memref.alloca() {alignment = 64 : i64} : memref<64xf32>
  // CHECK-NOT: memref.alloc
  // CHECK-NOT: memref.copy
  // CHECK: scf.for %[[I:[a-z0-9]+]] =
  // CHECK: %[[V:.*]] = vector.transfer_read %[[X]][%[[I]],
  // CHECK: vector.transfer_write %[[V]], %[[BUFFER]]
  // CHECK: %[[W:.*]] = vector.transfer_read %[[BUFFER]]
  // CHECK: vector.transfer_write %[[W]], %[[Y]][%[[I]],
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %X = bufferization.to_tensor %x restrict : memref<?x64xf32> to tensor<?x64xf32>
  %Y = bufferization.to_tensor %y restrict writable : memref<?x64xf32> to tensor<?x64xf32>
  %r = scf.for %i = %begin to %end step %c1 iter_args(%Yi = %Y) -> (tensor<?x64xf32>) {
    %b = bufferization.alloc_tensor() : tensor<64xf32>
    %v = vector.transfer_read %X[%i, %c0], %zero {in_bounds = [true]} : tensor<?x64xf32>, vector<64xf32>
    %t = vector.transfer_write %v, %b[%c0] {in_bounds = [true]} : vector<64xf32>, tensor<64xf32>
    %w = vector.transfer_read %t[%c0], %zero {in_bounds = [true]} : tensor<64xf32>, vector<64xf32>
    %n = vector.transfer_write %w, %Yi[%i, %c0] {in_bounds = [true]} : vector<64xf32>, tensor<?x64xf32>
    scf.yield %n : tensor<?x64xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<?x64xf32>, memref<?x64xf32>) -> ()
  return
}

// -----

func.func @dynamic_buffer(%n: index, %y: memref<?xf32>) {
  // expected-error @below {{a tile buffer has the dynamic type 'memref<?xf32>'; tiles of a kernel are static}}
  // expected-error @below {{failed to bufferize op}}
  %b = bufferization.alloc_tensor(%n) : tensor<?xf32>
  bufferization.materialize_in_destination %b in restrict writable %y : (tensor<?xf32>, memref<?xf32>) -> ()
  return
}
