// What `tilewright plugins check` tries (docs/conformance.md).
func.func @silu(%g: tensor<?x33xf32>, %u: tensor<?x33xf32>) -> tensor<?x33xf32> {
  %y = swiglu.glu %g, %u {activation = "silu"} : tensor<?x33xf32>
  return %y : tensor<?x33xf32>
}

// -----

func.func @clamped(%g: tensor<?x16xf32>, %u: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %y = swiglu.glu %g, %u {activation = "silu", alpha = 1.702 : f64, limit = 0.7 : f64, up_offset = 1.0 : f64} : tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// -----

func.func @gelu(%g: tensor<?x3x7xf32>, %u: tensor<?x3x7xf32>) -> tensor<?x3x7xf32> {
  %y = swiglu.glu %g, %u {activation = "gelu"} : tensor<?x3x7xf32>
  return %y : tensor<?x3x7xf32>
}

// -----

// Both dimensions may be anything.
func.func @gelu_tanh(%g: tensor<?x?xf32> {tw.symbols = ["N", "F"]}, %u: tensor<?x?xf32> {tw.symbols = ["N", "F"]}) -> tensor<?x?xf32> {
  %y = swiglu.glu %g, %u {activation = "gelu_tanh"} : tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

func.func @relu(%g: tensor<?xf32>, %u: tensor<?xf32>) -> tensor<?xf32> {
  %y = swiglu.glu %g, %u {activation = "relu"} : tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

func.func @sigmoid(%g: tensor<?x16xf32>, %u: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %y = swiglu.glu %g, %u {activation = "sigmoid"} : tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// -----

// For swiglu-recognise-glu.
func.func @spelled_out(%g: tensor<?x8xf32>, %u: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %s = tw.sigmoid %g : tensor<?x8xf32>
  %a = tw.mul %s, %g : tensor<?x8xf32>
  %y = tw.mul %u, %a : tensor<?x8xf32>
  return %a, %y : tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

func.func @spelled_out_relu(%g: tensor<4xf32>, %u: tensor<4xf32>) -> tensor<4xf32> {
  %zero = tw.constant dense<0.0> : tensor<4xf32>
  %a = tw.maximum %g, %zero : tensor<4xf32>
  %y = tw.mul %a, %u : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @glu_c1(%x: tensor<4xf32>) {
  // expected-error@below {{wants a finite alpha other than 0, found 0.000000e+00}}
  %0 = swiglu.glu %x, %x {activation = "silu", alpha = 0.0 : f64} : tensor<4xf32>
  return
}

// -----

func.func @glu_c1_activation(%x: tensor<4xf32>) {
  // expected-error@below {{has alpha 1.702000e+00, which only activation "silu" takes; found "gelu"}}
  %0 = swiglu.glu %x, %x {activation = "gelu", alpha = 1.702 : f64} : tensor<4xf32>
  return
}

// -----

func.func @glu_c2(%x: tensor<4xf32>) {
  // expected-error@below {{wants a finite limit above 0, found -1.000000e+00}}
  %0 = swiglu.glu %x, %x {activation = "silu", limit = -1.0 : f64} : tensor<4xf32>
  return
}

// -----

func.func @glu_c3(%x: tensor<4xf32>) {
  // expected-error@below {{wants a finite up_offset, found INF}}
  %0 = swiglu.glu %x, %x {activation = "silu", up_offset = 0x7FF0000000000000 : f64} : tensor<4xf32>
  return
}

// -----

func.func @activation(%x: tensor<4xf32>) {
  // expected-error@below {{attribute 'activation' failed to satisfy constraint: one of silu, gelu, gelu_tanh, relu, sigmoid}}
  %0 = swiglu.glu %x, %x {activation = "swish"} : tensor<4xf32>
  return
}
