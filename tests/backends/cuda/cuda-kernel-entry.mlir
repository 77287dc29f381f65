// RUN: %tw-opt --pass-pipeline="builtin.module(cuda-kernel-entry)" --split-input-file --verify-diagnostics %s | FileCheck %s

// CHECK: func.func @k(%arg0: !llvm.ptr, %arg1: i64, %arg2: f32, %arg3: i64) attributes {tw.warps = 2 : i64}
// CHECK: %[[X:.+]] = builtin.unrealized_conversion_cast %{{.+}} : !llvm.struct<{{.*}}> to memref<?x4xf32>
// CHECK: %[[N:.+]] = arith.index_cast %arg1 : i64 to index
// CHECK: %[[FIRST:.+]] = arith.index_cast %arg3 : i64 to index
// CHECK: %[[B:.+]] = gpu.block_id x
// CHECK: %[[CHUNK:.+]] = arith.addi %[[FIRST]], %[[B]] : index
// CHECK: %[[END:.+]] = arith.addi %[[CHUNK]], %{{.+}} : index
// CHECK: call @k.body(%[[X]], %[[N]], %arg2, %[[CHUNK]], %[[END]])
// CHECK: func.func private @k.body
func.func @k(%x: memref<?x4xf32> {tw.dims = ["N", 4]}, %n: index {tw.symbol = "N"}, %s: f32, %begin: index, %end: index)
    attributes {tw.warps = 2 : i64} {
  return
}

// -----

// expected-error@below {{has no attribute 'tw.warps': cuda-stage-tiles did not run}}
func.func @k(%begin: index, %end: index) {
  return
}

// -----

// expected-error@below {{kernel's last two arguments are not the index range of chunks}}
func.func @k(%x: memref<4xf32>, %begin: index) attributes {tw.warps = 1 : i64} {
  return
}
