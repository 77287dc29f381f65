// REQUIRES: plugin-my_technique
// RUN: %tw-opt %s --split-input-file --verify-diagnostics

func.func @maxout_c1(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{wants at least 2 pieces, found 1}}
  %0 = my_technique.maxout %x {pieces = 1 : i64} : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @maxout_c2_remainder(%x: tensor<4x9xf32>) {
  // expected-error @+1 {{wants an input whose last dimension is static and a multiple of 2, found 'tensor<4x9xf32>'}}
  %0 = my_technique.maxout %x {pieces = 2 : i64} : tensor<4x9xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @maxout_c2_dynamic(%x: tensor<4x?xf32>) {
  // expected-error @+1 {{wants an input whose last dimension is static and a multiple of 2, found 'tensor<4x?xf32>'}}
  %0 = my_technique.maxout %x {pieces = 2 : i64} : tensor<4x?xf32> -> tensor<4x?xf32>
  return
}

// -----

func.func @maxout_c2_scalar(%x: tensor<f32>) {
  // expected-error @+1 {{wants an input whose last dimension is static and a multiple of 2, found 'tensor<f32>'}}
  %0 = my_technique.maxout %x {pieces = 2 : i64} : tensor<f32> -> tensor<f32>
  return
}

// -----

func.func @shape_rule(%x: tensor<4x8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{inferred type(s) 'tensor<4x4xf32>' are incompatible with return type(s) of operation 'tensor<4x8xf32>'}}
  %0 = my_technique.maxout %x {pieces = 2 : i64} : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}
