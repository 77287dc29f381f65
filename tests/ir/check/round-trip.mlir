// RUN: %tw-opt %s | %tw-opt | FileCheck %s
// RUN: %tw-opt --mlir-print-op-generic %s | %tw-opt | FileCheck %s

// CHECK-LABEL: func.func @expectations
func.func @expectations(%i: tensor<2x3xi32>, %x: tensor<?xf32>) {
  // CHECK: check.expect_eq %{{.*}}, %{{.*}} : tensor<2x3xi32>
  check.expect_eq %i, %i : tensor<2x3xi32>
  // CHECK: check.expect_close %{{.*}}, %{{.*}} {absolute = 9.9999999999999995E-7 : f64} : tensor<?xf32>
  check.expect_close %x, %x {absolute = 1.0e-06 : f64} : tensor<?xf32>
  return
}
