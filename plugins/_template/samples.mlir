// What `tilewright plugins check` tries: good uses of the op and the pass, and one bad use for each constraint.
func.func @halves(%x: tensor<?x64xf32>) -> tensor<?x32xf32> {
  %y = my_technique.maxout %x {pieces = 2 : i64} : tensor<?x64xf32> -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// -----

func.func @thirds(%x: tensor<?x2x15xf32>) -> tensor<?x2x5xf32> {
  %y = my_technique.maxout %x {pieces = 3 : i64} : tensor<?x2x15xf32> -> tensor<?x2x5xf32>
  return %y : tensor<?x2x5xf32>
}

// -----

func.func @single_elements(%x: tensor<?x4xf32>) -> tensor<?x1xf32> {
  %y = my_technique.maxout %x {pieces = 4 : i64} : tensor<?x4xf32> -> tensor<?x1xf32>
  return %y : tensor<?x1xf32>
}

// -----

// What the pass finds.
func.func @core(%x: tensor<?x8xf32>) -> tensor<?x4xf32> {
  %a = tw.slice %x dim 1 start 0 size 4 : tensor<?x8xf32> -> tensor<?x4xf32>
  %b = tw.slice %x dim 1 start 4 size 4 : tensor<?x8xf32> -> tensor<?x4xf32>
  %m = tw.maximum %a, %b : tensor<?x4xf32>
  return %m : tensor<?x4xf32>
}

// -----

func.func @maxout_c1(%x: tensor<4x8xf32>) {
  // expected-error@below {{wants at least 2 pieces, found 1}}
  %y = my_technique.maxout %x {pieces = 1 : i64} : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @maxout_c2(%x: tensor<4x9xf32>) {
  // expected-error@below {{wants an input whose last dimension is static and a multiple of 2, found 'tensor<4x9xf32>'}}
  %y = my_technique.maxout %x {pieces = 2 : i64} : tensor<4x9xf32> -> tensor<4x4xf32>
  return
}
