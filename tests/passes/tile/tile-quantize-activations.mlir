// RUN: %tw-opt %s --tile-quantize-activations | FileCheck %s

// A storage type without an integer form keeps its float products (types with one: tests/e2e/integer-products.mlir).
// CHECK-LABEL: func.func @float
func.func @float(%x: tensor<?x64xf32>, %w: tensor<2x2x2048xi8>) -> tensor<?x32xf32> {
  // CHECK-NOT: tw.quantize_rows
  // CHECK: tw.packed_linear %{{.*}} weight(%{{.*}}) {element = f32} : tensor<?x64xf32> -> tensor<?x32xf32>
  %y = tw.packed_linear %x weight(%w : tensor<2x2x2048xi8>) {element = f32} : tensor<?x64xf32> -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}
