// RUN: %tw-opt --canonicalize --split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @reshape_to_own_type
// CHECK-SAME: (%[[X:.*]]: tensor<?x9x64xf32>)
func.func @reshape_to_own_type(%x: tensor<?x9x64xf32>) -> tensor<?x9x64xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = tw.reshape %x : tensor<?x9x64xf32> -> tensor<?x576xf32>
  %1 = tw.reshape %0 : tensor<?x576xf32> -> tensor<?x9x64xf32>
  return %1 : tensor<?x9x64xf32>
}

// -----

// CHECK-LABEL: func.func @reshape_of_reshape
// CHECK-SAME: (%[[X:.*]]: tensor<4x6xf32>)
func.func @reshape_of_reshape(%x: tensor<4x6xf32>) -> tensor<2x12xf32> {
  // CHECK-NEXT: %[[Y:.*]] = tw.reshape %[[X]] : tensor<4x6xf32> -> tensor<2x12xf32>
  // CHECK-NEXT: return %[[Y]]
  %0 = tw.reshape %x : tensor<4x6xf32> -> tensor<24xf32>
  %1 = tw.reshape %0 : tensor<24xf32> -> tensor<2x12xf32>
  return %1 : tensor<2x12xf32>
}

// -----

// CHECK-LABEL: func.func @reshape_of_constant
func.func @reshape_of_constant() -> tensor<2x2xf32> {
  // CHECK-NEXT: %[[Y:.*]] = tw.constant dense<{{\[}}[1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>
  // CHECK-NEXT: return %[[Y]]
  %0 = tw.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %1 = tw.reshape %0 : tensor<4xf32> -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}

// -----

// With two dynamic dimensions the sizes need not be the same.
// CHECK-LABEL: func.func @reshape_stays
func.func @reshape_stays(%x: tensor<?x?xf32>) -> tensor<?x4xf32> {
  // CHECK: tw.reshape
  %0 = tw.reshape %x : tensor<?x?xf32> -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// CHECK-LABEL: func.func @transposes
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4xf32>)
func.func @transposes(%x: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<4x3x2xf32>) {
  // CHECK-NEXT: %[[Y:.*]] = tw.transpose %[[X]] perm [2, 1, 0] : tensor<2x3x4xf32> -> tensor<4x3x2xf32>
  // CHECK-NEXT: return %[[X]], %[[Y]]
  %0 = tw.transpose %x perm [1, 0, 2] : tensor<2x3x4xf32> -> tensor<3x2x4xf32>
  %1 = tw.transpose %0 perm [1, 0, 2] : tensor<3x2x4xf32> -> tensor<2x3x4xf32>
  %2 = tw.transpose %0 perm [2, 0, 1] : tensor<3x2x4xf32> -> tensor<4x3x2xf32>
  return %1, %2 : tensor<2x3x4xf32>, tensor<4x3x2xf32>
}

// -----

// CHECK-LABEL: func.func @nothing_to_do
// CHECK-SAME: (%[[X:.*]]: tensor<?x8xf32>, %[[Y:.*]]: tensor<4x8xf32>)
func.func @nothing_to_do(%x: tensor<?x8xf32>, %y: tensor<4x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<4x8xf32>) {
  // CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[Y]]
  %0 = tw.slice %x dim 1 start 0 size 8 : tensor<?x8xf32> -> tensor<?x8xf32>
  %1 = tw.concat dim 0 %x : tensor<?x8xf32> -> tensor<?x8xf32>
  %2 = tw.cast %x : tensor<?x8xf32> -> tensor<?x8xf32>
  %3 = tw.broadcast %y like %y dims [0, 1] : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  return %0, %1, %2, %3 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @select
// CHECK-SAME: (%[[C:.*]]: tensor<4xi1>, %[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>)
func.func @select(%c: tensor<4xi1>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: return %[[A]], %[[B]]
  %false = tw.constant dense<false> : tensor<4xi1>
  %0 = tw.select %c, %a, %a : tensor<4xi1>, tensor<4xf32>
  %1 = tw.select %false, %a, %b : tensor<4xi1>, tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
