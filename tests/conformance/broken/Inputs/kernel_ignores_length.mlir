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

func.func @ragged(%q: tensor<?x4x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x2x8xf32>, %s: !tw.state<tensor<?x2x8xf32>, tensor<?x2x8xf32>>,
    %r: tensor<?xi32> {tw.symbols = ["B+1"], check.input = "offsets N"}, %l: tensor<?xi32> {tw.symbols = ["B"], check.input = "lengths 4"},
    %p: tensor<?xi32> {check.input = "positions 4"}) -> tensor<?x4x8xf32> {
  %t = tw.append %s, %r, %k, %v : !tw.state<tensor<?x2x8xf32>, tensor<?x2x8xf32>>, tensor<?xi32>, tensor<?x2x8xf32>, tensor<?x2x8xf32>
  %o = "broken.attend"(%q, %t, %r, %l, %p) : (tensor<?x4x8xf32>, !tw.state<tensor<?x2x8xf32>, tensor<?x2x8xf32>>,
    tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4x8xf32>
  return %o : tensor<?x4x8xf32>
}
