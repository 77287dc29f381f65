// RUN: %tw-opt %s -pass-pipeline='builtin.module(func.func(cpu-contract-to-fma))' | FileCheck %s

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
// Left numbers are loaded one by one where the left operand was read; a right row serves all of them.
// CHECK-LABEL: func @rows
// CHECK-SAME: (%[[X:.*]]: memref<2x1xf32>, %[[W:.*]]: vector<1x32xf32>, %[[ACC:.*]]: vector<2x32xf32>)
func.func @rows(%x: memref<2x1xf32>, %w: vector<1x32xf32>, %acc: vector<2x32xf32>) -> vector<2x32xf32> {
  // CHECK-DAG: %[[A:.*]] = memref.load %[[X]][%c0
  // CHECK-DAG: %[[B:.*]] = memref.load %[[X]][%c1
  // CHECK-DAG: %[[SA:.*]] = vector.broadcast %[[A]]
  // CHECK-DAG: %[[R0:.*]] = vector.extract %[[ACC]][0]
  // CHECK: %[[F0:.*]] = vector.fma %[[SA]], %{{.*}}, %[[R0]]
  // CHECK: %[[R1:.*]] = vector.extract %[[ACC]][1]
  // CHECK: %[[SB:.*]] = vector.broadcast %[[B]]
  // CHECK: %[[F1:.*]] = vector.fma %[[SB]], %{{.*}}, %[[R1]]
  // CHECK: vector.insert %[[F0]]
  // CHECK: vector.insert %[[F1]]
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%c0, %c0], %zero {in_bounds = [true, true]} : memref<2x1xf32>, vector<2x1xf32>
  %r = vector.contract {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"],
      kind = #vector.kind<add>} %v, %w, %acc : vector<2x1xf32>, vector<1x32xf32> into vector<2x32xf32>
  return %r : vector<2x32xf32>
}

// The side that holds the innermost dimension of the result is the row, whichever operand it is.
#xs = affine_map<(m, n, k) -> (n, k)>
#ws = affine_map<(m, n, k) -> (k, m)>
#ys = affine_map<(m, n, k) -> (n, m)>
// CHECK-LABEL: func @swapped
func.func @swapped(%w: vector<2x16xf32>, %x: vector<1x2xf32>, %acc: vector<1x16xf32>) -> vector<1x16xf32> {
  // CHECK-COUNT-2: vector.fma {{.*}} : vector<16xf32>
  // CHECK-NOT: vector.contract
  %r = vector.contract {indexing_maps = [#ws, #xs, #ys], iterator_types = ["parallel", "parallel", "reduction"],
      kind = #vector.kind<add>} %w, %x, %acc : vector<2x16xf32>, vector<1x2xf32> into vector<1x16xf32>
  return %r : vector<1x16xf32>
}
