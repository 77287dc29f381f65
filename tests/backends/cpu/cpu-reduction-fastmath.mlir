// RUN: %tw-opt %s -pass-pipeline='builtin.module(func.func(cpu-reduction-fastmath))' | FileCheck %s

// CHECK-LABEL: func @sum
func.func @sum(%x: vector<64xf32>) -> f32 {
  // CHECK: vector.reduction <add>, %{{.*}} fastmath<reassoc>
  %r = vector.reduction <add>, %x : vector<64xf32> into f32
  return %r : f32
}

// One compare and one select a step; no flag that makes NaN undefined.
// CHECK-LABEL: func @largest
func.func @largest(%x: vector<32xf32>, %acc: f32) -> f32 {
  // CHECK-NOT: fastmath
  // CHECK: %[[A:.*]] = vector.extract_strided_slice {{.*}} {offsets = [0], sizes = [16]
  // CHECK: %[[B:.*]] = vector.extract_strided_slice {{.*}} {offsets = [16], sizes = [16]
  // CHECK: %[[C:.*]] = arith.cmpf ogt, %[[A]], %[[B]]
  // CHECK: arith.select %[[C]], %[[A]], %[[B]]
  // CHECK-NOT: cmpf uno
  // CHECK: return
  %r = vector.reduction <maxnumf>, %x, %acc : vector<32xf32> into f32
  return %r : f32
}

// maximumf keeps NaN.
// CHECK-LABEL: func @largest_or_nan
func.func @largest_or_nan(%x: vector<8xf32>) -> f32 {
  // CHECK: arith.cmpf ogt
  // CHECK: arith.cmpf uno
  %r = vector.reduction <maximumf>, %x : vector<8xf32> into f32
  return %r : f32
}

// Of absolute values the order of the bits is the order of the numbers, with NaN above all.
// CHECK-LABEL: func @absolute
func.func @absolute(%x: vector<32xf32>) -> f32 {
  // CHECK: %[[A:.*]] = math.absf
  // CHECK: %[[B:.*]] = arith.bitcast %[[A]] : vector<32xf32> to vector<32xi32>
  // CHECK: vector.reduction <maxui>, %[[B]]
  %a = math.absf %x : vector<32xf32>
  %r = vector.reduction <maximumf>, %a : vector<32xf32> into f32
  return %r : f32
}

// CHECK-LABEL: func @smallest
func.func @smallest(%x: vector<8xf32>) -> f32 {
  // CHECK: arith.cmpf olt
  %r = vector.reduction <minnumf>, %x : vector<8xf32> into f32
  return %r : f32
}
