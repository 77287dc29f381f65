// RUN: %tw-opt %s -split-input-file -verify-diagnostics -pass-pipeline='builtin.module(func.func(cpu-bf16-as-bits{level=avx2}))' | FileCheck %s
// RUN: %tw-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(cpu-bf16-as-bits{level=avx512bf16}))' | FileCheck %s --check-prefix=BF16

// CHECK-LABEL: func @moves
// CHECK-SAME: %[[M:.*]]: memref<?x8xi16>, %[[N:.*]]: index, %[[C:.*]]: vector<8xi1>
// CHECK-NOT: bf16
// BF16-LABEL: func @moves
// BF16: arith.extf
func.func @moves(%m: memref<?x8xbf16>, %n: index, %c: vector<8xi1>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // CHECK: %[[ONES:.*]] = arith.constant dense<16256> : vector<8xi16>
  %ones = arith.constant dense<1.0> : vector<8xbf16>
  // CHECK: scf.for {{.*}} iter_args({{.*}} = %[[ONES]]) -> (vector<8xi16>)
  %last = scf.for %i = %zero to %n step %one iter_args(%before = %ones) -> vector<8xbf16> {
    // CHECK: %[[X:.*]] = vector.load %[[M]][{{.*}}] : memref<?x8xi16>, vector<8xi16>
    %x = vector.load %m[%i, %zero] : memref<?x8xbf16>, vector<8xbf16>
    // CHECK: %[[WIDE:.*]] = arith.extui %[[X]] : vector<8xi16> to vector<8xi32>
    // CHECK: %[[SIXTEEN:.*]] = arith.constant dense<16> : vector<8xi32>
    // CHECK: %[[HIGH:.*]] = arith.shli %[[WIDE]], %[[SIXTEEN]]
    // CHECK: %[[F:.*]] = arith.bitcast %[[HIGH]] : vector<8xi32> to vector<8xf32>
    %f = arith.extf %x : vector<8xbf16> to vector<8xf32>
    %g = arith.addf %f, %f : vector<8xf32>
    %bits = arith.fptosi %g : vector<8xf32> to vector<8xi16>
    %back = arith.bitcast %bits : vector<8xi16> to vector<8xbf16>
    // CHECK: arith.fptosi
    // CHECK-NEXT: arith.select %[[C]], %{{.*}}, %{{.*}} : vector<8xi1>, vector<8xi16>
    %chosen = arith.select %c, %back, %before : vector<8xi1>, vector<8xbf16>
    scf.yield %chosen : vector<8xbf16>
  }
  // CHECK: vector.store {{.*}} : memref<?x8xi16>, vector<8xi16>
  vector.store %last, %m[%zero, %zero] : memref<?x8xbf16>, vector<8xbf16>
  return
}

// -----

func.func @sums(%x: vector<8xbf16>) -> vector<8xbf16> {
  // expected-error @+2 {{'arith.addf' op calculates in bf16; kernels calculate in f32}}
  // expected-error @+1 {{failed to legalize operation 'arith.addf'}}
  %y = arith.addf %x, %x : vector<8xbf16>
  return %y : vector<8xbf16>
}
