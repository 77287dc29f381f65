// RUN: %tw-opt --verify-diagnostics --split-input-file %s

func.func @compare_kind(%x: tensor<4xf32>) {
  // expected-error@+1 {{one of eq, ne, lt, le, gt, ge}}
  %0 = tw.compare "lte", %x, %x : tensor<4xf32> -> tensor<4xi1>
  return
}

// -----

func.func @compare_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{requires the same shape for all operands and results}}
  %0 = tw.compare "le", %x, %x : tensor<4xf32> -> tensor<5xi1>
  return
}

// -----

func.func @select_c1(%c: tensor<3xi1>, %x: tensor<4xf32>) {
  // expected-error@+1 {{requires the same shape for all operands and results}}
  %0 = tw.select %c, %x, %x : tensor<3xi1>, tensor<4xf32>
  return
}

// -----

func.func @add_integers(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of floating-point values}}
  %0 = tw.add %x, %x : tensor<4xi32>
  return
}

// -----

func.func @iota_c1(%x: tensor<?x8xf32>) {
  // expected-error@+1 {{dim is 2, wanted 0 <= dim < 2}}
  %0 = tw.iota %x dim 2 : tensor<?x8xf32> -> tensor<?x8xi32>
  return
}

// -----

func.func @iota_c2(%x: tensor<?x8xf32>) {
  // expected-error@+1 {{result has shape ?x9, wanted ?x8}}
  %0 = tw.iota %x dim 1 : tensor<?x8xf32> -> tensor<?x9xi32>
  return
}

// -----

func.func @broadcast_c1_count(%x: tensor<8xf32>, %l: tensor<4x8xf32>) {
  // expected-error@+1 {{has 2 dims, wanted one per dimension of the input, 1}}
  %0 = tw.broadcast %x like %l dims [0, 1] : tensor<8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @broadcast_c1_order(%x: tensor<4x8xf32>, %l: tensor<4x8xf32>) {
  // expected-error@+1 {{dims [1, 0] are not strictly increasing below the result's rank 2}}
  %0 = tw.broadcast %x like %l dims [1, 0] : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @broadcast_c2(%x: tensor<7xf32>, %l: tensor<4x8xf32>) {
  // expected-error@+1 {{input dimension 0 is 7, wanted that of result dimension 1, 8}}
  %0 = tw.broadcast %x like %l dims [1] : tensor<7xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @broadcast_c3_shape(%x: tensor<8xf32>, %l: tensor<4x8xf32>) {
  // expected-error@+1 {{result has shape 5x8, wanted 4x8}}
  %0 = tw.broadcast %x like %l dims [1] : tensor<8xf32>, tensor<4x8xf32> -> tensor<5x8xf32>
  return
}

// -----

func.func @broadcast_c3_element(%x: tensor<8xi32>, %l: tensor<4x8xf32>) {
  // expected-error@+1 {{result has element type 'f32', wanted the input's, 'i32'}}
  %0 = tw.broadcast %x like %l dims [1] : tensor<8xi32>, tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @reduce_c1(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{dims [2] are not strictly increasing below the input's rank 2}}
  %0 = tw.reduce "sum" %x dims [2] : tensor<4x8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reduce_c2(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{result has shape 8, wanted 4}}
  %0 = tw.reduce "sum" %x dims [1] : tensor<4x8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @reduce_c3(%x: tensor<4x0xf32>) {
  // expected-error@+1 {{takes the max over dimension 1 of size 0}}
  %0 = tw.reduce "max" %x dims [1] : tensor<4x0xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reshape_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{result has element type 'i32', wanted the input's, 'f32'}}
  %0 = tw.reshape %x : tensor<4xf32> -> tensor<2x2xi32>
  return
}

// -----

func.func @reshape_c2(%x: tensor<?x4xf32>) {
  // expected-error@+1 {{result has 2 dynamic dimensions, wanted at most one}}
  %0 = tw.reshape %x : tensor<?x4xf32> -> tensor<?x?xf32>
  return
}

// -----

func.func @reshape_c3_static(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{reshapes 2x3 to 4: the numbers of elements do not agree}}
  %0 = tw.reshape %x : tensor<2x3xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reshape_c3_dynamic(%x: tensor<?x6xf32>) {
  // expected-error@+1 {{reshapes ?x6 to ?x4: the numbers of elements do not agree}}
  %0 = tw.reshape %x : tensor<?x6xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @reshape_overflow(%x: tensor<4294967296x4294967296xf32>) {
  // expected-error@+1 {{has more elements than 63 bits can count}}
  %0 = tw.reshape %x : tensor<4294967296x4294967296xf32> -> tensor<?xf32>
  return
}

// -----

func.func @transpose_c1(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{perm [0, 0] is no permutation of the input's 2 dimensions}}
  %0 = tw.transpose %x perm [0, 0] : tensor<2x3xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @transpose_c2(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{result has shape 2x3, wanted 3x2}}
  %0 = tw.transpose %x perm [1, 0] : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_c1(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{dim is -1, wanted 0 <= dim < 2}}
  %0 = tw.slice %x dim -1 start 0 size 1 : tensor<2x3xf32> -> tensor<2x1xf32>
  return
}

// -----

func.func @slice_c2_negative(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{has start -1 and size 2, wanted start >= 0 and size >= -1}}
  %0 = tw.slice %x dim 1 start -1 size 2 : tensor<2x3xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @slice_c2_beyond(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{takes 2 elements from 2 of dimension 1, which has 3}}
  %0 = tw.slice %x dim 1 start 2 size 2 : tensor<2x3xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @slice_c3(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{result has shape 2x3, wanted 2x2}}
  %0 = tw.slice %x dim 1 start 1 size -1 : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @concat_c1(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{joins nothing, wanted at least one operand}}
  %0 = "tw.concat"() {dim = 0 : i64} : () -> tensor<2x3xf32>
  return
}

// -----

func.func @concat_c2(%x: tensor<2x3xf32>, %y: tensor<3x3xf32>) {
  // expected-error@+1 {{operand 1 is 'tensor<3x3xf32>', which does not join 'tensor<2x3xf32>' along dimension 1}}
  %0 = tw.concat dim 1 %x, %y : tensor<2x3xf32>, tensor<3x3xf32> -> tensor<2x6xf32>
  return
}

// -----

func.func @concat_c3(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{result has shape 2x5, wanted 2x6}}
  %0 = tw.concat dim 1 %x, %x : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x5xf32>
  return
}

// -----

func.func @gather_c1(%t: tensor<8x3xf32>, %ids: tensor<2x2xi32>) {
  // expected-error@+1 {{batch_dims is 2, wanted 0 to 1}}
  %0 = tw.gather %t, %ids {batch_dims = 2 : i64} : tensor<8x3xf32>, tensor<2x2xi32> -> tensor<2x2xf32>
  return
}

// -----

func.func @gather_c1_rank(%t: tensor<8x3xf32>, %ids: tensor<i32>) {
  // expected-error@+1 {{ids have rank 0, wanted at least 1}}
  %0 = tw.gather %t, %ids : tensor<8x3xf32>, tensor<i32> -> tensor<3xf32>
  return
}

// -----

func.func @gather_c1_batch(%t: tensor<8x3xf32>, %ids: tensor<5x2xi32>) {
  // expected-error@+1 {{has a table 'tensor<8x3xf32>' and ids 'tensor<5x2xi32>', whose first 1 dimensions differ}}
  %0 = tw.gather %t, %ids {batch_dims = 1 : i64} : tensor<8x3xf32>, tensor<5x2xi32> -> tensor<5x2xf32>
  return
}

// -----

func.func @gather_c2_places(%t: tensor<8x3xf32>, %ids: tensor<2x2xi32>) {
  // expected-error@+1 {{result has shape 4x3, wanted 2x2x3}}
  %0 = tw.gather %t, %ids : tensor<8x3xf32>, tensor<2x2xi32> -> tensor<4x3xf32>
  return
}

// -----

func.func @gather_c2(%t: tensor<8x3xf32>, %ids: tensor<5xi32>) {
  // expected-error@+1 {{result has shape 4x3, wanted 5x3}}
  %0 = tw.gather %t, %ids : tensor<8x3xf32>, tensor<5xi32> -> tensor<4x3xf32>
  return
}

// -----

func.func @gather_c3(%t: tensor<8x3xi32>, %ids: tensor<5xi32>) {
  // expected-error@+1 {{result has element type 'f32', wanted f32 for a table of 'i32', which is neither a float nor a storage type}}
  %0 = tw.gather %t, %ids : tensor<8x3xi32>, tensor<5xi32> -> tensor<5x3xf32>
  return
}

// -----

func.func @linear_c1_rank(%x: tensor<?x8xf32>, %w: tensor<8xf32>) {
  // expected-error@+1 {{weight has rank 1, wanted 2}}
  %0 = tw.linear %x, %w : tensor<?x8xf32>, tensor<8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @linear_c1_columns(%x: tensor<?x8xf32>, %w: tensor<4x9xf32>) {
  // expected-error@+1 {{weight has 9 columns, wanted the input's last dimension, 8}}
  %0 = tw.linear %x, %w : tensor<?x8xf32>, tensor<4x9xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @linear_c2(%x: tensor<?x8xf32>, %w: tensor<4x8xi32>) {
  // expected-error@+1 {{weight has element type 'i32', wanted a float or a storage type}}
  %0 = tw.linear %x, %w : tensor<?x8xf32>, tensor<4x8xi32> -> tensor<?x4xf32>
  return
}

// -----

func.func @linear_c3(%x: tensor<?x8xf32>, %w: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // expected-error@+1 {{bias has shape 8, wanted 4}}
  %0 = tw.linear %x, %w bias %b : tensor<?x8xf32>, tensor<4x8xf32>, tensor<8xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @linear_c4(%x: tensor<?x8xf32>, %w: tensor<4x8xf32>) {
  // expected-error@+1 {{result is 'tensor<?x8xf32>', wanted 'tensor<?x4xf32>'}}
  %0 = tw.linear %x, %w : tensor<?x8xf32>, tensor<4x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @quantize_rows_c1_rank(%x: tensor<2x?x8xf32>) {
  // expected-error@+1 {{wanted rank 2 and a static second dimension}}
  %0, %1, %2 = tw.quantize_rows %x block 8 : tensor<2x?x8xf32> -> tensor<2x?x8xi8>, tensor<2x?xf32>, tensor<2x?xf32>
  return
}

// -----

func.func @quantize_rows_c1_block(%x: tensor<?x8xf32>) {
  // expected-error@+1 {{has block 3, wanted a divisor of 8}}
  %0, %1, %2 = tw.quantize_rows %x block 3 : tensor<?x8xf32> -> tensor<?x8xi8>, tensor<?x2xf32>, tensor<?x2xf32>
  return
}

// -----

func.func @quantize_rows_c2(%x: tensor<?x8xf32>) {
  // expected-error@+1 {{wanted int8 of the input's shape and twice 'tensor<?x2xf32>'}}
  %0, %1, %2 = tw.quantize_rows %x block 4 : tensor<?x8xf32> -> tensor<?x8xi8>, tensor<?x3xf32>, tensor<?x2xf32>
  return
}

// -----

func.func @packed_linear_c1_element(%x: tensor<?x64xf32>, %w: tensor<2x2x2048xi8>) {
  // expected-error@+1 {{element 'i4' is no storage type}}
  %0 = tw.packed_linear %x weight(%w : tensor<2x2x2048xi8>) {element = i4} : tensor<?x64xf32> -> tensor<?x32xf32>
  return
}

// -----

func.func @packed_linear_c1_shape(%x: tensor<?x64xf32>, %w: tensor<2x2x2047xi8>) {
  // expected-error@+1 {{weight has shape 2x2x2047, wanted ?x2x2048}}
  %0 = tw.packed_linear %x weight(%w : tensor<2x2x2047xi8>) {element = f32} : tensor<?x64xf32> -> tensor<?x32xf32>
  return
}

// -----

func.func @packed_linear_c2(%x: tensor<?x64xi8>, %w: tensor<2x2x2048xi8>) {
  // expected-error@+1 {{takes scales and sums with an input of i8}}
  %0 = tw.packed_linear %x weight(%w : tensor<2x2x2048xi8>) {element = f32} : tensor<?x64xi8> -> tensor<?x32xf32>
  return
}

// -----

func.func @packed_linear_c3(%x: tensor<?x64xf32>, %w: tensor<2x2x2048xi8>) {
  // expected-error@+1 {{weight has 2 groups of 16 rows, wanted enough for 33}}
  %0 = tw.packed_linear %x weight(%w : tensor<2x2x2048xi8>) {element = f32} : tensor<?x64xf32> -> tensor<?x33xf32>
  return
}

// -----

func.func @packed_linear_c4(%x: tensor<?x64xf32>, %w: tensor<2x2x2048xi8>, %b: tensor<16xf32>) {
  // expected-error@+1 {{bias has shape 16, wanted 32}}
  %0 = tw.packed_linear %x weight(%w : tensor<2x2x2048xi8>) bias(%b : tensor<16xf32>) {element = f32} : tensor<?x64xf32> -> tensor<?x32xf32>
  return
}

// -----

// expected-error@+1 {{wanted a dynamic number of tokens, then static dimensions}}
func.func @state_buffers(%s: !tw.state<tensor<4x3x8xf32>>) {
  return
}

// -----

// expected-error@+1 {{group "target" of a state: wanted source, transient or none}}
func.func @state_group(%s: !tw.state<tensor<?x3x8xf32> in target>) {
  return
}

// -----

!state = !tw.state<tensor<?x3x8xf32>, tensor<?x3x8xf32>>
func.func @append_c1_count(%s: !state, %r: tensor<?xi32>, %k: tensor<?x3x8xf32>) {
  // expected-error@+1 {{has 1 values, wanted one per buffer of the state, 2}}
  %0 = tw.append %s, %r, %k : !state, tensor<?xi32>, tensor<?x3x8xf32>
  return
}

// -----

!state = !tw.state<tensor<?x3x8xf32>>
func.func @append_c1_type(%s: !state, %r: tensor<?xi32>, %k: tensor<?x3x9xf32>) {
  // expected-error@+1 {{value 0 is 'tensor<?x3x9xf32>', wanted the buffer's type 'tensor<?x3x8xf32>' but for the number of rows}}
  %0 = tw.append %s, %r, %k : !state, tensor<?xi32>, tensor<?x3x9xf32>
  return
}

// -----

!state = !tw.state<tensor<?x3x8xf32>>
func.func @append_c2_twice(%s: !state, %r: tensor<?xi32>, %k: tensor<?x3x8xf32>) {
  // expected-note@+1 {{changed here}}
  %0 = tw.append %s, %r, %k : !state, tensor<?xi32>, tensor<?x3x8xf32>
  // expected-error@+1 {{uses a state after an op has changed it; a state is not copied}}
  %1 = tw.append %s, %r, %k : !state, tensor<?xi32>, tensor<?x3x8xf32>
  return
}

// -----

!state = !tw.state<tensor<?x3x8xf32>>
func.func @append_c2_returned(%s: !state, %r: tensor<?xi32>, %k: tensor<?x3x8xf32>) -> !state {
  // expected-note@+1 {{changed here}}
  %0 = tw.append %s, %r, %k : !state, tensor<?xi32>, tensor<?x3x8xf32>
  // expected-error@+1 {{uses a state after an op has changed it; a state is not copied}}
  return %s : !state
}

// -----

// A call changes a state when its callee does, at any depth.
!state = !tw.state<tensor<?x3x8xf32>>
func.func private @changes(%s: !state, %r: tensor<?xi32>, %k: tensor<?x3x8xf32>) -> !state {
  %0 = tw.append %s, %r, %k : !state, tensor<?xi32>, tensor<?x3x8xf32>
  return %0 : !state
}
func.func private @passes_on(%r: tensor<?xi32>, %k: tensor<?x3x8xf32>, %s: !state) -> !state {
  %0 = func.call @changes(%s, %r, %k) : (!state, tensor<?xi32>, tensor<?x3x8xf32>) -> !state
  return %0 : !state
}
func.func @append_c2_called(%s: !state, %r: tensor<?xi32>, %k: tensor<?x3x8xf32>) -> !state {
  // expected-note@+1 {{changed here}}
  %0 = func.call @passes_on(%r, %k, %s) : (tensor<?xi32>, tensor<?x3x8xf32>, !state) -> !state
  // expected-error@+1 {{uses a state after an op has changed it; a state is not copied}}
  %1 = func.call @passes_on(%r, %k, %s) : (tensor<?xi32>, tensor<?x3x8xf32>, !state) -> !state
  return %1 : !state
}
