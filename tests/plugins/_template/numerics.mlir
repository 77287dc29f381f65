// REQUIRES: plugin-my_technique
// The reference against values by hand: several pieces, negative numbers, NaN.
// RUN: %tw-opt --reference-interpret %s -o /dev/null
// RUN: %tw-opt --reference-interpret=precision=f32 %s -o /dev/null

func.func @test_halves() {
  %x = tw.constant dense<[[1.0, -2.0, 3.0, -1.0], [0.0, 5.0, 0.5, 4.0]]> : tensor<2x4xf32>
  %y = my_technique.maxout %x {pieces = 2 : i64} : tensor<2x4xf32> -> tensor<2x2xf32>
  %want = tw.constant dense<[[3.0, -1.0], [0.5, 5.0]]> : tensor<2x2xf32>
  check.expect_eq %y, %want : tensor<2x2xf32>
  return
}

func.func @test_thirds() {
  %x = tw.constant dense<[-3.0, -1.0, -2.0]> : tensor<3xf32>
  %y = my_technique.maxout %x {pieces = 3 : i64} : tensor<3xf32> -> tensor<1xf32>
  %want = tw.constant dense<[-1.0]> : tensor<1xf32>
  check.expect_eq %y, %want : tensor<1xf32>
  return
}
