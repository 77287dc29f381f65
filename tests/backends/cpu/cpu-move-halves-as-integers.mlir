// RUN: %tw-opt %s -pass-pipeline='builtin.module(func.func(cpu-move-halves-as-integers))' | FileCheck %s

// What only moves is i16 from the load to the store; what computes has the floats.
// CHECK-LABEL: func @moves(
// CHECK-SAME: memref<33xi16>, %{{.*}}: memref<33xi16>
func.func @moves(%a: memref<33xbf16>, %b: memref<33xbf16>) {
  %c0 = arith.constant 0 : index
  // CHECK-DAG: arith.constant dense<16256> : vector<33xi16>
  %ones = arith.constant dense<1.0> : vector<33xbf16>
  // CHECK: %[[X:.*]] = vector.load {{.*}} : memref<33xi16>, vector<33xi16>
  %x = vector.load %a[%c0] : memref<33xbf16>, vector<33xbf16>
  // CHECK: vector.store %[[X]]
  vector.store %x, %b[%c0] : memref<33xbf16>, vector<33xbf16>
  // CHECK: %[[F:.*]] = arith.bitcast %[[X]] : vector<33xi16> to vector<33xbf16>
  // CHECK: arith.extf %[[F]]
  %wide = arith.extf %x : vector<33xbf16> to vector<33xf32>
  // CHECK: %[[T:.*]] = arith.truncf
  // CHECK: %[[I:.*]] = arith.bitcast %[[T]] : vector<33xbf16> to vector<33xi16>
  // CHECK: vector.store %[[I]]
  %y = arith.truncf %wide : vector<33xf32> to vector<33xbf16>
  vector.store %y, %b[%c0] : memref<33xbf16>, vector<33xbf16>
  vector.store %ones, %b[%c0] : memref<33xbf16>, vector<33xbf16>
  return
}
