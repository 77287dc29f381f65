// REQUIRES: plugin-quantization
// RUN: %tw-opt %s --tile-pack-weights --tile-quantize-activations | FileCheck %s
// RUN: %tw-opt %s --tile-pack-weights --tile-quantize-activations --remark-format=emitRemark --remarks-filter='receipt.*' -o /dev/null 2>&1 | FileCheck %s --check-prefix=RECEIPT
// Signed bytes have an integer form without a scale; the channels' scales are a product behind it. Rows that end within a block of
// 32 stay floats, and the receipt says so.

// CHECK-LABEL: func.func @channels
// CHECK: tw.quantize_rows %{{.*}} block 16
// CHECK: tw.packed_linear %{{.*}} scales({{.*}}) sums({{.*}}) weight(%{{.*}} : tensor<2x2x512xi8>) {element = !quantization.int8} : tensor<?x64xi8> -> tensor<?x20xf32>
// CHECK: tw.mul
func.func @channels(%x: tensor<?x64xf32>, %w: tensor<20x64x!quantization.int8>, %scale: tensor<20xf32>) -> tensor<?x20xf32> {
  %q = tw.linear %x, %w : tensor<?x64xf32>, tensor<20x64x!quantization.int8> -> tensor<?x20xf32>
  %s = tw.broadcast %scale like %q dims [1] : tensor<20xf32>, tensor<?x20xf32> -> tensor<?x20xf32>
  %y = tw.mul %q, %s : tensor<?x20xf32>
  return %y : tensor<?x20xf32>
}

// CHECK-LABEL: func.func @odd
// CHECK-NOT: tw.quantize_rows
// CHECK: tw.packed_linear %{{.*}} weight(%{{.*}} : tensor<1x2x512xi8>) {element = !quantization.int8} : tensor<?x45xf32> -> tensor<?x12xf32>
// RECEIPT: its rows have 45 elements, wanted a multiple of the 32 of a block{{.*}}fill rows and inputs up with zeros
func.func @odd(%x: tensor<?x45xf32>, %w: tensor<12x45x!quantization.int8>) -> tensor<?x12xf32> {
  %y = tw.linear %x, %w : tensor<?x45xf32>, tensor<12x45x!quantization.int8> -> tensor<?x12xf32>
  return %y : tensor<?x12xf32>
}
