func.func @scale(%x: tensor<?x8xf32>, %m: tensor<?x8xi1>) -> tensor<?x8xf32> {
  %y = broken.scale %x, %m {factor = 2.0 : f64} : tensor<?x8xf32>, tensor<?x8xi1>
  return %y : tensor<?x8xf32>
}

// -----

func.func @twice(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = tw.neg %x : tensor<?x8xf32>
  %1 = tw.neg %0 : tensor<?x8xf32>
  %2 = tw.exp %1 : tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}

// -----

func.func @scale_c1(%x: tensor<4x8xf32>, %m: tensor<4x1xi1>) {
  // expected-error@below {{wants a mask of the input's shape, found 'tensor<4x1xi1>'}}
  %y = broken.scale %x, %m {factor = 2.0 : f64} : tensor<4x8xf32>, tensor<4x1xi1>
  return
}

// -----

func.func @scale_c2(%x: tensor<4x8xf32>, %m: tensor<4x8xi1>) {
  // expected-error@below {{wants a finite factor}}
  %y = broken.scale %x, %m {factor = 0x7FF0000000000000 : f64} : tensor<4x8xf32>, tensor<4x8xi1>
  return
}

// -----

func.func @half(%x: tensor<?x8xbf16>, %m: tensor<?x8xi1>) -> tensor<?x8xbf16> {
  %y = broken.scale %x, %m {factor = 2.0 : f64} : tensor<?x8xbf16>, tensor<?x8xi1>
  return %y : tensor<?x8xbf16>
}
