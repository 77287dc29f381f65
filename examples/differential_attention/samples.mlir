// What `tilewright plugins check` tries.
func.func @rows(%a: tensor<?x4x16xf32>, %b: tensor<?x4x16xf32>, %l: tensor<4xf32>) -> tensor<?x4x16xf32> {
  %y = differential_attention.combine %a, %b, %l {epsilon = 1.0e-05 : f64} : tensor<?x4x16xf32>, tensor<4xf32>
  return %y : tensor<?x4x16xf32>
}

// -----

func.func @weighted(%a: tensor<?x3x33xf32>, %b: tensor<?x3x33xf32>, %l: tensor<3xf32>, %g: tensor<33xf32>) -> tensor<?x3x33xf32> {
  %y = differential_attention.combine %a, %b, %l weight(%g : tensor<33xf32>) {epsilon = 0.1 : f64, scale = 0.2 : f64} : tensor<?x3x33xf32>, tensor<3xf32>
  return %y : tensor<?x3x33xf32>
}

// -----

func.func @half(%a: tensor<?x2x8xbf16>, %b: tensor<?x2x8xbf16>, %l: tensor<2xbf16>, %g: tensor<8xbf16>) -> tensor<?x2x8xbf16> {
  %y = differential_attention.combine %a, %b, %l weight(%g : tensor<8xbf16>) {epsilon = 1.0e-05 : f64} : tensor<?x2x8xbf16>, tensor<2xbf16>
  return %y : tensor<?x2x8xbf16>
}

// -----

// One head of one element.
func.func @narrow(%a: tensor<?x1x1xf32>, %b: tensor<?x1x1xf32>, %l: tensor<1xf32>) -> tensor<?x1x1xf32> {
  %y = differential_attention.combine %a, %b, %l {epsilon = 1.0e-05 : f64} : tensor<?x1x1xf32>, tensor<1xf32>
  return %y : tensor<?x1x1xf32>
}

// -----

// What the pass finds: two attentions over the same values.
func.func @core(%q1: tensor<2x3x5x8xf32>, %q2: tensor<2x3x5x8xf32>, %k1: tensor<2x3x7x8xf32>, %k2: tensor<2x3x7x8xf32>,
                %v: tensor<2x3x7x16xf32>) -> tensor<2x3x5x16xf32> {
  %a = tw.attention query(%q1 : tensor<2x3x5x8xf32>) key(%k1 : tensor<2x3x7x8xf32>) value(%v : tensor<2x3x7x16xf32>) {scale = 0.35 : f64} -> tensor<2x3x5x16xf32>
  %b = tw.attention query(%q2 : tensor<2x3x5x8xf32>) key(%k2 : tensor<2x3x7x8xf32>) value(%v : tensor<2x3x7x16xf32>) {scale = 0.35 : f64} -> tensor<2x3x5x16xf32>
  %l = tw.constant dense<0.5> : tensor<2x3x5x16xf32>
  %lb = tw.mul %b, %l : tensor<2x3x5x16xf32>
  %z = tw.sub %a, %lb : tensor<2x3x5x16xf32>
  %zz = tw.mul %z, %z : tensor<2x3x5x16xf32>
  %m = tw.reduce "mean" %zz dims [3] : tensor<2x3x5x16xf32> -> tensor<2x3x5xf32>
  %e = tw.constant dense<1.0e-05> : tensor<2x3x5xf32>
  %me = tw.add %m, %e : tensor<2x3x5xf32>
  %r = tw.rsqrt %me : tensor<2x3x5xf32>
  %rb = tw.broadcast %r like %z dims [0, 1, 2] : tensor<2x3x5xf32>, tensor<2x3x5x16xf32> -> tensor<2x3x5x16xf32>
  %n = tw.mul %z, %rb : tensor<2x3x5x16xf32>
  return %n : tensor<2x3x5x16xf32>
}

// -----

func.func @combine_c1(%a: tensor<?x16xf32>, %l: tensor<4xf32>) {
  // expected-error@below {{wants halves of rank 3 or more with static heads (dimension 1) and width (the last), found 'tensor<?x16xf32>'}}
  %y = differential_attention.combine %a, %a, %l {epsilon = 1.0e-05 : f64} : tensor<?x16xf32>, tensor<4xf32>
  return
}

// -----

func.func @combine_c2(%a: tensor<?x4x16xf32>, %l: tensor<3xf32>) {
  // expected-error@below {{wants a lambda of shape [4], found 'tensor<3xf32>'}}
  %y = differential_attention.combine %a, %a, %l {epsilon = 1.0e-05 : f64} : tensor<?x4x16xf32>, tensor<3xf32>
  return
}

// -----

func.func @combine_c3(%a: tensor<?x4x16xf32>, %l: tensor<4xf32>) {
  // expected-error@below {{wants a weight of shape [16], found 'tensor<4xf32>'}}
  %y = differential_attention.combine %a, %a, %l weight(%l : tensor<4xf32>) {epsilon = 1.0e-05 : f64} : tensor<?x4x16xf32>, tensor<4xf32>
  return
}

// -----

func.func @combine_c4(%a: tensor<?x4x16xf32>, %l: tensor<4xf32>) {
  // expected-error@below {{wants a finite epsilon of at least 0 and a finite scale, found -1.000000e+00 and 1.000000e+00}}
  %y = differential_attention.combine %a, %a, %l {epsilon = -1.0 : f64} : tensor<?x4x16xf32>, tensor<4xf32>
  return
}
