// What `tilewright plugins check` tries (docs/conformance.md).
func.func @weight(%x: tensor<?x48xf32>, %g: tensor<48xf32>) -> tensor<?x48xf32> {
  %y = rms_norm.norm %x weight(%g : tensor<48xf32>) {epsilon = 1.0e-05 : f64} : tensor<?x48xf32>
  return %y : tensor<?x48xf32>
}

// -----

func.func @plain(%x: tensor<?x33xf32>) -> tensor<?x33xf32> {
  %y = rms_norm.norm %x {epsilon = 1.0e-06 : f64} : tensor<?x33xf32>
  return %y : tensor<?x33xf32>
}

// -----

func.func @bias(%x: tensor<?x16xf32>, %g: tensor<16xf32>, %b: tensor<16xf32>) -> tensor<?x16xf32> {
  %y = rms_norm.norm %x weight(%g : tensor<16xf32>) bias(%b : tensor<16xf32>) {epsilon = 1.0e-05 : f64} : tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// -----

func.func @unit_offset(%x: tensor<?x16xf32>, %g: tensor<16xf32>) -> tensor<?x16xf32> {
  %y = rms_norm.norm %x weight(%g : tensor<16xf32>) {epsilon = 0.1 : f64, unit_offset = true, epsilon_outside = true} : tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// -----

// The norm of each head.
func.func @heads(%x: tensor<?x3x16xf32>, %g: tensor<16xf32>) -> tensor<?x3x16xf32> {
  %y = rms_norm.norm %x weight(%g : tensor<16xf32>) {epsilon = 1.0e-06 : f64} : tensor<?x3x16xf32>
  return %y : tensor<?x3x16xf32>
}

// -----

// A row of one element.
func.func @narrow(%x: tensor<?x1xf32>) -> tensor<?x1xf32> {
  %y = rms_norm.norm %x {epsilon = 1.0e-05 : f64} : tensor<?x1xf32>
  return %y : tensor<?x1xf32>
}

// -----

func.func @layer(%x: tensor<?x48xf32>, %g: tensor<48xf32>, %b: tensor<48xf32>) -> tensor<?x48xf32> {
  %y = rms_norm.layer_norm %x weight(%g : tensor<48xf32>) bias(%b : tensor<48xf32>) {epsilon = 1.0e-05 : f64} : tensor<?x48xf32>
  return %y : tensor<?x48xf32>
}

// -----

func.func @layer_plain(%x: tensor<?x3x33xf32>) -> tensor<?x3x33xf32> {
  %y = rms_norm.layer_norm %x {epsilon = 0.01 : f64} : tensor<?x3x33xf32>
  return %y : tensor<?x3x33xf32>
}

// -----

func.func @layer_bias(%x: tensor<?x16xf32>, %b: tensor<16xf32>) -> tensor<?x16xf32> {
  %y = rms_norm.layer_norm %x bias(%b : tensor<16xf32>) {epsilon = 1.0e-03 : f64} : tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// -----

// A row of one element is its own mean.
func.func @layer_narrow(%x: tensor<?x1xf32>, %b: tensor<1xf32>) -> tensor<?x1xf32> {
  %y = rms_norm.layer_norm %x bias(%b : tensor<1xf32>) {epsilon = 1.0e-05 : f64} : tensor<?x1xf32>
  return %y : tensor<?x1xf32>
}

// -----

// For rms-norm-recognise.
func.func @decomposed(%x: tensor<?x16xf32>, %g: tensor<16xf32>, %b: tensor<16xf32>) -> tensor<?x16xf32> {
  %eps = tw.constant dense<1.0e-03> : tensor<f32>
  %sum = tw.reduce "sum" %x dims [1] : tensor<?x16xf32> -> tensor<?xf32>
  %width = tw.constant dense<16.0> : tensor<f32>
  %widths = tw.broadcast %width like %sum dims [] : tensor<f32>, tensor<?xf32> -> tensor<?xf32>
  %mean = tw.div %sum, %widths : tensor<?xf32>
  %means = tw.broadcast %mean like %x dims [0] : tensor<?xf32>, tensor<?x16xf32> -> tensor<?x16xf32>
  %d = tw.sub %x, %means : tensor<?x16xf32>
  %d2 = tw.mul %d, %d : tensor<?x16xf32>
  %v = tw.reduce "mean" %d2 dims [1] : tensor<?x16xf32> -> tensor<?xf32>
  %e = tw.broadcast %eps like %v dims [] : tensor<f32>, tensor<?xf32> -> tensor<?xf32>
  %ve = tw.add %v, %e : tensor<?xf32>
  %root = tw.sqrt %ve : tensor<?xf32>
  %roots = tw.broadcast %root like %x dims [0] : tensor<?xf32>, tensor<?x16xf32> -> tensor<?x16xf32>
  %n = tw.div %d, %roots : tensor<?x16xf32>
  %gs = tw.broadcast %g like %n dims [1] : tensor<16xf32>, tensor<?x16xf32> -> tensor<?x16xf32>
  %ng = tw.mul %gs, %n : tensor<?x16xf32>
  %bs = tw.broadcast %b like %n dims [1] : tensor<16xf32>, tensor<?x16xf32> -> tensor<?x16xf32>
  %y = tw.add %ng, %bs : tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// -----

func.func @norm_c1(%x: tensor<4x0xf32>) {
  // expected-error@below {{last dimension is static and at least 1, found 'tensor<4x0xf32>'}}
  %0 = rms_norm.norm %x {epsilon = 1.0e-05 : f64} : tensor<4x0xf32>
  return
}

// -----

func.func @norm_c2(%x: tensor<4x8xf32>, %g: tensor<4xf32>) {
  // expected-error@below {{wants a weight of shape [8], found 'tensor<4xf32>'}}
  %0 = rms_norm.norm %x weight(%g : tensor<4xf32>) {epsilon = 1.0e-05 : f64} : tensor<4x8xf32>
  return
}

// -----

func.func @norm_c3(%x: tensor<4x8xf32>) {
  // expected-error@below {{wants a finite epsilon of at least 0, found -1.000000e+00}}
  %0 = rms_norm.norm %x {epsilon = -1.0 : f64} : tensor<4x8xf32>
  return
}

// -----

func.func @norm_c4(%x: tensor<4x8xf32>) {
  // expected-error@below {{has unit_offset but no weight to offset}}
  %0 = rms_norm.norm %x {epsilon = 1.0e-05 : f64, unit_offset = true} : tensor<4x8xf32>
  return
}

// -----

func.func @layer_norm_c1(%x: tensor<4x0xf32>) {
  // expected-error@below {{last dimension is static and at least 1, found 'tensor<4x0xf32>'}}
  %0 = rms_norm.layer_norm %x {epsilon = 1.0e-05 : f64} : tensor<4x0xf32>
  return
}

// -----

func.func @layer_norm_c2(%x: tensor<4x8xf32>, %g: tensor<4xf32>) {
  // expected-error@below {{wants a weight of shape [8], found 'tensor<4xf32>'}}
  %0 = rms_norm.layer_norm %x weight(%g : tensor<4xf32>) {epsilon = 1.0e-05 : f64} : tensor<4x8xf32>
  return
}

// -----

func.func @layer_norm_c3(%x: tensor<4x8xf32>) {
  // expected-error@below {{wants a finite epsilon of at least 0, found -1.000000e+00}}
  %0 = rms_norm.layer_norm %x {epsilon = -1.0 : f64} : tensor<4x8xf32>
  return
}
