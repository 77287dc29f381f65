// RUN: %tw-opt %s -pass-pipeline='builtin.module(func.func(cpu-expand-math))' | FileCheck %s

// exp2: clamped so that NaN passes, rounded by a magic number, a polynomial, a power of two made of bits.
// CHECK-LABEL: func @exp2
// CHECK-SAME: (%[[X:.*]]: vector<16xf32>)
func.func @exp2(%x: vector<16xf32>) -> vector<16xf32> {
  // CHECK-DAG: %[[LOW:.*]] = arith.constant dense<-1.270000e+02>
  // CHECK-DAG: %[[HIGH:.*]] = arith.constant dense<1.280000e+02>
  // CHECK-DAG: %[[MAGIC:.*]] = arith.constant dense<0x4B40007F> : vector<16xf32>
  // CHECK: %[[C:.*]] = arith.cmpf ogt, %[[LOW]], %[[X]]
  // CHECK: %[[D:.*]] = arith.select %[[C]], %[[LOW]], %[[X]]
  // CHECK: %[[E:.*]] = arith.cmpf olt, %[[HIGH]], %[[D]]
  // CHECK: %[[F:.*]] = arith.select %[[E]], %[[HIGH]], %[[D]]
  // CHECK: %[[T:.*]] = arith.addf %[[F]], %[[MAGIC]]
  // CHECK-COUNT-5: math.fma
  // CHECK: arith.bitcast %[[T]] : vector<16xf32> to vector<16xi32>
  // CHECK: arith.shli
  // CHECK: arith.mulf
  // CHECK-NOT: math.exp2
  %y = math.exp2 %x : vector<16xf32>
  return %y : vector<16xf32>
}

// CHECK-LABEL: func @exp
func.func @exp(%x: f32) -> f32 {
  // CHECK-NOT: math.exp
  // CHECK: return
  %y = math.exp %x : f32
  return %y : f32
}

// CHECK-LABEL: func @others
func.func @others(%x: vector<8xf32>) -> vector<8xf32> {
  // CHECK-NOT: math.{{tanh|erf|sin|cos|log}}
  // CHECK: return
  %a = math.tanh %x : vector<8xf32>
  %b = math.erf %a : vector<8xf32>
  %c = math.sin %b : vector<8xf32>
  %d = math.cos %c : vector<8xf32>
  %e = math.log2 %d : vector<8xf32>
  %f = math.log %e : vector<8xf32>
  return %f : vector<8xf32>
}
