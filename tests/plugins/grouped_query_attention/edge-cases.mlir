// REQUIRES: plugin-grouped_query_attention
// Heads in the order of groups, 0 0 1 1, and never 0 1 0 1: values of head 0 are 10, of head 1 are 20.
// RUN: %tw-opt --grouped-query-attention-share %s | FileCheck %s
// RUN: %tw-opt --reference-interpret %s -o /dev/null
// RUN: %tw-opt --grouped-query-attention-share --reference-interpret %s -o /dev/null

// CHECK-LABEL: func.func @test_by_groups
// CHECK: key(%{{.*}} : tensor<1x2x3x1xf32>)
func.func @test_by_groups() {
  %q = tw.constant dense<0.0> : tensor<1x4x1x1xf32>
  %v = tw.constant dense<[[[[10.0], [10.0], [10.0]], [[20.0], [20.0], [20.0]]]]> : tensor<1x2x3x1xf32>
  %like = tw.constant dense<0.0> : tensor<1x2x2x3x1xf32>
  %b = tw.broadcast %v like %like dims [0, 1, 3, 4] : tensor<1x2x3x1xf32>, tensor<1x2x2x3x1xf32> -> tensor<1x2x2x3x1xf32>
  %r = tw.reshape %b : tensor<1x2x2x3x1xf32> -> tensor<1x4x3x1xf32>
  %o = tw.attention query(%q : tensor<1x4x1x1xf32>) key(%r : tensor<1x4x3x1xf32>) value(%r : tensor<1x4x3x1xf32>) {scale = 1.0 : f64} -> tensor<1x4x1x1xf32>
  %w = tw.constant dense<[[[[10.0]], [[10.0]], [[20.0]], [[20.0]]]]> : tensor<1x4x1x1xf32>
  check.expect_close %o, %w {absolute = 1.0e-06 : f64} : tensor<1x4x1x1xf32>
  return
}

// CHECK-LABEL: func.func @test_as_a_list
// CHECK: key(%{{.*}} : tensor<1x4x3x1xf32>)
func.func @test_as_a_list() {
  %q = tw.constant dense<0.0> : tensor<1x4x1x1xf32>
  %v = tw.constant dense<[[[[10.0], [10.0], [10.0]], [[20.0], [20.0], [20.0]]]]> : tensor<1x2x3x1xf32>
  %r = tw.concat dim 1 %v, %v : tensor<1x2x3x1xf32>, tensor<1x2x3x1xf32> -> tensor<1x4x3x1xf32>
  %o = tw.attention query(%q : tensor<1x4x1x1xf32>) key(%r : tensor<1x4x3x1xf32>) value(%r : tensor<1x4x3x1xf32>) {scale = 1.0 : f64} -> tensor<1x4x1x1xf32>
  %w = tw.constant dense<[[[[10.0]], [[20.0]], [[10.0]], [[20.0]]]]> : tensor<1x4x1x1xf32>
  check.expect_close %o, %w {absolute = 1.0e-06 : f64} : tensor<1x4x1x1xf32>
  return
}
