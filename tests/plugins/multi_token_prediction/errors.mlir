// REQUIRES: plugin-multi_token_prediction
// RUN: %tw-opt %s --split-input-file --verify-diagnostics

func.func @heads_c1(%h: tensor<?x?x8xf32>, %w: tensor<2x5x8xf32>) {
  // expected-error@below {{wants a hidden state whose last dimension is static and at least 1, and of whose others one at most is dynamic, found 'tensor<?x?x8xf32>'}}
  %y = multi_token_prediction.heads %h, %w : tensor<?x?x8xf32>, tensor<2x5x8xf32> -> tensor<2x?x?x5xf32>
  return
}

// -----

func.func @heads_c2(%h: tensor<?x8xf32>, %w: tensor<2x5x7xf32>) {
  // expected-error@below {{wants a weight of shape [n, V, 8], found 'tensor<2x5x7xf32>'}}
  %y = multi_token_prediction.heads %h, %w : tensor<?x8xf32>, tensor<2x5x7xf32> -> tensor<2x?x5xf32>
  return
}

// -----

func.func @heads_c3(%h: tensor<?x8xf32>, %w: tensor<2x5x8xf32>, %b: tensor<5xf32>) {
  // expected-error@below {{wants a bias of shape [2, 5], found 'tensor<5xf32>'}}
  %y = multi_token_prediction.heads %h, %w bias(%b : tensor<5xf32>) : tensor<?x8xf32>, tensor<2x5x8xf32> -> tensor<2x?x5xf32>
  return
}

// -----

func.func @offsets_c1(%h: tensor<4x?xf32>, %a: tensor<2x8xf32>) {
  // expected-error@below {{wants a hidden state whose last dimension is static}}
  %y = multi_token_prediction.offsets %h, %a : tensor<4x?xf32>, tensor<2x8xf32> -> tensor<3x4x?xf32>
  return
}

// -----

func.func @offsets_c2(%h: tensor<4x8xf32>, %a: tensor<2x7xf32>) {
  // expected-error@below {{wants vectors of shape [n-1, 8], found 'tensor<2x7xf32>'}}
  %y = multi_token_prediction.offsets %h, %a : tensor<4x8xf32>, tensor<2x7xf32> -> tensor<3x4x8xf32>
  return
}

// -----

func.func @offsets_c3(%h: tensor<4x8xf32>, %a: tensor<2x8xf32>, %m: tensor<3x8x8xf32>) {
  // expected-error@below {{wants a matrix of shape [2, 8, 8], found 'tensor<3x8x8xf32>'}}
  %y = multi_token_prediction.offsets %h, %a matrix(%m : tensor<3x8x8xf32>) : tensor<4x8xf32>, tensor<2x8xf32> -> tensor<3x4x8xf32>
  return
}

// -----

func.func @join_c1(%e: tensor<4x?xf32>, %g: tensor<8xf32>, %w: tensor<8x16xf32>) {
  // expected-error@below {{wants a hidden state whose last dimension is static and at least 1, found 'tensor<4x?xf32>'}}
  %y = multi_token_prediction.join %e, %e norms(%g, %g) weight(%w : tensor<8x16xf32>) {epsilon = 0.0 : f64} : tensor<4x?xf32>, tensor<8xf32>
  return
}

// -----

func.func @join_c2(%e: tensor<4x8xf32>, %g: tensor<4xf32>, %w: tensor<8x16xf32>) {
  // expected-error@below {{wants the norms' weights of shape [8], found 'tensor<4xf32>'}}
  %y = multi_token_prediction.join %e, %e norms(%g, %g) weight(%w : tensor<8x16xf32>) {epsilon = 0.0 : f64} : tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @join_c3(%e: tensor<4x8xf32>, %g: tensor<8xf32>, %w: tensor<8x8xf32>) {
  // expected-error@below {{wants a weight of shape [8, 16], found 'tensor<8x8xf32>'}}
  %y = multi_token_prediction.join %e, %e norms(%g, %g) weight(%w : tensor<8x8xf32>) {epsilon = 0.0 : f64} : tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @join_c4(%e: tensor<4x8xf32>, %g: tensor<8xf32>, %w: tensor<8x16xf32>) {
  // expected-error@below {{wants a finite epsilon of at least 0, found -1.000000e+00}}
  %y = multi_token_prediction.join %e, %e norms(%g, %g) weight(%w : tensor<8x16xf32>) {epsilon = -1.0 : f64} : tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @loss_c1(%y: tensor<2x3x4x7xf32>, %labels: tensor<3x5xi32>) {
  // expected-error@below {{wants logits [n, B, T, V] and labels [B, T], n and V static and at least 1, found 'tensor<2x3x4x7xf32>' and 'tensor<3x5xi32>'}}
  %loss, %heads = multi_token_prediction.loss %y, %labels : tensor<2x3x4x7xf32>, tensor<3x5xi32> -> tensor<f32>, tensor<2xf32>
  return
}

// -----

func.func @loss_c2(%y: tensor<2x3x4x7xf32>, %labels: tensor<3x4xi32>) {
  // expected-error@below {{wants an ignore_index from -16777216 to 16777216, found 16777217}}
  %loss, %heads = multi_token_prediction.loss %y, %labels {ignore_index = 16777217 : i64} : tensor<2x3x4x7xf32>, tensor<3x4xi32> -> tensor<f32>, tensor<2xf32>
  return
}
// -----

func.func @heads_c2_dynamic(%h: tensor<?x8xf32>, %w: tensor<2x?x8xf32>) {
  // expected-error@below {{wants a weight of shape [n, V, 8], found 'tensor<2x?x8xf32>'}}
  %y = multi_token_prediction.heads %h, %w : tensor<?x8xf32>, tensor<2x?x8xf32> -> tensor<2x?x?xf32>
  return
}
// -----

func.func @loss_c1_no_heads(%y: tensor<0x3x4x7xf32>, %labels: tensor<3x4xi32>) {
  // expected-error@below {{n and V static and at least 1, found 'tensor<0x3x4x7xf32>'}}
  %loss, %heads = multi_token_prediction.loss %y, %labels : tensor<0x3x4x7xf32>, tensor<3x4xi32> -> tensor<f32>, tensor<0xf32>
  return
}
// -----

func.func @loss_c2_vocabulary(%y: tensor<1x1x1x16777217xf32>, %labels: tensor<1x1xi32>) {
  // expected-error@below {{wants at most 16777216 logits a place, found 16777217}}
  %loss, %heads = multi_token_prediction.loss %y, %labels : tensor<1x1x1x16777217xf32>, tensor<1x1xi32> -> tensor<f32>, tensor<1xf32>
  return
}
// -----

func.func @order(%e: tensor<4x8xf32>, %g: tensor<8xf32>, %w: tensor<8x16xf32>) {
  // expected-error@below {{attribute 'order' failed to satisfy constraint: one of embedding_first, hidden_first}}
  %y = multi_token_prediction.join %e, %e norms(%g, %g) weight(%w : tensor<8x16xf32>) {epsilon = 0.0 : f64, order = "both"} : tensor<4x8xf32>, tensor<8xf32>
  return
}
