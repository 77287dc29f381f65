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

// A load of seven registers is one of four, one of two and one; three and a half are two, one and a half.
// CHECK-LABEL: func @uneven_load
func.func @uneven_load(%x: memref<112xf32>, %y: memref<56xf32>) -> (vector<112xf32>, vector<56xf32>, vector<64xf32>) {
  // CHECK-DAG: vector.load %{{.*}}[%c0] : memref<112xf32>, vector<64xf32>
  // CHECK-DAG: vector.load %{{.*}}[%c64] : memref<112xf32>, vector<32xf32>
  // CHECK-DAG: vector.load %{{.*}}[%c96] : memref<112xf32>, vector<16xf32>
  // CHECK-DAG: vector.load %{{.*}}[%c0] : memref<56xf32>, vector<32xf32>
  // CHECK-DAG: vector.load %{{.*}}[%c32] : memref<56xf32>, vector<16xf32>
  // CHECK-DAG: vector.load %{{.*}}[%c48] : memref<56xf32>, vector<8xf32>
  // CHECK: vector.load %{{.*}}[%c0] : memref<112xf32>, vector<64xf32>
  // CHECK-NOT: vector.load
  // CHECK: return
  %c0 = arith.constant 0 : index
  %a = vector.load %x[%c0] : memref<112xf32>, vector<112xf32>
  %b = vector.load %y[%c0] : memref<56xf32>, vector<56xf32>
  %c = vector.load %x[%c0] : memref<112xf32>, vector<64xf32>
  return %a, %b, %c : vector<112xf32>, vector<56xf32>, vector<64xf32>
}
