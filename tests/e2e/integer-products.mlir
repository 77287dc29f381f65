// REQUIRES: plugin-quantization
// RUN: %tw-opt %s --tile-pack-weights --tile-quantize-activations | FileCheck %s
// RUN: %tw-opt %s --tile-pack-weights --tile-quantize-activations --tile-form-kernels --tile-verify-kernel-ops | FileCheck %s --check-prefix=KERNEL

// One quantisation of the input serves all linear maps that read it; the second map's input is the first's result, which
// is quantised where it is computed.
// CHECK-LABEL: func.func @two
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<4x2x320xi8>, %[[B:[a-z0-9]+]]: tensor<4x2x544xi8>
func.func @two(%x: tensor<?x64xf32>, %a: tensor<64x64x!quantization.q4_1>, %b: tensor<64x64x!quantization.q8_0>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  // CHECK: %[[Q:[a-z0-9_]+]], %[[S:[a-z0-9_]+]], %[[Z:[a-z0-9_]+]] = tw.quantize_rows %{{.*}} block 16 : tensor<?x64xf32> -> tensor<?x64xi8>, tensor<?x4xf32>, tensor<?x4xf32>
  // CHECK-NEXT: %[[Y:.*]] = tw.packed_linear %[[Q]] scales(%[[S]] : tensor<?x4xf32>) sums(%[[Z]] : tensor<?x4xf32>) weight(%[[A]] : tensor<4x2x320xi8>) {element = !quantization.q4_1} : tensor<?x64xi8> -> tensor<?x64xf32>
  // CHECK-NEXT: %[[Q2:[a-z0-9_]+]], %[[S2:[a-z0-9_]+]], %[[Z2:[a-z0-9_]+]] = tw.quantize_rows %[[Y]] block 16
  // CHECK-NEXT: tw.packed_linear %[[Q]] scales(%[[S]] : tensor<?x4xf32>) sums(%[[Z]] : tensor<?x4xf32>) weight(%[[B]] : tensor<4x2x544xi8>)
  // CHECK-NEXT: tw.packed_linear %[[Q2]] scales(%[[S2]] : tensor<?x4xf32>) sums(%[[Z2]] : tensor<?x4xf32>) weight(%[[A]] : tensor<4x2x320xi8>)
  %y = tw.linear %x, %a : tensor<?x64xf32>, tensor<64x64x!quantization.q4_1> -> tensor<?x64xf32>
  %z = tw.linear %x, %b : tensor<?x64xf32>, tensor<64x64x!quantization.q8_0> -> tensor<?x64xf32>
  %v = tw.linear %y, %a : tensor<?x64xf32>, tensor<64x64x!quantization.q4_1> -> tensor<?x64xf32>
  return %z, %v : tensor<?x64xf32>, tensor<?x64xf32>
}
// KERNEL-LABEL: func.func @two
// KERNEL: tw.dispatch @two_0_quantize_rows
// KERNEL-DAG: tw.dispatch @two_{{[0-9]}}_packed_linear_quantize_rows
// KERNEL-DAG: tw.dispatch @two_{{[0-9]}}_packed_linear(
// Four bits become bytes, bytes meet bytes in 32 bits.
// KERNEL: tile.load_bits %{{.*}} at 0 width 4 items 0, 1 : tensor<{{.*}}x320xi8> -> tensor<4x16x4xi8>
// KERNEL: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x4x4xi8>, tensor<4x16x4xi8>) outs(%{{.*}} : tensor<1x16xi32>)
