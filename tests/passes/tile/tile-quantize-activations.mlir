// RUN: %tw-opt %s --tile-quantize-activations | FileCheck %s
// RUN: %tw-opt %s --tile-quantize-activations --remark-format=emitRemark --remarks-filter="receipt.*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=RECEIPT

// A storage type without an integer form keeps its float products (types with one: tests/e2e/integer-products.mlir).
// CHECK-LABEL: func.func @float
// RECEIPT: [Missed] tile-quantize-activations | Category:receipt:integer_products | Function=float | Reason="weights of type f32 have no integer form", ToChange="quantise the weight (q4_0, q4_1 or q8_0, say), or nothing, where it should keep its precision"
func.func @float(%x: tensor<?x64xf32>, %w: tensor<2x2x2048xi8>) -> tensor<?x32xf32> {
  // CHECK-NOT: tw.quantize_rows
  // CHECK: tw.packed_linear %{{.*}} weight(%{{.*}}) {element = f32} : tensor<?x64xf32> -> tensor<?x32xf32>
  %y = tw.packed_linear %x weight(%w : tensor<2x2x2048xi8>) {element = f32} : tensor<?x64xf32> -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}
