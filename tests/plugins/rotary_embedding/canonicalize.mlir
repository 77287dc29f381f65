// REQUIRES: plugin-rotary_embedding
// RUN: %tw-opt --canonicalize %s | FileCheck %s

// CHECK-LABEL: func.func @nothing_rotary
// CHECK-SAME: (%[[X:.*]]: tensor<?x2x8xf32>
func.func @nothing_rotary(%x: tensor<?x2x8xf32>, %p: tensor<?xi32>) -> tensor<?x2x8xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 0 : i64} : tensor<?x2x8xf32>, tensor<?xi32>
  return %0 : tensor<?x2x8xf32>
}

// CHECK-LABEL: func.func @all_at_zero
// CHECK-SAME: (%[[X:.*]]: tensor<3x2x8xf32>
func.func @all_at_zero(%x: tensor<3x2x8xf32>) -> tensor<3x2x8xf32> {
  // CHECK-NEXT: return %[[X]]
  %p = tw.constant dense<0> : tensor<3xi32>
  %0 = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64} : tensor<3x2x8xf32>, tensor<3xi32>
  return %0 : tensor<3x2x8xf32>
}

// CHECK-LABEL: func.func @others_stay
func.func @others_stay(%x: tensor<3x2x8xf32>) -> tensor<3x2x8xf32> {
  // CHECK: rotary_embedding.rotate
  %p = tw.constant dense<[0, 0, 1]> : tensor<3xi32>
  %0 = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64} : tensor<3x2x8xf32>, tensor<3xi32>
  return %0 : tensor<3x2x8xf32>
}

// CHECK-LABEL: func.func @scaled_at_zero
func.func @scaled_at_zero(%x: tensor<3x2x8xf32>) -> tensor<3x2x8xf32> {
  // CHECK: rotary_embedding.rotate
  %p = tw.constant dense<0> : tensor<3xi32>
  %0 = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64, attention_factor = 1.5 : f64} : tensor<3x2x8xf32>, tensor<3xi32>
  return %0 : tensor<3x2x8xf32>
}

// Scalings that no length changes are constants.
// CHECK-LABEL: func.func @factors
func.func @factors(%n: tensor<?xi32>) -> (tensor<2xf64>, tensor<2xf32>, tensor<?x2xf64>) {
  // CHECK-DAG: tw.constant dense<4.000000e+00> : tensor<2xf64>
  // CHECK-DAG: tw.constant dense<1.000000e+00> : tensor<2xf32>
  // CHECK-DAG: rotary_embedding.factors lengths
  %0 = rotary_embedding.factors {kind = "linear", base = 10000.0 : f64, rotary_dim = 4 : i64, factor = 4.0 : f64} : tensor<2xf64>
  %1 = rotary_embedding.factors {kind = "default", base = 10000.0 : f64, rotary_dim = 4 : i64} : tensor<2xf32>
  %2 = rotary_embedding.factors lengths(%n : tensor<?xi32>) {kind = "dynamic", base = 10000.0 : f64, rotary_dim = 4 : i64, factor = 2.0 : f64, original_max_position_embeddings = 64 : i64} : tensor<?x2xf64>
  return %0, %1, %2 : tensor<2xf64>, tensor<2xf32>, tensor<?x2xf64>
}
