// REQUIRES: plugin-differential_attention
// The reference against values by hand, alone and where the pass puts the op.
// RUN: %tw-opt --reference-interpret %s -o /dev/null
// RUN: %tw-opt --reference-interpret=precision=f32 %s -o /dev/null

// z = (3, 4) and, with lambda 0.5, (2, 4): divided by sqrt(12.5) and sqrt(10), times scale and weight.
func.func @test_by_hand() {
  %a = tw.constant dense<[[[3.0, 4.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>
  %b = tw.constant dense<[[[7.0, -9.0], [2.0, 0.0]]]> : tensor<1x2x2xf32>
  %l = tw.constant dense<[0.0, 0.5]> : tensor<2xf32>
  %g = tw.constant dense<[1.0, 10.0]> : tensor<2xf32>
  %y = differential_attention.combine %a, %b, %l weight(%g : tensor<2xf32>) {epsilon = 0.0 : f64, scale = 0.2 : f64} : tensor<1x2x2xf32>, tensor<2xf32>
  %want = tw.constant dense<[[[0.16970563, 2.26274170], [0.12649111, 2.52982213]]]> : tensor<1x2x2xf32>
  check.expect_close %y, %want {absolute = 1.0e-06 : f64} : tensor<1x2x2xf32>
  return
}

// Equal halves cancel: 0, not NaN, thanks to epsilon.
func.func @test_cancel() {
  %a = tw.constant dense<3.0> : tensor<2x1x4xf32>
  %l = tw.constant dense<1.0> : tensor<1xf32>
  %y = differential_attention.combine %a, %a, %l {epsilon = 1.0e-05 : f64} : tensor<2x1x4xf32>, tensor<1xf32>
  %want = tw.constant dense<0.0> : tensor<2x1x4xf32>
  check.expect_eq %y, %want : tensor<2x1x4xf32>
  return
}
