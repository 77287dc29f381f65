// RUN: %tw-opt --reference-interpret --verify-diagnostics --split-input-file %s

func.func @test_expect_eq() {
  %a = tw.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %b = tw.constant dense<[[1, 2], [5, 6]]> : tensor<2x2xi32>
  // expected-error@+1 {{found 2 of 4 elements wrong; the first, at [1, 0], is 3, wanted 5}}
  check.expect_eq %a, %b : tensor<2x2xi32>
  return
}

// -----

func.func @test_expect_close() {
  %a = tw.constant dense<[1.0, 2.0, 0x7FC00000]> : tensor<3xf32>
  %b = tw.constant dense<[1.125, 2.0, 1.0]> : tensor<3xf32>
  // expected-error@+1 {{found 2 of 3 elements wrong; the first, at [0], is 1, wanted 1.125}}
  check.expect_close %a, %b {absolute = 0.0625 : f64, relative = 0.015625 : f64} : tensor<3xf32>
  check.expect_close %a, %a {absolute = 0.0 : f64} : tensor<3xf32>
  return
}

// -----

func.func @test_expect_shape(){
  %a = tw.constant dense<1> : tensor<6xi32>
  %x = tw.reshape %a : tensor<6xi32> -> tensor<?x2xi32>
  %b = tw.constant dense<1> : tensor<4xi32>
  %y = tw.reshape %b : tensor<4xi32> -> tensor<?x2xi32>
  // expected-error@+1 {{found shape 3x2, wanted 2x2}}
  check.expect_eq %x, %y : tensor<?x2xi32>
  return
}

// -----

// Shapes that the verifier cannot compare are compared here.
func.func private @add(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error@+1 {{operand 1 has shape 3 at run time, wanted 2}}
  %y = tw.add %a, %b : tensor<?xf32>
  return %y : tensor<?xf32>
}
func.func @test_add() {
  %a = tw.constant dense<1.0> : tensor<2xf32>
  %b = tw.constant dense<1.0> : tensor<3xf32>
  %x = tw.reshape %a : tensor<2xf32> -> tensor<?xf32>
  %y = tw.reshape %b : tensor<3xf32> -> tensor<?xf32>
  %z = func.call @add(%x, %y) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @test_gather() {
  %t = tw.constant dense<1.0> : tensor<2x3xf32>
  %ids = tw.constant dense<[0, 2]> : tensor<2xi32>
  // expected-error@+1 {{id 1 is 2, wanted 0 <= id < 2}}
  %y = tw.gather %t, %ids : tensor<2x3xf32>, tensor<2xi32> -> tensor<2x3xf32>
  return
}

// -----

func.func @test_slice() {
  %a = tw.constant dense<1.0> : tensor<2xf32>
  %x = tw.reshape %a : tensor<2xf32> -> tensor<?xf32>
  // expected-error@+1 {{takes 3 elements from 0 of dimension 0, which has 2 at run time}}
  %y = tw.slice %x dim 0 start 0 size 3 : tensor<?xf32> -> tensor<3xf32>
  return
}

// -----

func.func @test_reshape() {
  %a = tw.constant dense<1.0> : tensor<6xf32>
  %x = tw.reshape %a : tensor<6xf32> -> tensor<?xf32>
  // expected-error@+1 {{reshapes 6 at run time, wanted the number of elements of 'tensor<?x4xf32>'}}
  %y = tw.reshape %x : tensor<?xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @test_concat() {
  %a = tw.constant dense<1.0> : tensor<6xf32>
  %x = tw.reshape %a : tensor<6xf32> -> tensor<?x2xf32>
  %b = tw.constant dense<1.0> : tensor<2x2xf32>
  // expected-error@+1 {{operand 1 has shape 2x2 at run time, which does not join 3x2 along dimension 1}}
  %y = tw.concat dim 1 %x, %b : tensor<?x2xf32>, tensor<2x2xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @test_broadcast() {
  %a = tw.constant dense<1.0> : tensor<3xf32>
  %x = tw.reshape %a : tensor<3xf32> -> tensor<?xf32>
  %b = tw.constant dense<1.0> : tensor<2x2xf32>
  // expected-error@+1 {{input has shape 3 at run time, which does not fit 2x2 at dims [1]}}
  %y = tw.broadcast %x like %b dims [1] : tensor<?xf32>, tensor<2x2xf32> -> tensor<2x2xf32>
  return
}

// -----

ml_program.global private @w(#ml_program.extern : tensor<2x3xf32>) : tensor<2x3xf32>
func.func @test_weight() {
  // expected-error@+1 {{weight 'w': there are no weights}}
  %w = ml_program.global_load_const @w : tensor<2x3xf32>
  return
}

// -----

// expected-error@+1 {{there is no function whose name starts with 'test' and that takes nothing but states}}
module {
  func.func @other() {
    return
  }
}

// -----

func.func @test_unknown() {
  // expected-error@+1 {{has no meaning in the interpreter}}
  %x = tensor.empty() : tensor<3xf32>
  return
}

// -----

func.func private @again(%x: tensor<1xf32>) -> tensor<1xf32> {
  // expected-error@+1 {{calls deeper than 64 functions}}
  %y = func.call @again(%x) : (tensor<1xf32>) -> tensor<1xf32>
  return %y : tensor<1xf32>
}
func.func @test_recursion() {
  %x = tw.constant dense<1.0> : tensor<1xf32>
  %y = func.call @again(%x) : (tensor<1xf32>) -> tensor<1xf32>
  return
}

// -----

func.func private @elsewhere(tensor<1xf32>) -> tensor<1xf32>
func.func @test_external() {
  %x = tw.constant dense<1.0> : tensor<1xf32>
  // expected-error@+1 {{runs function 'elsewhere', which has not one block}}
  %y = func.call @elsewhere(%x) : (tensor<1xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @test_complex() {
  // expected-error@+1 {{has elements of type 'tensor<1xcomplex<f32>>', which the interpreter cannot read}}
  %x = tw.constant dense<(1.0, 0.0)> : tensor<1xcomplex<f32>>
  return
}

// -----

func.func @test_scalar() {
  // expected-error@+1 {{is no tensor, which is all that the interpreter knows}}
  %x = arith.constant 1 : i32
  return
}

// -----

func.func private @project(%x: tensor<2x?xf32>, %b: tensor<?xf32>) {
  %w = tw.constant dense<1.0> : tensor<4x3xf32>
  // expected-error@+1 {{input has 2 columns at run time, wanted the weight's 3}}
  %y = tw.linear %x, %w bias %b : tensor<2x?xf32>, tensor<4x3xf32>, tensor<?xf32> -> tensor<2x4xf32>
  return
}
func.func @test_linear() {
  %a = tw.constant dense<1.0> : tensor<2x2xf32>
  %x = tw.reshape %a : tensor<2x2xf32> -> tensor<2x?xf32>
  %b = tw.reshape %a : tensor<2x2xf32> -> tensor<?xf32>
  func.call @project(%x, %b) : (tensor<2x?xf32>, tensor<?xf32>) -> ()
  return
}

// -----

func.func @test_linear_bias() {
  %x = tw.constant dense<1.0> : tensor<2x3xf32>
  %w = tw.constant dense<1.0> : tensor<4x3xf32>
  %a = tw.constant dense<1.0> : tensor<3xf32>
  %b = tw.reshape %a : tensor<3xf32> -> tensor<?xf32>
  // expected-error@+1 {{bias has 3 elements at run time, wanted 4}}
  %y = tw.linear %x, %w bias %b : tensor<2x3xf32>, tensor<4x3xf32>, tensor<?xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @test_group_rows() {
  %ids = tw.constant dense<[0, 3]> : tensor<2xi32>
  // expected-error@+1 {{id 1 is 3, wanted 0 <= id < 3}}
  %r, %p, %o = tw.group_rows %ids groups 3 per_row 1 : tensor<2xi32> -> tensor<2xi32>, tensor<2xi32>, tensor<4xi32>
  return
}

// -----

func.func private @project(%x: tensor<2x?xf32>, %w: tensor<1x4x3xf32>, %o: tensor<2xi32>) {
  // expected-error@+1 {{input has 2 columns at run time, wanted the weight's 3}}
  %y = tw.grouped_linear %x, %w offsets %o : tensor<2x?xf32>, tensor<1x4x3xf32>, tensor<2xi32> -> tensor<2x4xf32>
  return
}
func.func @test_grouped_linear() {
  %a = tw.constant dense<1.0> : tensor<2x2xf32>
  %x = tw.reshape %a : tensor<2x2xf32> -> tensor<2x?xf32>
  %w = tw.constant dense<1.0> : tensor<1x4x3xf32>
  %o = tw.constant dense<[0, 2]> : tensor<2xi32>
  func.call @project(%x, %w, %o) : (tensor<2x?xf32>, tensor<1x4x3xf32>, tensor<2xi32>) -> ()
  return
}

// -----

func.func @test_grouped_linear_offsets() {
  %x = tw.constant dense<1.0> : tensor<2x3xf32>
  %w = tw.constant dense<1.0> : tensor<2x4x3xf32>
  %o = tw.constant dense<[0, 2, 1]> : tensor<3xi32>
  // expected-error@+1 {{offset 2 is 1, wanted 2 to 2}}
  %y = tw.grouped_linear %x, %w offsets %o : tensor<2x3xf32>, tensor<2x4x3xf32>, tensor<3xi32> -> tensor<2x4xf32>
  return
}
