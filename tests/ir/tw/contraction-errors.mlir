// RUN: %tw-opt %s --split-input-file --verify-diagnostics

func.func @batch_matmul_c1_rank(%a: tensor<4xf32>) {
  // expected-error @+1 {{operands are 'tensor<4xf32>' and 'tensor<4xf32>', wanted one rank of at least 2, one element type and equal leading dimensions}}
  %0 = tw.batch_matmul %a, %a : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @batch_matmul_c1_leading(%a: tensor<2x3x4xf32>, %b: tensor<1x4x5xf32>) {
  // expected-error @+1 {{wanted one rank of at least 2, one element type and equal leading dimensions}}
  %0 = tw.batch_matmul %a, %b : tensor<2x3x4xf32>, tensor<1x4x5xf32> -> tensor<2x3x5xf32>
  return
}

// -----

func.func @batch_matmul_c2(%a: tensor<2x3x4xf32>, %b: tensor<2x5x6xf32>) {
  // expected-error @+1 {{contracts dimensions of 4 and 5 elements, wanted equal ones}}
  %0 = tw.batch_matmul %a, %b : tensor<2x3x4xf32>, tensor<2x5x6xf32> -> tensor<2x3x6xf32>
  return
}

// -----

func.func @batch_matmul_c3(%a: tensor<2x3x4xf32>, %b: tensor<2x5x4xf32>) {
  // expected-error @+1 {{result is 'tensor<2x3x4xf32>', wanted 'tensor<2x3x5xf32>'}}
  %0 = tw.batch_matmul %a, %b {transpose_b = true} : tensor<2x3x4xf32>, tensor<2x5x4xf32> -> tensor<2x3x4xf32>
  return
}

// -----

func.func @softmax_c1_range(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{has dim 2 of 'tensor<2x3xf32>', wanted a dimension that is not empty}}
  %0 = tw.softmax %a dim 2 : tensor<2x3xf32>
  return
}

// -----

func.func @softmax_c1_empty(%a: tensor<2x0xf32>) {
  // expected-error @+1 {{has dim 1 of 'tensor<2x0xf32>', wanted a dimension that is not empty}}
  %0 = tw.softmax %a dim 1 : tensor<2x0xf32>
  return
}

// -----

func.func @dispatch_c1_missing(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{names kernel 'nowhere', which is no function of this module}}
  %0 = tw.dispatch @nowhere(%x) chunks affine_map<()[n, r, t, l] -> (n)> : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func private @kernel(memref<?x4xf32> {tw.source = ["operand", 1]}, index, index)
func.func @dispatch_c1_operand(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{kernel 'kernel' takes argument 0 from ["operand", 1], wanted a number below 1}}
  %0 = tw.dispatch @kernel(%x) chunks affine_map<()[n, r, t, l] -> (n)> : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func private @kernel(memref<?x4xf32> {tw.source = ["state", 0, 0]}, index, index)
func.func @dispatch_c1_state(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{kernel 'kernel' takes argument 0 from ["state", 0, 0], wanted a buffer of a state operand}}
  %0 = tw.dispatch @kernel(%x) chunks affine_map<()[n, r, t, l] -> (n)> : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func private @kernel(memref<?xi32> {tw.source = ["table", "chairs"]}, index, index)
func.func @dispatch_c1_table(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{kernel 'kernel' takes argument 0 from ["table", "chairs"], wanted a table: tiles, pages or row_slots, or source_ and one of these}}
  %0 = tw.dispatch @kernel(%x) chunks affine_map<()[n, r, t, l] -> (n)> : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func private @kernel(memref<?x4xf32>, index, index)
func.func @dispatch_c2(%x: tensor<?x4xf32>) {
  // expected-error @+1 {{chunks has 1 dimensions, 0 symbols and 1 results, wanted 0, 4 and 1}}
  %0 = tw.dispatch @kernel(%x) chunks affine_map<(n) -> (n)> : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}
