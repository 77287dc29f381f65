// RUN: %tw-opt %s -pass-pipeline='builtin.module(func.func(cpu-round-bf16{level=avx512}))' | FileCheck %s
// RUN: %tw-opt %s -pass-pipeline='builtin.module(func.func(cpu-round-bf16{level=avx512bf16}))' | FileCheck %s --check-prefix=BF16

// CHECK-LABEL: func @round
// CHECK-SAME: (%[[X:.*]]: vector<16xf32>)
// BF16-LABEL: func @round
func.func @round(%x: vector<16xf32>) -> vector<16xbf16> {
  // CHECK-DAG: %[[HALF:.*]] = arith.constant dense<32767>
  // CHECK-DAG: %[[QUIET:.*]] = arith.constant dense<4194304>
  // CHECK: %[[B:.*]] = arith.bitcast %[[X]] : vector<16xf32> to vector<16xi32>
  // CHECK: arith.shrui %[[B]]
  // CHECK: %[[LAST:.*]] = arith.andi
  // CHECK: %[[S:.*]] = arith.addi %[[B]], %[[HALF]]
  // CHECK: %[[R:.*]] = arith.addi %[[S]], %[[LAST]]
  // CHECK: %[[Q:.*]] = arith.ori %[[B]], %[[QUIET]]
  // CHECK: %[[N:.*]] = arith.cmpf uno, %[[X]], %[[X]]
  // CHECK: arith.select %[[N]], %[[Q]], %[[R]]
  // CHECK: arith.trunci
  // CHECK: arith.bitcast {{.*}} : vector<16xi16> to vector<16xbf16>
  // BF16: arith.truncf
  %y = arith.truncf %x : vector<16xf32> to vector<16xbf16>
  return %y : vector<16xbf16>
}
