// REQUIRES: plugin-mixture_of_experts
// RUN: %tw-opt %s | %tw-opt | FileCheck %s
// RUN: %tw-opt --mlir-print-op-generic %s | %tw-opt | FileCheck %s

// CHECK-LABEL: func.func @route
func.func @route(%l: tensor<?x8xf32>, %b: tensor<8xf32>) {
  // CHECK: mixture_of_experts.route %{{.*}} {gating = "softmax", renormalize = true, top_k = 2 : i64} : tensor<?x8xf32> -> tensor<?x2xf32>, tensor<?x2xi32>
  %w0, %i0 = mixture_of_experts.route %l {gating = "softmax", top_k = 2 : i64, renormalize = true} : tensor<?x8xf32> -> tensor<?x2xf32>, tensor<?x2xi32>
  // CHECK: mixture_of_experts.route %{{.*}} selection_bias %{{.*}} : tensor<8xf32> {gating = "sigmoid", groups = 4 : i64, scaling = 2.500000e+00 : f64, top_groups = 2 : i64, top_k = 3 : i64}
  %w1, %i1 = mixture_of_experts.route %l selection_bias %b : tensor<8xf32> {gating = "sigmoid", top_k = 3 : i64, groups = 4 : i64, top_groups = 2 : i64, scaling = 2.5 : f64} : tensor<?x8xf32> -> tensor<?x3xf32>, tensor<?x3xi32>
  // CHECK: mixture_of_experts.route %{{.*}} {gating = "chosen_softmax", top_k = 20 : i64} : tensor<?x8xf32> -> tensor<?x8xf32>, tensor<?x8xi32>
  %w2, %i2 = mixture_of_experts.route %l {gating = "chosen_softmax", top_k = 20 : i64} : tensor<?x8xf32> -> tensor<?x8xf32>, tensor<?x8xi32>
  return
}

// CHECK-LABEL: func.func @experts
func.func @experts(%x: tensor<?x6xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %u: tensor<3x10x6xf32>, %d: tensor<3x7x10xf32>, %e: tensor<3x7x5xf32>, %ub: tensor<3x10xf32>, %db: tensor<3x7xf32>) {
  // CHECK: mixture_of_experts.experts %{{.*}}, %{{.*}}, %{{.*}} up(%{{.*}} + %{{.*}}) down(%{{.*}} + %{{.*}}) {activation = "relu"} : (tensor<?x6xf32>, tensor<?x2xf32>, tensor<?x2xi32>, tensor<3x10x6xf32>, tensor<3x7x10xf32>, tensor<3x10xf32>, tensor<3x7xf32>) -> tensor<?x7xf32>
  %0 = mixture_of_experts.experts %x, %w, %i up(%u + %ub) down(%d + %db) {activation = "relu"} : (tensor<?x6xf32>, tensor<?x2xf32>, tensor<?x2xi32>, tensor<3x10x6xf32>, tensor<3x7x10xf32>, tensor<3x10xf32>, tensor<3x7xf32>) -> tensor<?x7xf32>
  // CHECK: mixture_of_experts.experts %{{.*}}, %{{.*}}, %{{.*}} up(%{{.*}}) down(%{{.*}}) gate(%{{.*}} + %{{.*}}) {activation = "silu"}
  %1 = mixture_of_experts.experts %x, %w, %i up(%u) down(%d) gate(%u + %ub) {activation = "silu"} : (tensor<?x6xf32>, tensor<?x2xf32>, tensor<?x2xi32>, tensor<3x10x6xf32>, tensor<3x7x10xf32>, tensor<3x10x6xf32>, tensor<3x10xf32>) -> tensor<?x7xf32>
  // CHECK: mixture_of_experts.experts %{{.*}} {activation = "silu", alpha = 1.702000e+00 : f64, fused = "interleaved", limit = 7.000000e+00 : f64, up_offset = 1.000000e+00 : f64}
  %2 = mixture_of_experts.experts %x, %w, %i up(%u) down(%e) {activation = "silu", fused = "interleaved", alpha = 1.702 : f64, limit = 7.0 : f64, up_offset = 1.0 : f64} : (tensor<?x6xf32>, tensor<?x2xf32>, tensor<?x2xi32>, tensor<3x10x6xf32>, tensor<3x7x5xf32>) -> tensor<?x7xf32>
  return
}

// CHECK-LABEL: func.func @balance
func.func @balance(%s: tensor<?x5xf32>, %w: tensor<?x2xf32>, %i: tensor<?x2xi32>) {
  // CHECK: mixture_of_experts.counts %{{.*}} {experts = 5 : i64} : tensor<?x2xi32> -> tensor<5xi32>
  %c = mixture_of_experts.counts %i {experts = 5 : i64} : tensor<?x2xi32> -> tensor<5xi32>
  // CHECK: mixture_of_experts.balance_loss %{{.*}}, %{{.*}} {experts = 5 : i64, form = "mean_weight"} : tensor<?x2xf32>, tensor<?x2xi32> -> tensor<f32>
  %0 = mixture_of_experts.balance_loss %w, %i {form = "mean_weight", experts = 5 : i64} : tensor<?x2xf32>, tensor<?x2xi32> -> tensor<f32>
  // CHECK: mixture_of_experts.balance_loss %{{.*}}, %{{.*}} {experts = 5 : i64, form = "switch"} : tensor<?x5xf32>, tensor<?x2xi32> -> tensor<f32>
  %1 = mixture_of_experts.balance_loss %s, %i {form = "switch", experts = 5 : i64} : tensor<?x5xf32>, tensor<?x2xi32> -> tensor<f32>
  return
}
