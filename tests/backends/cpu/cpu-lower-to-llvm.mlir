// RUN: %tw-opt %s -cpu-kernel-entry -cpu-lower-to-llvm | FileCheck %s

// Visible entry, internal body that is inlined; data pointers do not alias; no loop becomes a library call.
// CHECK-LABEL: llvm.func @kernel(%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64)
// CHECK-SAME: passthrough = ["no-builtins", "nounwind"]
// CHECK: llvm.call @kernel.body
// CHECK-LABEL: llvm.func internal @kernel.body(
// CHECK-SAME: %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64)
// CHECK-SAME: passthrough = ["no-builtins", "nounwind", "alwaysinline"]
// CHECK: llvm.fmul
// CHECK: llvm.store
// CHECK-NOT: unrealized_conversion_cast
func.func @kernel(%x: memref<?xf32> {tw.dims = ["N"]}, %begin: index, %end: index) {
  %c1 = arith.constant 1 : index
  scf.for %i = %begin to %end step %c1 {
    %v = vector.load %x[%i] : memref<?xf32>, vector<4xf32>
    %w = arith.mulf %v, %v : vector<4xf32>
    vector.store %w, %x[%i] : memref<?xf32>, vector<4xf32>
  }
  return
}
