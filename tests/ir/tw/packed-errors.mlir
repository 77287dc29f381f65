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
  // expected-error@+1 {{result has 65 columns, wanted a multiple of the block of 'f32', 32}}
  %0 = tw.packed_gather %t, %ids {element = f32} : tensor<4x2x2048xi8>, tensor<?xi32> -> tensor<?x65xf32>
  return
}

// -----

func.func @packed_gather_c2(%t: tensor<4x2x2048xi8>, %ids: tensor<3xi32>) {
  // expected-error@+1 {{result is 'tensor<4x64xf32>', wanted f32 rows, one for each of 'tensor<3xi32>'}}
  %0 = tw.packed_gather %t, %ids {element = f32} : tensor<4x2x2048xi8>, tensor<3xi32> -> tensor<4x64xf32>
  return
}

// -----

func.func @dispatch_c1_no_kernel(%x: tensor<4xf32>) {
  // expected-error@+1 {{names kernel 'absent', which is no function of this module}}
  %0 = tw.dispatch @absent(%x) chunks affine_map<()[n, r, t, l] -> (n)> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @kernel(tensor<4xf32> {tw.source = ["operand", 1]})
func.func @dispatch_c1_number(%x: tensor<4xf32>) {
  // expected-error@+1 {{takes argument 0 from ["operand", 1], wanted a number below 1}}
  %0 = tw.dispatch @kernel(%x) chunks affine_map<()[n, r, t, l] -> (n)> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @kernel(tensor<4xf32> {tw.source = ["elsewhere", 0]})
func.func @dispatch_c1_kind(%x: tensor<4xf32>) {
  // expected-error@+1 {{wanted operand, result, state or table}}
  %0 = tw.dispatch @kernel(%x) chunks affine_map<()[n, r, t, l] -> (n)> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @kernel(memref<?xi32> {tw.source = ["table", "rows"]})
func.func @dispatch_c1_table(%x: tensor<4xf32>) {
  // expected-error@+1 {{wanted a table: tiles, pages or row_slots}}
  %0 = tw.dispatch @kernel(%x) chunks affine_map<()[n, r, t, l] -> (n)> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @kernel(tensor<4xf32> {tw.source = ["state", 0, 0]})
func.func @dispatch_c1_state(%x: tensor<4xf32>) {
  // expected-error@+1 {{wanted a buffer of a state operand}}
  %0 = tw.dispatch @kernel(%x) chunks affine_map<()[n, r, t, l] -> (n)> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @kernel(tensor<4xf32>)
func.func @dispatch_c2(%x: tensor<4xf32>) {
  // expected-error@+1 {{chunks has 1 dimensions, 0 symbols and 1 results, wanted 0, 4 and 1}}
  %0 = tw.dispatch @kernel(%x) chunks affine_map<(d0) -> (d0)> : (tensor<4xf32>) -> tensor<4xf32>
  return
}
