// REQUIRES: plugin-quantization
// RUN: %tw-opt %s --split-input-file --verify-diagnostics --tile-pack-weights --tile-quantize-activations | FileCheck %s

// One quantisation of the rows serves both linear maps of their groups.
// CHECK-LABEL: func.func @two
func.func @two(%x: tensor<?x64xf32>, %a: tensor<3x32x64x!quantization.q4_1>, %b: tensor<3x16x64x!quantization.q8_0>, %o: tensor<4xi32>) -> (tensor<?x32xf32>, tensor<?x16xf32>) {
  // CHECK: %[[Q:[a-z0-9_]+]], %[[S:[a-z0-9_]+]], %[[Z:[a-z0-9_]+]] = tw.quantize_rows %{{.*}} block 16
  // CHECK-NEXT: tw.packed_grouped_linear %[[Q]] scales(%[[S]] : tensor<?x4xf32>) sums(%[[Z]] : tensor<?x4xf32>) weight(%{{.*}} : tensor<6x2x320xi8>) offsets(%{{.*}} : tensor<4xi32>) {element = !quantization.q4_1} : tensor<?x64xi8> -> tensor<?x32xf32>
  // CHECK-NEXT: tw.packed_grouped_linear %[[Q]] scales(%[[S]] : tensor<?x4xf32>) sums(%[[Z]] : tensor<?x4xf32>) weight(%{{.*}} : tensor<3x2x544xi8>) offsets(%{{.*}} : tensor<4xi32>) {element = !quantization.q8_0} : tensor<?x64xi8> -> tensor<?x16xf32>
  %y = tw.grouped_linear %x, %a offsets %o : tensor<?x64xf32>, tensor<3x32x64x!quantization.q4_1>, tensor<4xi32> -> tensor<?x32xf32>
  %z = tw.grouped_linear %x, %b offsets %o : tensor<?x64xf32>, tensor<3x16x64x!quantization.q8_0>, tensor<4xi32> -> tensor<?x16xf32>
  return %y, %z : tensor<?x32xf32>, tensor<?x16xf32>
}

// -----

func.func @rows_of_a_matrix(%x: tensor<?x64xf32>, %w: tensor<3x20x64x!quantization.q4_1>, %o: tensor<4xi32>) -> tensor<?x20xf32> {
  // expected-error@below {{reads a weight of type 'tensor<3x20x64x!quantization.q4_1>' whose matrices have 20 rows, wanted a multiple of 16}}
  %y = tw.grouped_linear %x, %w offsets %o : tensor<?x64xf32>, tensor<3x20x64x!quantization.q4_1>, tensor<4xi32> -> tensor<?x20xf32>
  return %y : tensor<?x20xf32>
}
