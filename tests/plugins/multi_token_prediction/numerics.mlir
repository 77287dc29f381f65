// REQUIRES: plugin-multi_token_prediction
// Worked out by hand; golden.test compares with an independent implementation.
// RUN: %tw-opt --reference-interpret %s -o /dev/null
// RUN: %tw-opt --reference-interpret=precision=f32 %s -o /dev/null

// h + e: the first state is h itself.
func.func @test_vectors() {
  %h = tw.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %e = tw.constant dense<[[10.0, 20.0], [-1.0, 0.5]]> : tensor<2x2xf32>
  %want = tw.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[11.0, 22.0], [13.0, 24.0]], [[0.0, 2.5], [2.0, 4.5]]]> : tensor<3x2x2xf32>
  %y = multi_token_prediction.offsets %h, %e : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<3x2x2xf32>
  check.expect_eq %y, %want : tensor<3x2x2xf32>
  return
}

// h + SiLU(A h + a) with A h + a = (0, 100): SiLU is 0 and 100.
func.func @test_matrices() {
  %h = tw.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %m = tw.constant dense<[[[2.0, -1.0], [0.0, 50.0]]]> : tensor<1x2x2xf32>
  %a = tw.constant dense<0.0> : tensor<1x2xf32>
  %want = tw.constant dense<[[1.0, 2.0], [1.0, 102.0]]> : tensor<2x2xf32>
  %y = multi_token_prediction.offsets %h, %a matrix(%m : tensor<1x2x2xf32>) : tensor<2xf32>, tensor<1x2xf32> -> tensor<2x2xf32>
  check.expect_close %y, %want {absolute = 1.0e-06 : f64} : tensor<2x2xf32>
  return
}

// Rows of the weight are norm(e) and norm(h) apart: (3, 4) / sqrt(12.5), (1, 1) / 1.
func.func @test_join_orders() {
  %e = tw.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %h = tw.constant dense<[1.0, 1.0]> : tensor<2xf32>
  %g = tw.constant dense<[2.0, 1.0]> : tensor<2xf32>
  %one = tw.constant dense<1.0> : tensor<2xf32>
  %w = tw.constant dense<[[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]> : tensor<2x4xf32>
  %first = tw.constant dense<[1.69705627, 1.0]> : tensor<2xf32>
  %second = tw.constant dense<[1.0, 1.13137085]> : tensor<2xf32>
  %0 = multi_token_prediction.join %e, %h norms(%g, %one) weight(%w : tensor<2x4xf32>) {epsilon = 0.0 : f64} : tensor<2xf32>, tensor<2xf32>
  %1 = multi_token_prediction.join %e, %h norms(%g, %one) weight(%w : tensor<2x4xf32>) {epsilon = 0.0 : f64, order = "hidden_first"} : tensor<2xf32>, tensor<2xf32>
  check.expect_close %0, %first {absolute = 1.0e-06 : f64} : tensor<2xf32>
  check.expect_close %1, %second {absolute = 1.0e-06 : f64} : tensor<2xf32>
  return
}

// Equal logits: each place that counts costs ln 4. Three tokens; head 0 has two places, of which one is ignored, head 1 has
// one, head 2 none and still divides: (ln 4 + ln 4 + 0) / 3, and pooled ln 4.
func.func @test_loss_counts() {
  %y = tw.constant dense<2.5> : tensor<3x1x3x4xf32>
  %labels = tw.constant dense<[[0, -100, 3]]> : tensor<1x3xi32>
  %loss, %heads = multi_token_prediction.loss %y, %labels : tensor<3x1x3x4xf32>, tensor<1x3xi32> -> tensor<f32>, tensor<3xf32>
  %pooled, %same = multi_token_prediction.loss %y, %labels {pooled = true} : tensor<3x1x3x4xf32>, tensor<1x3xi32> -> tensor<f32>, tensor<3xf32>
  %want_loss = tw.constant dense<0.924196243> : tensor<f32>
  %want_heads = tw.constant dense<[1.38629436, 1.38629436, 0.0]> : tensor<3xf32>
  %want_pooled = tw.constant dense<1.38629436> : tensor<f32>
  check.expect_close %loss, %want_loss {absolute = 1.0e-06 : f64} : tensor<f32>
  check.expect_close %heads, %want_heads {absolute = 1.0e-06 : f64} : tensor<3xf32>
  check.expect_close %same, %want_heads {absolute = 1.0e-06 : f64} : tensor<3xf32>
  check.expect_close %pooled, %want_pooled {absolute = 1.0e-06 : f64} : tensor<f32>
  return
}

// Logits that overflow in exp: the label's is 1000 above the other, then 1000 below it. An ignore_index that is a label
// hides its places.
func.func @test_loss_of_large_logits() {
  %y = tw.constant dense<[[[[1000.0, 0.0], [1000.0, 0.0], [0.0, 0.0]]]]> : tensor<1x1x3x2xf32>
  %labels = tw.constant dense<[[1, 0, 1]]> : tensor<1x3xi32>
  %loss, %heads = multi_token_prediction.loss %y, %labels : tensor<1x1x3x2xf32>, tensor<1x3xi32> -> tensor<f32>, tensor<1xf32>
  %want = tw.constant dense<500.0> : tensor<f32>
  check.expect_close %loss, %want {absolute = 1.0e-04 : f64} : tensor<f32>
  %hidden, %all = multi_token_prediction.loss %y, %labels {ignore_index = 1 : i64} : tensor<1x1x3x2xf32>, tensor<1x3xi32> -> tensor<f32>, tensor<1xf32>
  %zero = tw.constant dense<0.0> : tensor<f32>
  check.expect_eq %hidden, %zero : tensor<f32>
  return
}

// Nothing to predict from one token, and nothing at all; labels that no logit stands for are NaN, not a number made up.
func.func @test_loss_edges() {
  %y = tw.constant dense<1.0> : tensor<2x1x1x4xf32>
  %label = tw.constant dense<[[2]]> : tensor<1x1xi32>
  %loss, %heads = multi_token_prediction.loss %y, %label : tensor<2x1x1x4xf32>, tensor<1x1xi32> -> tensor<f32>, tensor<2xf32>
  %zero = tw.constant dense<0.0> : tensor<f32>
  check.expect_eq %loss, %zero : tensor<f32>
  %none = tw.constant dense<0.0> : tensor<1x2x0x4xf32>
  %no_labels = tw.constant dense<0> : tensor<2x0xi32>
  %empty, %also = multi_token_prediction.loss %none, %no_labels : tensor<1x2x0x4xf32>, tensor<2x0xi32> -> tensor<f32>, tensor<1xf32>
  check.expect_eq %empty, %zero : tensor<f32>
  %two = tw.constant dense<1.0> : tensor<1x2x2x4xf32>
  %outside = tw.constant dense<[[0, 4], [0, -1]]> : tensor<2x2xi32>
  %wrong, %as_well = multi_token_prediction.loss %two, %outside : tensor<1x2x2x4xf32>, tensor<2x2xi32> -> tensor<f32>, tensor<1xf32>
  %nan = tw.constant dense<0x7FC00000> : tensor<f32>
  check.expect_eq %wrong, %nan : tensor<f32>
  return
}
