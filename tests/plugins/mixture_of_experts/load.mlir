// REQUIRES: plugin-mixture_of_experts
// RUN: %tw-opt --plugin=%plugins/libtilewright_mixture_of_experts.so %s | FileCheck %s
// RUN: %tw-opt --plugin mixture_of_experts %s | FileCheck %s
// RUN: not %tw-opt --no-plugin mixture_of_experts %s 2>&1 | FileCheck %s --check-prefix=HIDDEN

// CHECK: mixture_of_experts.counts
// HIDDEN: error: Dialect `mixture_of_experts' not found for custom op 'mixture_of_experts.counts'
func.func @f(%i: tensor<?x2xi32>) -> tensor<5xi32> {
  %0 = mixture_of_experts.counts %i {experts = 5 : i64} : tensor<?x2xi32> -> tensor<5xi32>
  return %0 : tensor<5xi32>
}
