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

func.func @ragged(%q: tensor<3x4x8xf32>, %k: tensor<3x2x8xf32>, %v: tensor<3x2x8xf32>, %s: !tw.state<tensor<?x2x8xf32>, tensor<?x2x8xf32>>)
    -> tensor<3x4x8xf32> {
  %r = tw.constant dense<[0, 3]> : tensor<2xi32>
  %l = tw.constant dense<[3]> : tensor<1xi32>
  %p = tw.constant dense<[0, 1, 2]> : tensor<3xi32>
  %t = tw.append %s, %r, %k, %v : !tw.state<tensor<?x2x8xf32>, tensor<?x2x8xf32>>, tensor<2xi32>, tensor<3x2x8xf32>, tensor<3x2x8xf32>
  %o = "broken.attend"(%q, %t, %r, %l, %p) : (tensor<3x4x8xf32>, !tw.state<tensor<?x2x8xf32>, tensor<?x2x8xf32>>,
    tensor<2xi32>, tensor<1xi32>, tensor<3xi32>) -> tensor<3x4x8xf32>
  return %o : tensor<3x4x8xf32>
}
