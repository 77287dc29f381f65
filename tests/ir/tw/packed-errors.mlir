// RUN: %tw-opt --verify-diagnostics --split-input-file %s

func.func @packed_gather_c1_element(%t: tensor<4x2x2048xi8>, %ids: tensor<?xi32>) {
  // expected-error@+1 {{element 'i4' is no storage type}}
  %0 = tw.packed_gather %t, %ids {element = i4} : tensor<4x2x2048xi8>, tensor<?xi32> -> tensor<?x64xf32>
  return
}

// -----

func.func @packed_gather_c1_shape(%t: tensor<4x3x2048xi8>, %ids: tensor<?xi32>) {
  // expected-error@+1 {{table has shape 4x3x2048, wanted ?x2x2048}}
  %0 = tw.packed_gather %t, %ids {element = f32} : tensor<4x3x2048xi8>, tensor<?xi32> -> tensor<?x64xf32>
  return
}

// -----

func.func @packed_gather_c1_columns(%t: tensor<4x2x2048xi8>, %ids: tensor<?xi32>) {
  // expected-error@+1 {{table has shape 4x2x2048, wanted ?x3x2048}}
  %0 = tw.packed_gather %t, %ids {element = f32} : tensor<4x2x2048xi8>, tensor<?xi32> -> tensor<?x65xf32>
  return
}

// -----

func.func @packed_gather_c2(%t: tensor<4x2x2048xi8>, %ids: tensor<3xi32>) {
  // expected-error@+1 {{result is 'tensor<4x64xf32>', wanted f32 rows, one for each of 'tensor<3xi32>'}}
  %0 = tw.packed_gather %t, %ids {element = f32} : tensor<4x2x2048xi8>, tensor<3xi32> -> tensor<4x64xf32>
  return
}
