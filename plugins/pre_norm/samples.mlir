// What `tilewright plugins check` tries (docs/conformance.md).
// REQUIRES: plugin-rms_norm
func.func @add_norm(%x: tensor<?x16xf32>, %u: tensor<?x16xf32>, %g: tensor<16xf32>) -> (tensor<?x16xf32>, tensor<?x16xf32>) {
  %s, %n = pre_norm.add_norm "rms_norm.norm" %x, %u params(%g : tensor<16xf32>)
      {norm_attributes = {epsilon = 1.0e-05 : f64, operandSegmentSizes = array<i32: 1, 1, 0>}} : tensor<?x16xf32>
  return %s, %n : tensor<?x16xf32>, tensor<?x16xf32>
}

// -----

// REQUIRES: plugin-rms_norm
func.func @add_layer_norm(%x: tensor<?x16xf32>, %u: tensor<?x16xf32>, %g: tensor<16xf32>, %b: tensor<16xf32>) -> (tensor<?x16xf32>, tensor<?x16xf32>) {
  %s, %n = pre_norm.add_norm "rms_norm.layer_norm" %x, %u params(%g, %b : tensor<16xf32>, tensor<16xf32>)
      {norm_attributes = {epsilon = 1.0e-05 : f64, operandSegmentSizes = array<i32: 1, 1, 1>}} : tensor<?x16xf32>
  return %s, %n : tensor<?x16xf32>, tensor<?x16xf32>
}

// -----

// REQUIRES: plugin-rms_norm
func.func @without_parameters(%x: tensor<?x3x8xf32>, %u: tensor<?x3x8xf32>) -> (tensor<?x3x8xf32>, tensor<?x3x8xf32>) {
  %s, %n = pre_norm.add_norm "rms_norm.norm" %x, %u
      {norm_attributes = {epsilon = 1.0e-05 : f64, operandSegmentSizes = array<i32: 1, 0, 0>}} : tensor<?x3x8xf32>
  return %s, %n : tensor<?x3x8xf32>, tensor<?x3x8xf32>
}

// -----

// For pre-norm-fuse-residual.
// REQUIRES: plugin-rms_norm
func.func @residual(%x: tensor<?x8xf32>, %u: tensor<?x8xf32>, %g: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %s = tw.add %x, %u : tensor<?x8xf32>
  %e = tw.exp %s : tensor<?x8xf32>
  %n = rms_norm.norm %s weight(%g : tensor<8xf32>) {epsilon = 1.0e-05 : f64} : tensor<?x8xf32>
  return %e, %n : tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

// REQUIRES: plugin-rms_norm
func.func @weight_too_late(%x: tensor<?x8xf32>, %u: tensor<?x8xf32>, %g: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %s = tw.add %x, %u : tensor<?x8xf32>
  %e = tw.exp %s : tensor<?x8xf32>
  %h = tw.neg %g : tensor<8xf32>
  %n = rms_norm.norm %s weight(%h : tensor<8xf32>) {epsilon = 1.0e-05 : f64} : tensor<?x8xf32>
  return %e, %n : tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

func.func @add_norm_c1(%x: tensor<4x8xf32>) {
  // expected-error@below {{norm is 'some.norm', which is no registered op (is its plugin loaded?)}}
  %0, %1 = pre_norm.add_norm "some.norm" %x, %x {norm_attributes = {}} : tensor<4x8xf32>
  return
}

// -----

func.func @add_norm_c2(%x: tensor<4x8xf32>) {
  // expected-error@+2 {{'tw.softmax' op requires attribute 'dim'}}
  // expected-error@below {{norm 'tw.softmax' does not take these operands and attributes}}
  %0, %1 = pre_norm.add_norm "tw.softmax" %x, %x {norm_attributes = {}} : tensor<4x8xf32>
  return
}

// -----

func.func @add_norm_c3(%x: tensor<4x8xf32>) {
  // expected-error@below {{norm: tw.exp says neither how it is tiled nor what it means}}
  %0, %1 = pre_norm.add_norm "tw.exp" %x, %x {norm_attributes = {}} : tensor<4x8xf32>
  return
}
