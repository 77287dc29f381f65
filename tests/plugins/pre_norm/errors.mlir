// REQUIRES: plugin-pre_norm, plugin-rms_norm
// RUN: %tw-opt %s --split-input-file --verify-diagnostics

func.func @add_norm_c1(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{norm is 'some.norm', which is no registered op (is its plugin loaded?)}}
  %0, %1 = pre_norm.add_norm "some.norm" %x, %x {norm_attributes = {}} : tensor<4x8xf32>
  return
}

// -----

func.func @add_norm_c2(%x: tensor<4x8xf32>) {
  // expected-error @+2 {{'rms_norm.norm' op wants a finite epsilon of at least 0, found -1.000000e+00}}
  // expected-error @+1 {{norm 'rms_norm.norm' does not take these operands and attributes}}
  %0, %1 = pre_norm.add_norm "rms_norm.norm" %x, %x {norm_attributes = {epsilon = -1.0 : f64, operandSegmentSizes = array<i32: 1, 0, 0>}} : tensor<4x8xf32>
  return
}

// -----

func.func @add_norm_c2_operands(%x: tensor<4x8xf32>, %g: tensor<4xf32>) {
  // expected-error @+2 {{'rms_norm.norm' op wants a weight of shape [8], found 'tensor<4xf32>'}}
  // expected-error @+1 {{norm 'rms_norm.norm' does not take these operands and attributes}}
  %0, %1 = pre_norm.add_norm "rms_norm.norm" %x, %x params(%g : tensor<4xf32>) {norm_attributes = {epsilon = 1.0 : f64, operandSegmentSizes = array<i32: 1, 1, 0>}} : tensor<4x8xf32>
  return
}

// -----

func.func @add_norm_c3(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{norm: tw.exp says neither how it is tiled nor what it means}}
  %0, %1 = pre_norm.add_norm "tw.exp" %x, %x {norm_attributes = {}} : tensor<4x8xf32>
  return
}
