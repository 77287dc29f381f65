// RUN: %tw-opt %s -pass-pipeline='builtin.module(func.func(cpu-lower-vectors))' | FileCheck %s

// CHECK-LABEL: func @transfers
func.func @transfers(%x: memref<2x16xf32>, %y: memref<2x16xf32>) {
  // CHECK-COUNT-2: vector.load {{.*}} vector<16xf32>
  // CHECK-NOT: vector.transfer
  // CHECK: vector.store {{.*}} vector<16xf32>
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%c0, %c0], %zero {in_bounds = [true, true]} : memref<2x16xf32>, vector<2x16xf32>
  vector.transfer_write %v, %y[%c0, %c0] {in_bounds = [true, true]} : vector<2x16xf32>, memref<2x16xf32>
  return
}

// CHECK-LABEL: func @row_sums
func.func @row_sums(%x: vector<2x16xf32>, %acc: vector<2xf32>) -> vector<2xf32> {
  // CHECK-COUNT-2: vector.reduction <add>
  // CHECK-NOT: vector.multi_reduction
  %r = vector.multi_reduction <add>, %x, %acc [1] : vector<2x16xf32> to vector<2xf32>
  return %r : vector<2xf32>
}

// A value per row, repeated along the row: numbers are splatted, nothing is transposed.
// CHECK-LABEL: func @per_row
func.func @per_row(%x: vector<4xf32>) -> vector<4x16xf32> {
  // CHECK-NOT: vector.transpose
  // CHECK-NOT: vector.shuffle
  // CHECK: vector.broadcast {{.*}} : f32 to vector<16xf32>
  // CHECK-NOT: vector.shuffle
  // CHECK: return
  %b = vector.broadcast %x : vector<4xf32> to vector<16x4xf32>
  %t = vector.transpose %b, [1, 0] : vector<16x4xf32> to vector<4x16xf32>
  return %t : vector<4x16xf32>
}
