// RUN: %tw-opt %s -split-input-file -verify-diagnostics -cpu-kernel-entry | FileCheck %s

// Pointers are data, values stand in their slots, inner sizes come from the symbols' arguments.
// CHECK-LABEL: func.func @kernel(
// CHECK-SAME: %[[ARGS:.*]]: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64)
// CHECK-DAG: %[[S0:.*]] = llvm.getelementptr %[[ARGS]][0]
// CHECK-DAG: %[[S1:.*]] = llvm.getelementptr %[[ARGS]][1]
// CHECK-DAG: %[[S2:.*]] = llvm.getelementptr %[[ARGS]][2]
// CHECK: %[[DATA:.*]] = llvm.load %[[S0]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[K:.*]] = llvm.load %[[S1]] : !llvm.ptr -> i64
// CHECK: llvm.insertvalue %[[DATA]], %{{.*}}[0]
// CHECK: llvm.insertvalue %[[DATA]], %{{.*}}[1]
// CHECK: %[[M:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<?x?xf32>
// CHECK: %[[KI:.*]] = arith.index_cast
// CHECK: %[[F:.*]] = llvm.load %[[S2]] : !llvm.ptr -> f32
// CHECK: %[[B:.*]] = arith.index_cast %[[BEGIN]] : i64 to index
// CHECK: %[[E:.*]] = arith.index_cast %[[END]] : i64 to index
// CHECK: call @kernel.body(%[[M]], %[[KI]], %[[F]], %[[B]], %[[E]])
// CHECK: func.func private @kernel.body(
// CHECK-NOT: tw.
func.func @kernel(%x: memref<?x?xf32> {tw.dims = ["N", "K"]}, %k: index {tw.symbol = "K"}, %f: f32, %begin: index, %end: index) {
  return
}

// -----

// expected-error @below {{kernel has 1 results, wanted none}}
func.func @result(%x: memref<4xf32>, %begin: index, %end: index) -> index {
  return %begin : index
}

// -----

// expected-error @below {{kernel's last two arguments are not the index range of chunks}}
func.func @no_range(%x: memref<4xf32>, %begin: index) {
  return
}

// -----

// expected-error @below {{kernel argument 0 is 'tensor<4xf32>', wanted a memref with identity layout, an index or a scalar}}
func.func @tensor(%x: tensor<4xf32>, %begin: index, %end: index) {
  return
}

// -----

// expected-error @below {{kernel argument 0 is 'memref<4xf32, strided<[2]>>', wanted a memref with identity layout, an index or a scalar}}
func.func @strided(%x: memref<4xf32, strided<[2]>>, %begin: index, %end: index) {
  return
}

// -----

// expected-error @below {{kernel argument 0 is 'i128', which does not fit a 64-bit slot}}
func.func @wide(%x: i128, %begin: index, %end: index) {
  return
}

// -----

// expected-error @below {{kernel argument 0 carries symbol 'K' but is 'i32', wanted index}}
func.func @symbol_type(%k: i32 {tw.symbol = "K"}, %begin: index, %end: index) {
  return
}

// -----

// expected-error @below {{symbol 'K' is carried by two arguments}}
func.func @symbol_twice(%k: index {tw.symbol = "K"}, %l: index {tw.symbol = "K"}, %begin: index, %end: index) {
  return
}

// -----

// expected-error @below {{kernel argument 0 has rank 2 but 1 entries in tw.dims}}
func.func @rank(%x: memref<4x?xf32> {tw.dims = [4]}, %begin: index, %end: index) {
  return
}

// -----

// expected-error @below {{kernel argument 0: dimension 1 of 'memref<4x?xf32>' is dynamic, but tw.dims names no symbol for it}}
func.func @no_dims(%x: memref<4x?xf32>, %begin: index, %end: index) {
  return
}

// -----

// expected-error @below {{kernel argument 0: no index argument carries symbol 'K' (tw.symbol)}}
func.func @no_symbol(%x: memref<4x?xf32> {tw.dims = [4, "K"]}, %begin: index, %end: index) {
  return
}

// -----

// The outermost size needs its symbol only where the kernel asks for it.
// expected-error @below {{kernel argument 0: no index argument carries symbol 'N' (tw.symbol)}}
func.func @outer_size(%x: memref<?xindex> {tw.dims = ["N"]}, %begin: index, %end: index) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xindex>
  memref.store %n, %x[%c0] : memref<?xindex>
  return
}
