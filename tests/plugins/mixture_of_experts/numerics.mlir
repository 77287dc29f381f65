// REQUIRES: plugin-mixture_of_experts
// Numbers worked out by hand. (Golden cases: golden.test; compiled against the interpreter: conformance.test.)
// RUN: %tw-opt %s --reference-interpret -o /dev/null
// RUN: %tw-opt %s --reference-interpret=precision=f32 -o /dev/null

// Raw logits are never weights; with renormalising the softmax is that over the chosen.
func.func @test_weights_with_and_without_renormalising() {
  %l = tw.constant dense<[[2.0, 1.0, 0.0, -1.0]]> : tensor<1x4xf32>
  %first = tw.constant dense<[[0, 1]]> : tensor<1x2xi32>
  %w0, %i0 = mixture_of_experts.route %l {gating = "softmax", top_k = 2 : i64} : tensor<1x4xf32> -> tensor<1x2xf32>, tensor<1x2xi32>
  %v0 = tw.constant dense<[[0.64391426, 0.23688282]]> : tensor<1x2xf32>
  check.expect_close %w0, %v0 {absolute = 1.0e-06 : f64} : tensor<1x2xf32>
  check.expect_eq %i0, %first : tensor<1x2xi32>
  %w1, %i1 = mixture_of_experts.route %l {gating = "softmax", top_k = 2 : i64, renormalize = true} : tensor<1x4xf32> -> tensor<1x2xf32>, tensor<1x2xi32>
  %w2, %i2 = mixture_of_experts.route %l {gating = "chosen_softmax", top_k = 2 : i64} : tensor<1x4xf32> -> tensor<1x2xf32>, tensor<1x2xi32>
  %v1 = tw.constant dense<[[0.73105858, 0.26894142]]> : tensor<1x2xf32>
  check.expect_close %w1, %v1 {absolute = 1.0e-06 : f64} : tensor<1x2xf32>
  check.expect_close %w2, %v1 {absolute = 1.0e-06 : f64} : tensor<1x2xf32>
  // The scaling is behind the renormalising.
  %w3, %i3 = mixture_of_experts.route %l {gating = "softmax", top_k = 2 : i64, renormalize = true, scaling = 2.0 : f64} : tensor<1x4xf32> -> tensor<1x2xf32>, tensor<1x2xi32>
  %v3 = tw.constant dense<[[1.46211716, 0.53788284]]> : tensor<1x2xf32>
  check.expect_close %w3, %v3 {absolute = 2.0e-06 : f64} : tensor<1x2xf32>
  return
}

// The selection bias chooses and does not weigh: scores 0.9, 0.8, 0.1, 0.1.
func.func @test_selection_bias() {
  %l = tw.constant dense<[[2.1972246, 1.3862944, -2.1972246, -2.1972246]]> : tensor<1x4xf32>
  %b = tw.constant dense<[0.0, 0.0, 0.0, 1.0]> : tensor<4xf32>
  %w, %i = mixture_of_experts.route %l selection_bias %b : tensor<4xf32> {gating = "sigmoid", top_k = 2 : i64} : tensor<1x4xf32> -> tensor<1x2xf32>, tensor<1x2xi32>
  %wr, %ir = mixture_of_experts.route %l selection_bias %b : tensor<4xf32> {gating = "sigmoid", top_k = 2 : i64, renormalize = true} : tensor<1x4xf32> -> tensor<1x2xf32>, tensor<1x2xi32>
  %want = tw.constant dense<[[0.1, 0.9]]> : tensor<1x2xf32>
  %chosen = tw.constant dense<[[3, 0]]> : tensor<1x2xi32>
  check.expect_close %w, %want {absolute = 1.0e-06 : f64} : tensor<1x2xf32>
  check.expect_close %wr, %want {absolute = 1.0e-06 : f64} : tensor<1x2xf32>
  check.expect_eq %i, %chosen : tensor<1x2xi32>
  check.expect_eq %ir, %chosen : tensor<1x2xi32>
  return
}

// Rows: all equal; two equal at the last place; zeros of both signs; a NaN, which never wins.
func.func @test_equal_scores() {
  %l = tw.constant dense<[[1.0, 1.0, 1.0, 1.0], [0.0, 2.0, 1.0, 1.0], [-0.0, 0.0, -0.0, -1.0], [1.0, 0x7FC00000, 3.0, 2.0]]> : tensor<4x4xf32>
  %w, %i = mixture_of_experts.route %l {gating = "chosen_softmax", top_k = 2 : i64} : tensor<4x4xf32> -> tensor<4x2xf32>, tensor<4x2xi32>
  %chosen = tw.constant dense<[[0, 1], [1, 2], [0, 1], [2, 3]]> : tensor<4x2xi32>
  check.expect_eq %i, %chosen : tensor<4x2xi32>
  return
}

// Groups {0, 1}, {2, 3}, {4, 5} with the sums 0.90, 0.75, 1.10 of their scores: expert 2, the best of all, is in none of the
// two best groups.
func.func @test_groups() {
  %l = tw.constant dense<[[-0.2, -0.2, 0.85, -3.0, 0.2, 0.2]]> : tensor<1x6xf32>
  %w, %i = mixture_of_experts.route %l {gating = "sigmoid", top_k = 3 : i64, groups = 3 : i64, top_groups = 2 : i64} : tensor<1x6xf32> -> tensor<1x3xf32>, tensor<1x3xi32>
  %chosen = tw.constant dense<[[4, 5, 0]]> : tensor<1x3xi32>
  check.expect_eq %i, %chosen : tensor<1x3xi32>
  return
}

// Four tokens, eight experts, all to expert 3: what the others hold does not matter.
func.func @test_experts_without_tokens() {
  %x = tw.constant dense<[[1.0], [2.0], [3.0], [4.0]]> : tensor<4x1xf32>
  %w = tw.constant dense<1.0> : tensor<4x1xf32>
  %i = tw.constant dense<3> : tensor<4x1xi32>
  %u = tw.constant dense<[[[0x7FC00000]], [[0x7FC00000]], [[0x7FC00000]], [[2.0]], [[0x7FC00000]], [[0x7FC00000]], [[0x7FC00000]], [[0x7FC00000]]]> : tensor<8x1x1xf32>
  %y = mixture_of_experts.experts %x, %w, %i up(%u) down(%u) {activation = "relu"} : (tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xi32>, tensor<8x1x1xf32>, tensor<8x1x1xf32>) -> tensor<4x1xf32>
  %want = tw.constant dense<[[4.0], [8.0], [12.0], [16.0]]> : tensor<4x1xf32>
  check.expect_close %y, %want {absolute = 0.0 : f64} : tensor<4x1xf32>
  %c = mixture_of_experts.counts %i {experts = 8 : i64} : tensor<4x1xi32> -> tensor<8xi32>
  %counts = tw.constant dense<[0, 0, 0, 4, 0, 0, 0, 0]> : tensor<8xi32>
  check.expect_eq %c, %counts : tensor<8xi32>
  return
}

// Shared expert of all ones behind a gate of logit 0, and a routed part of 0.
func.func @test_gated_shared_expert() {
  %x = tw.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %w = tw.constant dense<1.0> : tensor<1x1xf32>
  %i = tw.constant dense<1> : tensor<1x1xi32>
  %none = tw.constant dense<0.0> : tensor<2x3x2xf32>
  %down = tw.constant dense<0.0> : tensor<2x2x3xf32>
  %y = mixture_of_experts.experts %x, %w, %i up(%none) down(%down) gate(%none) {activation = "silu"} : (tensor<1x2xf32>, tensor<1x1xf32>, tensor<1x1xi32>, tensor<2x3x2xf32>, tensor<2x2x3xf32>, tensor<2x3x2xf32>) -> tensor<1x2xf32>
  %shared = tw.constant dense<1.0> : tensor<1x2xf32>
  %gate = tw.constant dense<0.0> : tensor<1x2xf32>
  %logit = tw.linear %x, %gate : tensor<1x2xf32>, tensor<1x2xf32> -> tensor<1x1xf32>
  %open = tw.sigmoid %logit : tensor<1x1xf32>
  %column = tw.reshape %open : tensor<1x1xf32> -> tensor<1xf32>
  %factor = tw.broadcast %column like %shared dims [0] : tensor<1xf32>, tensor<1x2xf32> -> tensor<1x2xf32>
  %part = tw.mul %shared, %factor : tensor<1x2xf32>
  %sum = tw.add %y, %part : tensor<1x2xf32>
  %want = tw.constant dense<0.5> : tensor<1x2xf32>
  check.expect_close %sum, %want {absolute = 0.0 : f64} : tensor<1x2xf32>
  return
}

func.func @test_no_tokens() {
  %s = tw.constant dense<> : tensor<0x4xf32>
  %w = tw.constant dense<> : tensor<0x2xf32>
  %i = tw.constant dense<> : tensor<0x2xi32>
  %zero = tw.constant dense<0.0> : tensor<f32>
  %a = mixture_of_experts.balance_loss %w, %i {form = "mean_weight", experts = 4 : i64} : tensor<0x2xf32>, tensor<0x2xi32> -> tensor<f32>
  check.expect_close %a, %zero {absolute = 0.0 : f64} : tensor<f32>
  %b = mixture_of_experts.balance_loss %s, %i {form = "switch", experts = 4 : i64} : tensor<0x4xf32>, tensor<0x2xi32> -> tensor<f32>
  check.expect_close %b, %zero {absolute = 0.0 : f64} : tensor<f32>
  %c = mixture_of_experts.counts %i {experts = 2 : i64} : tensor<0x2xi32> -> tensor<2xi32>
  %none = tw.constant dense<0> : tensor<2xi32>
  check.expect_eq %c, %none : tensor<2xi32>
  return
}

// Even use of four experts by two tokens: the mean weights are 1/4 each, the Switch loss is 1, Transformers' k.
func.func @test_even_balance() {
  %w = tw.constant dense<0.5> : tensor<2x2xf32>
  %i = tw.constant dense<[[0, 1], [3, 2]]> : tensor<2x2xi32>
  %s = tw.constant dense<0.25> : tensor<2x4xf32>
  %a = mixture_of_experts.balance_loss %w, %i {form = "mean_weight", experts = 4 : i64} : tensor<2x2xf32>, tensor<2x2xi32> -> tensor<f32>
  %zero = tw.constant dense<0.0> : tensor<f32>
  check.expect_close %a, %zero {absolute = 1.0e-12 : f64} : tensor<f32>
  %b = mixture_of_experts.balance_loss %s, %i {form = "switch", experts = 4 : i64} : tensor<2x4xf32>, tensor<2x2xi32> -> tensor<f32>
  %one = tw.constant dense<1.0> : tensor<f32>
  check.expect_close %b, %one {absolute = 1.0e-06 : f64} : tensor<f32>
  %c = mixture_of_experts.balance_loss %s, %i {form = "choices", experts = 4 : i64} : tensor<2x4xf32>, tensor<2x2xi32> -> tensor<f32>
  %two = tw.constant dense<2.0> : tensor<f32>
  check.expect_close %c, %two {absolute = 1.0e-06 : f64} : tensor<f32>
  return
}
