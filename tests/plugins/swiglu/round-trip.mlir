// REQUIRES: plugin-swiglu
// RUN: %tw-opt %s | %tw-opt | FileCheck %s
// RUN: %tw-opt --mlir-print-op-generic %s | %tw-opt | FileCheck %s

// CHECK-LABEL: func.func @glu
func.func @glu(%g: tensor<?x8xf32>, %u: tensor<?x8xf32>) {
  // CHECK: swiglu.glu %{{.*}}, %{{.*}} {activation = "silu"} : tensor<?x8xf32>
  %0 = swiglu.glu %g, %u {activation = "silu"} : tensor<?x8xf32>
  // CHECK: swiglu.glu %{{.*}} {activation = "gelu"}
  %1 = swiglu.glu %g, %u {activation = "gelu"} : tensor<?x8xf32>
  // CHECK: swiglu.glu %{{.*}} {activation = "gelu_tanh"}
  %2 = swiglu.glu %g, %u {activation = "gelu_tanh"} : tensor<?x8xf32>
  // CHECK: swiglu.glu %{{.*}} {activation = "relu"}
  %3 = swiglu.glu %g, %u {activation = "relu"} : tensor<?x8xf32>
  // CHECK: swiglu.glu %{{.*}} {activation = "sigmoid"}
  %4 = swiglu.glu %g, %u {activation = "sigmoid"} : tensor<?x8xf32>
  // CHECK: swiglu.glu %{{.*}} {activation = "silu", alpha = 1.702000e+00 : f64, limit = 7.000000e+00 : f64, up_offset = 1.000000e+00 : f64}
  %5 = swiglu.glu %g, %u {activation = "silu", alpha = 1.702 : f64, limit = 7.0 : f64, up_offset = 1.0 : f64} : tensor<?x8xf32>
  return
}
