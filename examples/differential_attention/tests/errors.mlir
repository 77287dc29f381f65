// REQUIRES: plugin-differential_attention
// RUN: %tw-opt %s --split-input-file --verify-diagnostics

func.func @combine_c1_rank(%a: tensor<4x16xf32>, %l: tensor<16xf32>) {
  // expected-error @+1 {{wants halves of rank 3 or more with static heads (dimension 1) and width (the last), found 'tensor<4x16xf32>'}}
  %y = differential_attention.combine %a, %a, %l {epsilon = 1.0e-05 : f64} : tensor<4x16xf32>, tensor<16xf32>
  return
}

// -----

func.func @combine_c1_heads(%a: tensor<4x?x16xf32>, %l: tensor<?xf32>) {
  // expected-error @+1 {{wants halves of rank 3 or more with static heads}}
  %y = differential_attention.combine %a, %a, %l {epsilon = 1.0e-05 : f64} : tensor<4x?x16xf32>, tensor<?xf32>
  return
}

// -----

func.func @combine_c1_width(%a: tensor<4x2x0xf32>, %l: tensor<2xf32>) {
  // expected-error @+1 {{wants halves of rank 3 or more with static heads}}
  %y = differential_attention.combine %a, %a, %l {epsilon = 1.0e-05 : f64} : tensor<4x2x0xf32>, tensor<2xf32>
  return
}

// -----

func.func @combine_c2(%a: tensor<4x2x8xf32>, %l: tensor<2x1xf32>) {
  // expected-error @+1 {{wants a lambda of shape [2], found 'tensor<2x1xf32>'}}
  %y = differential_attention.combine %a, %a, %l {epsilon = 1.0e-05 : f64} : tensor<4x2x8xf32>, tensor<2x1xf32>
  return
}

// -----

func.func @combine_c3(%a: tensor<4x2x8xf32>, %l: tensor<2xf32>) {
  // expected-error @+1 {{wants a weight of shape [8], found 'tensor<2xf32>'}}
  %y = differential_attention.combine %a, %a, %l weight(%l : tensor<2xf32>) {epsilon = 1.0e-05 : f64} : tensor<4x2x8xf32>, tensor<2xf32>
  return
}

// -----

func.func @combine_c4_scale(%a: tensor<4x2x8xf32>, %l: tensor<2xf32>) {
  // expected-error @+1 {{wants a finite epsilon of at least 0 and a finite scale, found 0.000000e+00 and INF}}
  %y = differential_attention.combine %a, %a, %l {epsilon = 0.0 : f64, scale = 0x7FF0000000000000 : f64} : tensor<4x2x8xf32>, tensor<2xf32>
  return
}
