// What `tilewright plugins check` tries (docs/conformance.md).
func.func @softmax(%l: tensor<?x8xf32>) -> (tensor<?x2xf32>, tensor<?x2xi32>) {
  %w, %i = mixture_of_experts.route %l {gating = "softmax", top_k = 2 : i64, renormalize = true} : tensor<?x8xf32> -> tensor<?x2xf32>, tensor<?x2xi32>
  return %w, %i : tensor<?x2xf32>, tensor<?x2xi32>
}

// -----

func.func @chosen_softmax(%l: tensor<?x33xf32>) -> (tensor<?x3xf32>, tensor<?x3xi32>) {
  %w, %i = mixture_of_experts.route %l {gating = "chosen_softmax", top_k = 3 : i64} : tensor<?x33xf32> -> tensor<?x3xf32>, tensor<?x3xi32>
  return %w, %i : tensor<?x3xf32>, tensor<?x3xi32>
}

// -----

func.func @groups(%l: tensor<?x12xf32>, %b: tensor<12xf32>) -> (tensor<?x3xf32>, tensor<?x3xi32>) {
  %w, %i = mixture_of_experts.route %l selection_bias %b : tensor<12xf32> {gating = "sigmoid", top_k = 3 : i64, renormalize = true, scaling = 2.5 : f64, groups = 4 : i64, top_groups = 2 : i64} : tensor<?x12xf32> -> tensor<?x3xf32>, tensor<?x3xi32>
  return %w, %i : tensor<?x3xf32>, tensor<?x3xi32>
}

// -----

// More than there are.
func.func @all(%l: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xi32>) {
  %w, %i = mixture_of_experts.route %l {gating = "softmax", top_k = 5 : i64} : tensor<?x3xf32> -> tensor<?x3xf32>, tensor<?x3xi32>
  return %w, %i : tensor<?x3xf32>, tensor<?x3xi32>
}

// -----

func.func @relu(%x: tensor<?x10xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32> {check.input = "index 5"}, %u: tensor<5x7x10xf32>, %d: tensor<5x9x7xf32>, %ub: tensor<5x7xf32>, %db: tensor<5x9xf32>) -> tensor<?x9xf32> {
  %y = mixture_of_experts.experts %x, %w, %i up(%u + %ub) down(%d + %db) {activation = "relu"} : (tensor<?x10xf32>, tensor<?x2xf32>, tensor<?x2xi32>, tensor<5x7x10xf32>, tensor<5x9x7xf32>, tensor<5x7xf32>, tensor<5x9xf32>) -> tensor<?x9xf32>
  return %y : tensor<?x9xf32>
}

// -----

// Weights whose rows fill whole groups of the packed layout.
func.func @gated(%x: tensor<?x40xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32> {check.input = "index 4"}, %u: tensor<4x32x40xf32>, %d: tensor<4x48x32xf32>, %g: tensor<4x32x40xf32>) -> tensor<?x48xf32> {
  %y = mixture_of_experts.experts %x, %w, %i up(%u) down(%d) gate(%g) {activation = "silu"} : (tensor<?x40xf32>, tensor<?x2xf32>, tensor<?x2xi32>, tensor<4x32x40xf32>, tensor<4x48x32xf32>, tensor<4x32x40xf32>) -> tensor<?x48xf32>
  return %y : tensor<?x48xf32>
}

// -----

func.func @clamped(%x: tensor<?x10xf32>, %w: tensor<?x3xf32>, %i: tensor<?x3xi32> {check.input = "index 6"}, %u: tensor<6x10x14xf32>, %d: tensor<6x7x10xf32>, %ub: tensor<6x14xf32>, %db: tensor<6x10xf32>) -> tensor<?x10xf32> {
  %y = mixture_of_experts.experts %x, %w, %i up(%u + %ub) down(%d + %db) {activation = "silu", fused = "interleaved", in_out = true, alpha = 1.702 : f64, limit = 1.0 : f64, up_offset = 1.0 : f64} : (tensor<?x10xf32>, tensor<?x3xf32>, tensor<?x3xi32>, tensor<6x10x14xf32>, tensor<6x7x10xf32>, tensor<6x14xf32>, tensor<6x10xf32>) -> tensor<?x10xf32>
  return %y : tensor<?x10xf32>
}

// -----

func.func @gelu(%x: tensor<?x6xf32>, %w: tensor<?x1xf32>, %i: tensor<?x1xi32> {check.input = "index 3"}, %u: tensor<3x10x6xf32>, %d: tensor<3x6x5xf32>) -> (tensor<?x6xf32>, tensor<?x6xf32>) {
  %y = mixture_of_experts.experts %x, %w, %i up(%u) down(%d) {activation = "gelu", fused = "gate_up"} : (tensor<?x6xf32>, tensor<?x1xf32>, tensor<?x1xi32>, tensor<3x10x6xf32>, tensor<3x6x5xf32>) -> tensor<?x6xf32>
  %z = mixture_of_experts.experts %x, %w, %i up(%u) down(%d) {activation = "gelu", fused = "up_gate"} : (tensor<?x6xf32>, tensor<?x1xf32>, tensor<?x1xi32>, tensor<3x10x6xf32>, tensor<3x6x5xf32>) -> tensor<?x6xf32>
  return %y, %z : tensor<?x6xf32>, tensor<?x6xf32>
}

// -----

func.func @balance(%s: tensor<?x5xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32> {check.input = "index 5"}) -> (tensor<5xi32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %c = mixture_of_experts.counts %i {experts = 5 : i64} : tensor<?x2xi32> -> tensor<5xi32>
  %m = mixture_of_experts.balance_loss %w, %i {form = "mean_weight", experts = 5 : i64} : tensor<?x2xf32>, tensor<?x2xi32> -> tensor<f32>
  %a = mixture_of_experts.balance_loss %s, %i {form = "switch", experts = 5 : i64} : tensor<?x5xf32>, tensor<?x2xi32> -> tensor<f32>
  %b = mixture_of_experts.balance_loss %s, %i {form = "choices", experts = 5 : i64} : tensor<?x5xf32>, tensor<?x2xi32> -> tensor<f32>
  return %c, %m, %a, %b : tensor<5xi32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

func.func @route_c1(%l: tensor<8xf32>) {
  // expected-error@below {{has logits of type 'tensor<8xf32>', wanted shape [N, E], E static and at least 1}}
  %w, %i = mixture_of_experts.route %l {gating = "softmax", top_k = 2 : i64} : tensor<8xf32> -> tensor<4x2xf32>, tensor<4x2xi32>
  return
}

// -----

func.func @route_c2(%l: tensor<4x8xf32>) {
  // expected-error@below {{has top_k 0, wanted at least 1}}
  %w, %i = mixture_of_experts.route %l {gating = "softmax", top_k = 0 : i64} : tensor<4x8xf32> -> tensor<4x2xf32>, tensor<4x2xi32>
  return
}

// -----

func.func @route_c3(%l: tensor<4x8xf32>, %b: tensor<7xf32>) {
  // expected-error@below {{has a selection_bias of type 'tensor<7xf32>', wanted shape [8]}}
  %w, %i = mixture_of_experts.route %l selection_bias %b : tensor<7xf32> {gating = "sigmoid", top_k = 2 : i64} : tensor<4x8xf32> -> tensor<4x2xf32>, tensor<4x2xi32>
  return
}

// -----

func.func @route_c3_finite(%l: tensor<4x2xf32>) {
  %b = tw.constant dense<[0.0, 0x7F800000]> : tensor<2xf32>
  // expected-error@below {{has the selection_bias INF for expert 1, wanted finite numbers}}
  %w, %i = mixture_of_experts.route %l selection_bias %b : tensor<2xf32> {gating = "sigmoid", top_k = 1 : i64} : tensor<4x2xf32> -> tensor<4x1xf32>, tensor<4x1xi32>
  return
}

// -----

func.func @route_c4(%l: tensor<4x8xf32>) {
  // expected-error@below {{has 3 groups of 8 experts, wanted a divisor}}
  %w, %i = mixture_of_experts.route %l {gating = "sigmoid", top_k = 2 : i64, groups = 3 : i64} : tensor<4x8xf32> -> tensor<4x2xf32>, tensor<4x2xi32>
  return
}

// -----

func.func @route_c4_top(%l: tensor<4x8xf32>) {
  // expected-error@below {{has top_groups 5, wanted 1 to 4}}
  %w, %i = mixture_of_experts.route %l {gating = "sigmoid", top_k = 2 : i64, groups = 4 : i64, top_groups = 5 : i64} : tensor<4x8xf32> -> tensor<4x2xf32>, tensor<4x2xi32>
  return
}

// -----

func.func @route_c4_few(%l: tensor<4x8xf32>) {
  // expected-error@below {{chooses 3 experts of 1 groups of 2}}
  %w, %i = mixture_of_experts.route %l {gating = "sigmoid", top_k = 3 : i64, groups = 4 : i64} : tensor<4x8xf32> -> tensor<4x3xf32>, tensor<4x3xi32>
  return
}

// -----

func.func @route_c5(%l: tensor<4x8xf32>) {
  // expected-error@below {{has scaling INF, wanted a finite number}}
  %w, %i = mixture_of_experts.route %l {gating = "softmax", top_k = 2 : i64, scaling = 0x7FF0000000000000 : f64} : tensor<4x8xf32> -> tensor<4x2xf32>, tensor<4x2xi32>
  return
}

// -----

func.func @route_c6(%l: tensor<4x8xf32>) {
  // expected-error@below {{results are 'tensor<4x3xf32>', 'tensor<4x3xi32>', wanted 'tensor<4x2xf32>' and i32 of its shape}}
  %w, %i = mixture_of_experts.route %l {gating = "softmax", top_k = 2 : i64} : tensor<4x8xf32> -> tensor<4x3xf32>, tensor<4x3xi32>
  return
}

// -----

func.func @gating(%l: tensor<4x8xf32>) {
  // expected-error@below {{attribute 'gating' failed to satisfy constraint: one of softmax, sigmoid, chosen_softmax}}
  %w, %i = mixture_of_experts.route %l {gating = "hard", top_k = 2 : i64} : tensor<4x8xf32> -> tensor<4x2xf32>, tensor<4x2xi32>
  return
}

// -----

func.func @experts_c1(%x: tensor<6xf32>, %w: tensor<4x2xf32>, %i: tensor<4x2xi32>, %u: tensor<3x5x6xf32>, %d: tensor<3x7x5xf32>) {
  // expected-error@below {{has x of type 'tensor<6xf32>', wanted shape [N, in], in static}}
  %y = mixture_of_experts.experts %x, %w, %i up(%u) down(%d) {activation = "relu"} : (tensor<6xf32>, tensor<4x2xf32>, tensor<4x2xi32>, tensor<3x5x6xf32>, tensor<3x7x5xf32>) -> tensor<4x7xf32>
  return
}

// -----

func.func @experts_c1_indices(%x: tensor<4x6xf32>, %w: tensor<4x2xf32>, %i: tensor<4x0xi32>, %u: tensor<3x5x6xf32>, %d: tensor<3x7x5xf32>) {
  // expected-error@below {{has indices of type 'tensor<4x0xi32>', wanted shape [N, k], k static and at least 1}}
  %y = mixture_of_experts.experts %x, %w, %i up(%u) down(%d) {activation = "relu"} : (tensor<4x6xf32>, tensor<4x2xf32>, tensor<4x0xi32>, tensor<3x5x6xf32>, tensor<3x7x5xf32>) -> tensor<4x7xf32>
  return
}

// -----

func.func @experts_c1_rows(%x: tensor<4x6xf32>, %w: tensor<4x3xf32>, %i: tensor<4x2xi32>, %u: tensor<3x5x6xf32>, %d: tensor<3x7x5xf32>) {
  // expected-error@below {{has weights 'tensor<4x3xf32>' and indices 'tensor<4x2xi32>' for 'tensor<4x6xf32>', wanted one row of both for each of x, and weights of its element type}}
  %y = mixture_of_experts.experts %x, %w, %i up(%u) down(%d) {activation = "relu"} : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<4x2xi32>, tensor<3x5x6xf32>, tensor<3x7x5xf32>) -> tensor<4x7xf32>
  return
}

// -----

func.func @experts_c2(%x: tensor<4x6xf32>, %w: tensor<4x2xf32>, %i: tensor<4x2xi32>, %u: tensor<3x5x6xf32>, %d: tensor<3x7x5xf32>, %g: tensor<3x5x6xf32>) {
  // expected-error@below {{has a gate, and gate and up projection in one as "gate_up"}}
  %y = mixture_of_experts.experts %x, %w, %i up(%u) down(%d) gate(%g) {activation = "silu", fused = "gate_up"} : (tensor<4x6xf32>, tensor<4x2xf32>, tensor<4x2xi32>, tensor<3x5x6xf32>, tensor<3x7x5xf32>, tensor<3x5x6xf32>) -> tensor<4x7xf32>
  return
}

// -----

func.func @experts_c2_shape(%x: tensor<4x6xf32>, %w: tensor<4x2xf32>, %i: tensor<4x2xi32>, %u: tensor<3x5x6xf32>, %d: tensor<3x7x5xf32>, %g: tensor<3x4x6xf32>) {
  // expected-error@below {{has a gate of type 'tensor<3x4x6xf32>', wanted the shape of 'tensor<3x5x6xf32>'}}
  %y = mixture_of_experts.experts %x, %w, %i up(%u) down(%d) gate(%g) {activation = "relu"} : (tensor<4x6xf32>, tensor<4x2xf32>, tensor<4x2xi32>, tensor<3x5x6xf32>, tensor<3x7x5xf32>, tensor<3x4x6xf32>) -> tensor<4x7xf32>
  return
}

// -----

func.func @experts_c3(%x: tensor<4x6xf32>, %w: tensor<4x2xf32>, %i: tensor<4x2xi32>, %u: tensor<3x5x6xf32>, %d: tensor<2x7x5xf32>) {
  // expected-error@below {{maps up by 'tensor<3x5x6xf32>' and down by 'tensor<2x7x5xf32>', wanted 3 experts from 6 to 5 and from 5}}
  %y = mixture_of_experts.experts %x, %w, %i up(%u) down(%d) {activation = "relu"} : (tensor<4x6xf32>, tensor<4x2xf32>, tensor<4x2xi32>, tensor<3x5x6xf32>, tensor<2x7x5xf32>) -> tensor<4x7xf32>
  return
}

// -----

func.func @experts_c3_rank(%x: tensor<4x6xf32>, %w: tensor<4x2xf32>, %i: tensor<4x2xi32>, %u: tensor<5x6xf32>, %d: tensor<3x7x5xf32>) {
  // expected-error@below {{has a weight of type 'tensor<5x6xf32>', wanted a static shape [experts, out, in]}}
  %y = mixture_of_experts.experts %x, %w, %i up(%u) down(%d) {activation = "relu"} : (tensor<4x6xf32>, tensor<4x2xf32>, tensor<4x2xi32>, tensor<5x6xf32>, tensor<3x7x5xf32>) -> tensor<4x7xf32>
  return
}

// -----

func.func @experts_c3_fused(%x: tensor<4x6xf32>, %w: tensor<4x2xf32>, %i: tensor<4x2xi32>, %u: tensor<3x5x6xf32>, %d: tensor<3x7x5xf32>) {
  // expected-error@below {{maps up by 'tensor<3x5x6xf32>' and down by 'tensor<3x7x5xf32>', wanted 3 experts from 6 to 10 and from 5}}
  %y = mixture_of_experts.experts %x, %w, %i up(%u) down(%d) {activation = "silu", fused = "interleaved"} : (tensor<4x6xf32>, tensor<4x2xf32>, tensor<4x2xi32>, tensor<3x5x6xf32>, tensor<3x7x5xf32>) -> tensor<4x7xf32>
  return
}

// -----

func.func @experts_c4(%x: tensor<4x6xf32>, %w: tensor<4x2xf32>, %i: tensor<4x2xi32>, %u: tensor<3x5x6xf32>, %d: tensor<3x7x5xf32>, %ub: tensor<3x6xf32>) {
  // expected-error@below {{has a bias of type 'tensor<3x6xf32>', wanted shape [3, 5]}}
  %y = mixture_of_experts.experts %x, %w, %i up(%u + %ub) down(%d) {activation = "relu"} : (tensor<4x6xf32>, tensor<4x2xf32>, tensor<4x2xi32>, tensor<3x5x6xf32>, tensor<3x7x5xf32>, tensor<3x6xf32>) -> tensor<4x7xf32>
  return
}

// -----

func.func @experts_c5(%x: tensor<4x6xf32>, %w: tensor<4x2xf32>, %i: tensor<4x2xi32>, %u: tensor<3x6x5xi8>, %d: tensor<3x5x7xf32>) {
  // expected-error@below {{has weights [in, out] of type 'tensor<3x6x5xi8>', wanted floats}}
  %y = mixture_of_experts.experts %x, %w, %i up(%u) down(%d) {activation = "relu", in_out = true} : (tensor<4x6xf32>, tensor<4x2xf32>, tensor<4x2xi32>, tensor<3x6x5xi8>, tensor<3x5x7xf32>) -> tensor<4x7xf32>
  return
}

// -----

func.func @experts_c6(%x: tensor<4x6xf32>, %w: tensor<4x2xf32>, %i: tensor<4x2xi32>, %u: tensor<3x5x6xf32>, %d: tensor<3x7x5xf32>) {
  // expected-error@below {{has alpha 2.000000e+00 and activation "relu", wanted a finite alpha other than 0, and 1 but for "silu"}}
  %y = mixture_of_experts.experts %x, %w, %i up(%u) down(%d) {activation = "relu", alpha = 2.0 : f64} : (tensor<4x6xf32>, tensor<4x2xf32>, tensor<4x2xi32>, tensor<3x5x6xf32>, tensor<3x7x5xf32>) -> tensor<4x7xf32>
  return
}

// -----

func.func @experts_c6_limit(%x: tensor<4x6xf32>, %w: tensor<4x2xf32>, %i: tensor<4x2xi32>, %u: tensor<3x5x6xf32>, %d: tensor<3x7x5xf32>, %g: tensor<3x5x6xf32>) {
  // expected-error@below {{has limit -1.000000e+00, wanted a finite limit above 0 of a gate}}
  %y = mixture_of_experts.experts %x, %w, %i up(%u) down(%d) gate(%g) {activation = "silu", limit = -1.0 : f64} : (tensor<4x6xf32>, tensor<4x2xf32>, tensor<4x2xi32>, tensor<3x5x6xf32>, tensor<3x7x5xf32>, tensor<3x5x6xf32>) -> tensor<4x7xf32>
  return
}

// -----

func.func @experts_c6_gate(%x: tensor<4x6xf32>, %w: tensor<4x2xf32>, %i: tensor<4x2xi32>, %u: tensor<3x5x6xf32>, %d: tensor<3x7x5xf32>) {
  // expected-error@below {{has limit 1.000000e+00 and no gate, wanted a finite limit above 0 of a gate}}
  %y = mixture_of_experts.experts %x, %w, %i up(%u) down(%d) {activation = "silu", limit = 1.0 : f64} : (tensor<4x6xf32>, tensor<4x2xf32>, tensor<4x2xi32>, tensor<3x5x6xf32>, tensor<3x7x5xf32>) -> tensor<4x7xf32>
  return
}

// -----

func.func @experts_c6_offset(%x: tensor<4x6xf32>, %w: tensor<4x2xf32>, %i: tensor<4x2xi32>, %u: tensor<3x5x6xf32>, %d: tensor<3x7x5xf32>) {
  // expected-error@below {{has up_offset 1.000000e+00 and no gate, wanted a finite one beside a gate}}
  %y = mixture_of_experts.experts %x, %w, %i up(%u) down(%d) {activation = "silu", up_offset = 1.0 : f64} : (tensor<4x6xf32>, tensor<4x2xf32>, tensor<4x2xi32>, tensor<3x5x6xf32>, tensor<3x7x5xf32>) -> tensor<4x7xf32>
  return
}

// -----

func.func @experts_c7(%x: tensor<4x6xf32>, %w: tensor<4x2xf32>, %i: tensor<4x2xi32>, %u: tensor<3x5x6xf32>, %d: tensor<3x7x5xf32>) {
  // expected-error@below {{result is 'tensor<4x6xf32>', wanted 'tensor<4x7xf32>'}}
  %y = mixture_of_experts.experts %x, %w, %i up(%u) down(%d) {activation = "relu"} : (tensor<4x6xf32>, tensor<4x2xf32>, tensor<4x2xi32>, tensor<3x5x6xf32>, tensor<3x7x5xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @counts_c1(%i: tensor<4xi32>) {
  // expected-error@below {{has indices of type 'tensor<4xi32>', wanted shape [N, k], k static and at least 1}}
  %c = mixture_of_experts.counts %i {experts = 5 : i64} : tensor<4xi32> -> tensor<5xi32>
  return
}

// -----

func.func @counts_c2(%i: tensor<4x2xi32>) {
  // expected-error@below {{has 0 experts, wanted 1 to 2147483647}}
  %c = mixture_of_experts.counts %i {experts = 0 : i64} : tensor<4x2xi32> -> tensor<5xi32>
  return
}

// -----

func.func @counts_c3(%i: tensor<4x2xi32>) {
  // expected-error@below {{result is 'tensor<4xi32>', wanted shape [5]}}
  %c = mixture_of_experts.counts %i {experts = 5 : i64} : tensor<4x2xi32> -> tensor<4xi32>
  return
}

// -----

func.func @balance_loss_c1(%v: tensor<4x2xf32>, %i: tensor<4x?xi32>) {
  // expected-error@below {{has indices of type 'tensor<4x?xi32>', wanted shape [N, k], k static and at least 1}}
  %c = mixture_of_experts.balance_loss %v, %i {form = "mean_weight", experts = 5 : i64} : tensor<4x2xf32>, tensor<4x?xi32> -> tensor<f32>
  return
}

// -----

func.func @balance_loss_c2(%v: tensor<4x2xf32>, %i: tensor<4x2xi32>) {
  // expected-error@below {{has -1 experts, wanted 1 to 2147483647}}
  %c = mixture_of_experts.balance_loss %v, %i {form = "mean_weight", experts = -1 : i64} : tensor<4x2xf32>, tensor<4x2xi32> -> tensor<f32>
  return
}

// -----

func.func @balance_loss_c3(%v: tensor<4x2xf32>, %i: tensor<4x2xi32>) {
  // expected-error@below {{has values of type 'tensor<4x2xf32>' for form "switch", wanted 4x5}}
  %c = mixture_of_experts.balance_loss %v, %i {form = "switch", experts = 5 : i64} : tensor<4x2xf32>, tensor<4x2xi32> -> tensor<f32>
  return
}

// -----

func.func @balance_loss_c4(%v: tensor<4x2xf32>, %i: tensor<4x2xi32>) {
  // expected-error@below {{result is 'tensor<1xf32>', wanted 'tensor<f32>'}}
  %c = mixture_of_experts.balance_loss %v, %i {form = "mean_weight", experts = 5 : i64} : tensor<4x2xf32>, tensor<4x2xi32> -> tensor<1xf32>
  return
}
