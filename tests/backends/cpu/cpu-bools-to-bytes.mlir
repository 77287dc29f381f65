// RUN: %tw-opt %s --split-input-file -pass-pipeline='builtin.module(func.func(cpu-bools-to-bytes))' --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @bools(
// CHECK-SAME: memref<4x8xi8>, %{{.*}}: memref<4x8xi8>
func.func @bools(%a: memref<4x8xi1>, %b: memref<4x8xi1>) {
  %c0 = arith.constant 0 : index
  %false = arith.constant false
  // CHECK: memref.subview {{.*}} memref<4x8xi8> to memref<1x8xi8
  %row = memref.subview %a[0, 0] [1, 8] [1, 1] : memref<4x8xi1> to memref<1x8xi1, strided<[8, 1]>>
  // CHECK: %[[BYTES:.*]] = vector.transfer_read {{.*}} vector<1x8xi8>
  // CHECK: %[[X:.*]] = arith.trunci %[[BYTES]] : vector<1x8xi8> to vector<1x8xi1>
  %x = vector.transfer_read %row[%c0, %c0], %false {in_bounds = [true, true]} : memref<1x8xi1, strided<[8, 1]>>, vector<1x8xi1>
  // CHECK: %[[Y:.*]] = arith.extui %[[X]] : vector<1x8xi1> to vector<1x8xi8>
  // CHECK: vector.transfer_write %[[Y]]
  vector.transfer_write %x, %b[%c0, %c0] {in_bounds = [true, true]} : vector<1x8xi1>, memref<4x8xi1>
  // CHECK: memref.load {{.*}} : memref<4x8xi8>
  // CHECK: arith.extui {{.*}} : i1 to i8
  // CHECK: memref.store {{.*}} : memref<4x8xi8>
  %s = memref.load %a[%c0, %c0] : memref<4x8xi1>
  memref.store %s, %b[%c0, %c0] : memref<4x8xi1>
  return
}

// -----

func.func @other(%a: memref<8xi1>, %b: memref<8xi1>) {
  // expected-error @below {{works on memory of i1 in a way that has no form on bytes}}
  memref.copy %a, %b : memref<8xi1> to memref<8xi1>
  return
}
