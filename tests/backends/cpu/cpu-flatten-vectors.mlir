// RUN: %tw-opt %s -pass-pipeline='builtin.module(func.func(cpu-flatten-vectors{level=avx512}))' | FileCheck %s

// CHECK-LABEL: func @narrow_rows
func.func @narrow_rows(%x: vector<4x16x4xi8>, %y: vector<4x16x4xi8>) -> vector<4x16x4xi8> {
  // CHECK: arith.andi {{.*}} : vector<256xi8>
  // CHECK-NOT: vector.shape_cast {{.*}} to vector<4x16x4xi8>
  // CHECK: arith.ori {{.*}} : vector<256xi8>
  // CHECK: vector.shape_cast {{.*}} to vector<4x16x4xi8>
  %a = arith.andi %x, %y : vector<4x16x4xi8>
  %b = arith.ori %a, %y : vector<4x16x4xi8>
  return %b : vector<4x16x4xi8>
}

// Rows that fill registers stay rows.
// CHECK-LABEL: func @wide_rows
func.func @wide_rows(%x: vector<8x16xf32>) -> vector<8x16xf32> {
  // CHECK: arith.negf {{.*}} : vector<8x16xf32>
  %a = arith.negf %x : vector<8x16xf32>
  return %a : vector<8x16xf32>
}

// CHECK-LABEL: func @memory
func.func @memory(%x: memref<4x16x4xi8>) -> vector<4x16x4xi8> {
  // CHECK: vector.transfer_read {{.*}} : memref<256xi8>, vector<256xi8>
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0 : i8
  %v = vector.transfer_read %x[%c0, %c0, %c0], %pad {in_bounds = [true, true, true]} : memref<4x16x4xi8>, vector<4x16x4xi8>
  return %v : vector<4x16x4xi8>
}

// One element has nothing to flatten.
// CHECK-LABEL: func @one_element
func.func @one_element(%x: memref<4x16xi8>, %y: memref<1x1xi8>) {
  // CHECK: vector.transfer_read {{.*}} : memref<4x16xi8>, vector<1x1xi8>
  // CHECK: vector.transfer_write {{.*}} : vector<1x1xi8>, memref<1x1xi8>
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0 : i8
  %v = vector.transfer_read %x[%c0, %c0], %pad {in_bounds = [true, true]} : memref<4x16xi8>, vector<1x1xi8>
  vector.transfer_write %v, %y[%c0, %c0] {in_bounds = [true, true]} : vector<1x1xi8>, memref<1x1xi8>
  return
}

// The rows are repeated one by one, as they were, and not the whole of them: the cast does not become a broadcast.
// CHECK-LABEL: func @repeated_rows
func.func @repeated_rows(%x: vector<5x1x4xf32>) -> vector<5x5x4xf32> {
  // CHECK: vector.broadcast {{.*}} : vector<5x1x4xf32> to vector<5x5x1x4xf32>
  // CHECK: vector.shape_cast {{.*}} : vector<5x5x1x4xf32> to vector<5x5x4xf32>
  %b = vector.broadcast %x : vector<5x1x4xf32> to vector<5x5x1x4xf32>
  %c = vector.shape_cast %b : vector<5x5x1x4xf32> to vector<5x5x4xf32>
  return %c : vector<5x5x4xf32>
}

// CHECK-LABEL: func @repeated_whole
func.func @repeated_whole(%x: vector<1x4xf32>) -> vector<5x4xf32> {
  // CHECK: vector.broadcast %{{.*}} : vector<1x4xf32> to vector<5x4xf32>
  // CHECK-NEXT: return
  %b = vector.broadcast %x : vector<1x4xf32> to vector<5x1x4xf32>
  %c = vector.shape_cast %b : vector<5x1x4xf32> to vector<5x4xf32>
  return %c : vector<5x4xf32>
}
