// Norms of rows of 1024: by the root mean square, by mean and deviation, and both in one sweep with a residual sum.
func.func @rms(%x: tensor<?x1024xf32>, %g: tensor<1024xf32>) -> tensor<?x1024xf32> {
  %y = rms_norm.norm %x weight(%g : tensor<1024xf32>) {epsilon = 1.0e-05 : f64} : tensor<?x1024xf32>
  return %y : tensor<?x1024xf32>
}

func.func @layer(%x: tensor<?x1024xf32>, %g: tensor<1024xf32>, %b: tensor<1024xf32>) -> tensor<?x1024xf32> {
  %y = rms_norm.layer_norm %x weight(%g : tensor<1024xf32>) bias(%b : tensor<1024xf32>) {epsilon = 1.0e-05 : f64} : tensor<?x1024xf32>
  return %y : tensor<?x1024xf32>
}

func.func @sum_and_rms(%x: tensor<?x1024xf32>, %u: tensor<?x1024xf32>, %g: tensor<1024xf32>) -> (tensor<?x1024xf32>, tensor<?x1024xf32>) {
  %s = tw.add %x, %u : tensor<?x1024xf32>
  %y = rms_norm.norm %s weight(%g : tensor<1024xf32>) {epsilon = 1.0e-05 : f64} : tensor<?x1024xf32>
  return %s, %y : tensor<?x1024xf32>, tensor<?x1024xf32>
}

func.func @sum_and_layer(%x: tensor<?x1024xf32>, %u: tensor<?x1024xf32>, %g: tensor<1024xf32>, %b: tensor<1024xf32>) -> (tensor<?x1024xf32>, tensor<?x1024xf32>) {
  %s = tw.add %x, %u : tensor<?x1024xf32>
  %y = rms_norm.layer_norm %s weight(%g : tensor<1024xf32>) bias(%b : tensor<1024xf32>) {epsilon = 1.0e-05 : f64} : tensor<?x1024xf32>
  return %s, %y : tensor<?x1024xf32>, tensor<?x1024xf32>
}
