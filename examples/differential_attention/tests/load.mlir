// REQUIRES: plugin-differential_attention
// Named by its file, found by its name, and hidden: then the op is unknown and the error says so.
// RUN: %tw-opt --plugin=%library %s | FileCheck %s
// RUN: %tw-opt --plugin differential_attention %s | FileCheck %s
// RUN: not %tw-opt --no-plugin differential_attention %s 2>&1 | FileCheck %s --check-prefix=HIDDEN

// CHECK: differential_attention.combine
// HIDDEN: error: Dialect `differential_attention' not found for custom op 'differential_attention.combine'
func.func @f(%a: tensor<?x4x8xf32>, %l: tensor<4xf32>) -> tensor<?x4x8xf32> {
  %y = differential_attention.combine %a, %a, %l {epsilon = 1.0e-05 : f64} : tensor<?x4x8xf32>, tensor<4xf32>
  return %y : tensor<?x4x8xf32>
}
