// REQUIRES: plugin-rms_norm
// RUN: %tw-opt %s --split-input-file --verify-diagnostics

func.func @norm_c1_dynamic(%x: tensor<4x?xf32>) {
  // expected-error @+1 {{wants an input whose last dimension is static and at least 1, found 'tensor<4x?xf32>'}}
  %0 = rms_norm.norm %x {epsilon = 1.0e-05 : f64} : tensor<4x?xf32>
  return
}

// -----

func.func @norm_c1_empty(%x: tensor<4x0xf32>) {
  // expected-error @+1 {{last dimension is static and at least 1, found 'tensor<4x0xf32>'}}
  %0 = rms_norm.norm %x {epsilon = 1.0e-05 : f64} : tensor<4x0xf32>
  return
}

// -----

func.func @norm_c1_scalar(%x: tensor<f32>) {
  // expected-error @+1 {{last dimension is static and at least 1, found 'tensor<f32>'}}
  %0 = rms_norm.norm %x {epsilon = 1.0e-05 : f64} : tensor<f32>
  return
}

// -----

func.func @norm_c2_weight(%x: tensor<4x8xf32>, %g: tensor<4xf32>) {
  // expected-error @+1 {{wants a weight of shape [8], found 'tensor<4xf32>'}}
  %0 = rms_norm.norm %x weight(%g : tensor<4xf32>) {epsilon = 1.0e-05 : f64} : tensor<4x8xf32>
  return
}

// -----

func.func @norm_c2_bias(%x: tensor<4x8xf32>, %b: tensor<1x8xf32>) {
  // expected-error @+1 {{wants a bias of shape [8], found 'tensor<1x8xf32>'}}
  %0 = rms_norm.norm %x bias(%b : tensor<1x8xf32>) {epsilon = 1.0e-05 : f64} : tensor<4x8xf32>
  return
}

// -----

func.func @norm_c3_negative(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{wants a finite epsilon of at least 0, found -1.000000e+00}}
  %0 = rms_norm.norm %x {epsilon = -1.0 : f64} : tensor<4x8xf32>
  return
}

// -----

func.func @norm_c3_infinite(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{wants a finite epsilon of at least 0, found INF}}
  %0 = rms_norm.norm %x {epsilon = 0x7FF0000000000000 : f64} : tensor<4x8xf32>
  return
}

// -----

func.func @norm_c4(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{has unit_offset but no weight to offset}}
  %0 = rms_norm.norm %x {epsilon = 1.0e-05 : f64, unit_offset = true} : tensor<4x8xf32>
  return
}

// -----

func.func @layer_norm_c1(%x: tensor<4x?xf32>) {
  // expected-error @+1 {{wants an input whose last dimension is static and at least 1, found 'tensor<4x?xf32>'}}
  %0 = rms_norm.layer_norm %x {epsilon = 1.0e-05 : f64} : tensor<4x?xf32>
  return
}

// -----

func.func @layer_norm_c2_weight(%x: tensor<4x8xf32>, %g: tensor<4xf32>) {
  // expected-error @+1 {{wants a weight of shape [8], found 'tensor<4xf32>'}}
  %0 = rms_norm.layer_norm %x weight(%g : tensor<4xf32>) {epsilon = 1.0e-05 : f64} : tensor<4x8xf32>
  return
}

// -----

func.func @layer_norm_c2_bias(%x: tensor<4x8xf32>, %g: tensor<4xf32>) {
  // expected-error @+1 {{wants a bias of shape [8], found 'tensor<4xf32>'}}
  %0 = rms_norm.layer_norm %x bias(%g : tensor<4xf32>) {epsilon = 1.0e-05 : f64} : tensor<4x8xf32>
  return
}

// -----

func.func @layer_norm_c3(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{wants a finite epsilon of at least 0, found -1.000000e+00}}
  %0 = rms_norm.layer_norm %x {epsilon = -1.0 : f64} : tensor<4x8xf32>
  return
}
