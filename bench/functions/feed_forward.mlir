// Feed-forward blocks of one number of parameters (2 x 256 x 1536 = 3 x 256 x 1024): two linear maps around a ReLU, three
// around a gated unit.
func.func @relu(%x: tensor<?x256xf32>, %w1: tensor<1536x256xf32>, %w2: tensor<256x1536xf32>) -> tensor<?x256xf32> {
  %h = tw.linear %x, %w1 : tensor<?x256xf32>, tensor<1536x256xf32> -> tensor<?x1536xf32>
  %zero = tw.constant dense<0.0> : tensor<f32>
  %zeros = tw.broadcast %zero like %h dims [] : tensor<f32>, tensor<?x1536xf32> -> tensor<?x1536xf32>
  %a = tw.maximum %h, %zeros : tensor<?x1536xf32>
  %y = tw.linear %a, %w2 : tensor<?x1536xf32>, tensor<256x1536xf32> -> tensor<?x256xf32>
  return %y : tensor<?x256xf32>
}

func.func @swiglu(%x: tensor<?x256xf32>, %w1: tensor<1024x256xf32>, %w2: tensor<1024x256xf32>, %w3: tensor<256x1024xf32>) -> tensor<?x256xf32> {
  %g = tw.linear %x, %w1 : tensor<?x256xf32>, tensor<1024x256xf32> -> tensor<?x1024xf32>
  %u = tw.linear %x, %w2 : tensor<?x256xf32>, tensor<1024x256xf32> -> tensor<?x1024xf32>
  %a = swiglu.glu %g, %u {activation = "silu"} : tensor<?x1024xf32>
  %y = tw.linear %a, %w3 : tensor<?x1024xf32>, tensor<256x1024xf32> -> tensor<?x256xf32>
  return %y : tensor<?x256xf32>
}
