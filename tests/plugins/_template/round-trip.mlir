// REQUIRES: plugin-my_technique
// RUN: %tw-opt %s | %tw-opt | FileCheck %s
// RUN: %tw-opt --mlir-print-op-generic %s | %tw-opt | FileCheck %s

// CHECK-LABEL: func.func @maxout
func.func @maxout(%x: tensor<?x64xf32>, %y: tensor<6xbf16>) {
  // CHECK: my_technique.maxout %{{.*}} {pieces = 2 : i64} : tensor<?x64xf32> -> tensor<?x32xf32>
  %0 = my_technique.maxout %x {pieces = 2 : i64} : tensor<?x64xf32> -> tensor<?x32xf32>
  // CHECK: my_technique.maxout %{{.*}} {pieces = 3 : i64} : tensor<6xbf16> -> tensor<2xbf16>
  %1 = my_technique.maxout %y {pieces = 3 : i64} : tensor<6xbf16> -> tensor<2xbf16>
  return
}
