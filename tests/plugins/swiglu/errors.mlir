// REQUIRES: plugin-swiglu
// RUN: %tw-opt %s --split-input-file --verify-diagnostics

func.func @glu_c1_zero(%x: tensor<4xf32>) {
  // expected-error @+1 {{wants a finite alpha other than 0, found 0.000000e+00}}
  %0 = swiglu.glu %x, %x {activation = "silu", alpha = 0.0 : f64} : tensor<4xf32>
  return
}

// -----

func.func @glu_c1_activation(%x: tensor<4xf32>) {
  // expected-error @+1 {{has alpha 1.702000e+00, which only activation "silu" takes; found "gelu"}}
  %0 = swiglu.glu %x, %x {activation = "gelu", alpha = 1.702 : f64} : tensor<4xf32>
  return
}

// -----

func.func @glu_c2(%x: tensor<4xf32>) {
  // expected-error @+1 {{wants a finite limit above 0, found -1.000000e+00}}
  %0 = swiglu.glu %x, %x {activation = "silu", limit = -1.0 : f64} : tensor<4xf32>
  return
}

// -----

func.func @glu_c3(%x: tensor<4xf32>) {
  // expected-error @+1 {{wants a finite up_offset, found INF}}
  %0 = swiglu.glu %x, %x {activation = "silu", up_offset = 0x7FF0000000000000 : f64} : tensor<4xf32>
  return
}

// -----

func.func @activation(%x: tensor<4xf32>) {
  // expected-error @+1 {{attribute 'activation' failed to satisfy constraint: one of silu, gelu, gelu_tanh, relu, sigmoid}}
  %0 = swiglu.glu %x, %x {activation = "swish"} : tensor<4xf32>
  return
}
