// Values by hand.
// RUN: %tw-opt %s --reference-interpret -o /dev/null
// RUN: %tw-opt %s --reference-interpret=precision=f32 -o /dev/null
// RUN: %tw-opt %s | %tw-opt | FileCheck %s

func.func @test_batch_matmul() {
  %a = tw.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[0.0, 1.0], [1.0, 0.0]]]> : tensor<2x2x2xf32>
  %b = tw.constant dense<[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[7.0, 8.0, 9.0], [1.0, 2.0, 3.0]]]> : tensor<2x2x3xf32>
  // CHECK: tw.batch_matmul %{{.*}}, %{{.*}} : tensor<2x2x2xf32>, tensor<2x2x3xf32> -> tensor<2x2x3xf32>
  %y = tw.batch_matmul %a, %b : tensor<2x2x2xf32>, tensor<2x2x3xf32> -> tensor<2x2x3xf32>
  %w = tw.constant dense<[[[9.0, 12.0, 15.0], [19.0, 26.0, 33.0]], [[1.0, 2.0, 3.0], [7.0, 8.0, 9.0]]]> : tensor<2x2x3xf32>
  check.expect_eq %y, %w : tensor<2x2x3xf32>
  %t = tw.transpose %b perm [0, 2, 1] : tensor<2x2x3xf32> -> tensor<2x3x2xf32>
  // CHECK: tw.batch_matmul %{{.*}}, %{{.*}} {transpose_b = true} : tensor<2x2x2xf32>, tensor<2x3x2xf32> -> tensor<2x2x3xf32>
  %z = tw.batch_matmul %a, %t {transpose_b = true} : tensor<2x2x2xf32>, tensor<2x3x2xf32> -> tensor<2x2x3xf32>
  check.expect_eq %z, %w : tensor<2x2x3xf32>
  return
}

// Large scores do not overflow; -inf beside a number is 0.
func.func @test_softmax() {
  %x = tw.constant dense<[[0.0, 0.69314718], [1000.0, 1000.0], [0xFF800000, 5.0]]> : tensor<3x2xf32>
  // CHECK: tw.softmax %{{.*}} dim 1 : tensor<3x2xf32>
  %y = tw.softmax %x dim 1 : tensor<3x2xf32>
  %w = tw.constant dense<[[0.33333333, 0.66666667], [0.5, 0.5], [0.0, 1.0]]> : tensor<3x2xf32>
  check.expect_close %y, %w {absolute = 1.0e-07 : f64} : tensor<3x2xf32>
  %xt = tw.transpose %x perm [1, 0] : tensor<3x2xf32> -> tensor<2x3xf32>
  %yt = tw.softmax %xt dim 0 : tensor<2x3xf32>
  %wt = tw.transpose %w perm [1, 0] : tensor<3x2xf32> -> tensor<2x3xf32>
  check.expect_close %yt, %wt {absolute = 1.0e-07 : f64} : tensor<2x3xf32>
  return
}
