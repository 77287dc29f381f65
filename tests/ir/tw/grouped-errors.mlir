// RUN: %tw-opt --verify-diagnostics --split-input-file %s

func.func @topk_c1(%x: tensor<4x?xf32>) {
  // expected-error@+1 {{has keys of type 'tensor<4x?xf32>', wanted a static last dimension of at least 1}}
  %v, %i = tw.topk %x k 2 : tensor<4x?xf32> -> tensor<4x2xf32>, tensor<4x2xi32>
  return
}

// -----

func.func @topk_c1_empty(%x: tensor<4x0xf32>) {
  // expected-error@+1 {{has keys of type 'tensor<4x0xf32>', wanted a static last dimension of at least 1}}
  %v, %i = tw.topk %x k 2 : tensor<4x0xf32> -> tensor<4x2xf32>, tensor<4x2xi32>
  return
}

// -----

func.func @topk_c2(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{has k 0, wanted at least 1}}
  %v, %i = tw.topk %x k 0 : tensor<4x8xf32> -> tensor<4x2xf32>, tensor<4x2xi32>
  return
}

// -----

func.func @topk_c3(%x: tensor<4x8xf32>, %t: tensor<4x7xf32>) {
  // expected-error@+1 {{takes from 'tensor<4x7xf32>', wanted the keys' type 'tensor<4x8xf32>'}}
  %v, %i = tw.topk %x take %t k 2 : tensor<4x8xf32>, tensor<4x7xf32> -> tensor<4x2xf32>, tensor<4x2xi32>
  return
}

// -----

func.func @topk_c4(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{results are 'tensor<4x3xf32>', 'tensor<4x3xi32>', wanted 'tensor<4x2xf32>' and i32 of its shape}}
  %v, %i = tw.topk %x k 2 : tensor<4x8xf32> -> tensor<4x3xf32>, tensor<4x3xi32>
  return
}

// -----

func.func @group_rows_c1(%i: tensor<3x2xi32>) {
  // expected-error@+1 {{ids have rank 2, wanted 1}}
  %r, %p, %o = tw.group_rows %i groups 4 per_row 2 : tensor<3x2xi32> -> tensor<6xi32>, tensor<6xi32>, tensor<5xi32>
  return
}

// -----

func.func @group_rows_c2(%i: tensor<6xi32>) {
  // expected-error@+1 {{has 0 groups, wanted 1 to 2147483647}}
  %r, %p, %o = tw.group_rows %i groups 0 per_row 2 : tensor<6xi32> -> tensor<6xi32>, tensor<6xi32>, tensor<5xi32>
  return
}

// -----

func.func @group_rows_c2_per_row(%i: tensor<6xi32>) {
  // expected-error@+1 {{has 'tensor<6xi32>' with 4 ids for each row, wanted a divisor of their number}}
  %r, %p, %o = tw.group_rows %i groups 4 per_row 4 : tensor<6xi32> -> tensor<6xi32>, tensor<6xi32>, tensor<5xi32>
  return
}

// -----

func.func @group_rows_c3(%i: tensor<6xi32>) {
  // expected-error@+1 {{results are 'tensor<6xi32>', 'tensor<6xi32>', 'tensor<4xi32>', wanted twice 'tensor<6xi32>' and 'tensor<5xi32>'}}
  %r, %p, %o = tw.group_rows %i groups 4 per_row 2 : tensor<6xi32> -> tensor<6xi32>, tensor<6xi32>, tensor<4xi32>
  return
}

// -----

func.func @grouped_linear_c1(%x: tensor<6x1x8xf32>, %w: tensor<3x5x8xf32>, %o: tensor<4xi32>) {
  // expected-error@+1 {{input has rank 3, wanted 2}}
  %y = tw.grouped_linear %x, %w offsets %o : tensor<6x1x8xf32>, tensor<3x5x8xf32>, tensor<4xi32> -> tensor<6x5xf32>
  return
}

// -----

func.func @grouped_linear_c1_weight(%x: tensor<6x8xf32>, %w: tensor<5x8xf32>, %o: tensor<4xi32>) {
  // expected-error@+1 {{weight has shape 5x8, wanted a static one of rank 3}}
  %y = tw.grouped_linear %x, %w offsets %o : tensor<6x8xf32>, tensor<5x8xf32>, tensor<4xi32> -> tensor<6x5xf32>
  return
}

// -----

func.func @grouped_linear_c1_columns(%x: tensor<6x8xf32>, %w: tensor<3x5x7xf32>, %o: tensor<4xi32>) {
  // expected-error@+1 {{weight maps from 7 columns, wanted the input's last dimension, 8}}
  %y = tw.grouped_linear %x, %w offsets %o : tensor<6x8xf32>, tensor<3x5x7xf32>, tensor<4xi32> -> tensor<6x5xf32>
  return
}

// -----

func.func @grouped_linear_c2(%x: tensor<6x8xf32>, %w: tensor<3x5x8xi8>, %o: tensor<4xi32>) {
  // expected-error@+1 {{weight has element type 'i8', wanted a float or a storage type}}
  %y = tw.grouped_linear %x, %w offsets %o : tensor<6x8xf32>, tensor<3x5x8xi8>, tensor<4xi32> -> tensor<6x5xf32>
  return
}

// -----

func.func @grouped_linear_c2_in_out(%x: tensor<6x8xf32>, %w: tensor<3x8x5xi8>, %o: tensor<4xi32>) {
  // expected-error@+1 {{weight has element type 'i8', wanted a float where it is [in, out]}}
  %y = tw.grouped_linear %x, %w offsets %o {in_out = true} : tensor<6x8xf32>, tensor<3x8x5xi8>, tensor<4xi32> -> tensor<6x5xf32>
  return
}

// -----

func.func @grouped_linear_c3(%x: tensor<6x8xf32>, %w: tensor<3x5x8xf32>, %o: tensor<3xi32>) {
  // expected-error@+1 {{has 3 weight matrices and offsets of shape 3, wanted one offset more than matrices}}
  %y = tw.grouped_linear %x, %w offsets %o : tensor<6x8xf32>, tensor<3x5x8xf32>, tensor<3xi32> -> tensor<6x5xf32>
  return
}

// -----

func.func @grouped_linear_c4(%x: tensor<6x8xf32>, %w: tensor<3x5x8xf32>, %o: tensor<4xi32>, %b: tensor<5xf32>) {
  // expected-error@+1 {{bias has shape 5, wanted 3x5}}
  %y = tw.grouped_linear %x, %w offsets %o bias %b : tensor<6x8xf32>, tensor<3x5x8xf32>, tensor<4xi32>, tensor<5xf32> -> tensor<6x5xf32>
  return
}

// -----

func.func @grouped_linear_c5(%x: tensor<6x8xf32>, %w: tensor<3x5x8xf32>, %o: tensor<4xi32>) {
  // expected-error@+1 {{result is 'tensor<6x4xf32>', wanted 'tensor<6x5xf32>'}}
  %y = tw.grouped_linear %x, %w offsets %o : tensor<6x8xf32>, tensor<3x5x8xf32>, tensor<4xi32> -> tensor<6x4xf32>
  return
}

// -----

func.func @packed_grouped_linear_c1(%x: tensor<6x64xf32>, %w: tensor<6x2x2048xi8>, %o: tensor<?xi32>) {
  // expected-error@+1 {{offsets are 'tensor<?xi32>', wanted a static length of at least 2}}
  %y = tw.packed_grouped_linear %x weight(%w : tensor<6x2x2048xi8>) offsets(%o : tensor<?xi32>) {element = f32} : tensor<6x64xf32> -> tensor<6x32xf32>
  return
}

// -----

func.func @packed_grouped_linear_c1_columns(%x: tensor<6x64xf32>, %w: tensor<6x2x2048xi8>, %o: tensor<4xi32>) {
  // expected-error@+1 {{result is 'tensor<6x30xf32>', wanted rank 2 and a multiple of 16 columns}}
  %y = tw.packed_grouped_linear %x weight(%w : tensor<6x2x2048xi8>) offsets(%o : tensor<4xi32>) {element = f32} : tensor<6x64xf32> -> tensor<6x30xf32>
  return
}

// -----

func.func @packed_grouped_linear_c2(%x: tensor<6x64xf32>, %w: tensor<5x2x2048xi8>, %o: tensor<4xi32>) {
  // expected-error@+1 {{weight has shape 5x2x2048, wanted 3 times 2 groups of 16 rows}}
  %y = tw.packed_grouped_linear %x weight(%w : tensor<5x2x2048xi8>) offsets(%o : tensor<4xi32>) {element = f32} : tensor<6x64xf32> -> tensor<6x32xf32>
  return
}

// -----

func.func @packed_grouped_linear_c3(%x: tensor<6x64xf32>, %w: tensor<6x2x2048xi8>, %o: tensor<4xi32>, %b: tensor<3x30xf32>) {
  // expected-error@+1 {{bias has shape 3x30, wanted 3x32}}
  %y = tw.packed_grouped_linear %x weight(%w : tensor<6x2x2048xi8>) offsets(%o : tensor<4xi32>) bias(%b : tensor<3x30xf32>) {element = f32} : tensor<6x64xf32> -> tensor<6x32xf32>
  return
}

// -----

func.func @packed_grouped_linear_c4(%x: tensor<6x64xf32>, %w: tensor<6x3x2048xi8>, %o: tensor<4xi32>) {
  // expected-error@+1 {{weight has shape 6x3x2048, wanted ?x2x2048}}
  %y = tw.packed_grouped_linear %x weight(%w : tensor<6x3x2048xi8>) offsets(%o : tensor<4xi32>) {element = f32} : tensor<6x64xf32> -> tensor<6x32xf32>
  return
}
