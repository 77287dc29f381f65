// REQUIRES: plugin-flash_attention
// RUN: %tw-opt %s | %tw-opt | FileCheck %s

// CHECK-LABEL: func.func @ragged
func.func @ragged(%q: tensor<?x9x64xf32>, %s: !tw.state<tensor<?x3x64xf32>, tensor<?x3x64xf32>>, %r: tensor<?xi32>, %l: tensor<?xi32>, %p: tensor<?xi32>) {
  // CHECK: flash_attention.attention query(%{{.*}} : tensor<?x9x64xf32>) state(%{{.*}} : !tw.state<tensor<?x3x64xf32>, tensor<?x3x64xf32>>) row_start(%{{.*}} : tensor<?xi32>) kv_len(%{{.*}} : tensor<?xi32>) positions(%{{.*}} : tensor<?xi32>) {causal = "end", scale = 1.250000e-01 : f64} -> tensor<?x9x64xf32>
  %o = flash_attention.attention query(%q : tensor<?x9x64xf32>) state(%s : !tw.state<tensor<?x3x64xf32>, tensor<?x3x64xf32>>) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>) positions(%p : tensor<?xi32>) {causal = "end", scale = 0.125 : f64} -> tensor<?x9x64xf32>
  return
}

// CHECK-LABEL: func.func @dense
func.func @dense(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %m: tensor<5x7xi1>, %b: tensor<1x4x5x7xf32>, %s: tensor<4xf32>) {
  // CHECK: flash_attention.attention query(%{{.*}}) key(%{{.*}}) value(%{{.*}}) mask(%{{.*}} : tensor<5x7xi1>) bias(%{{.*}} : tensor<1x4x5x7xf32>) sinks(%{{.*}} : tensor<4xf32>) {causal = "end", scale = 1.000000e+00 : f64, softcap = 3.000000e+01 : f64, window = 4 : i64} -> tensor<2x4x5x8xf32>
  %o = flash_attention.attention query(%q : tensor<2x4x5x8xf32>) key(%k : tensor<2x2x7x8xf32>) value(%k : tensor<2x2x7x8xf32>) mask(%m : tensor<5x7xi1>) bias(%b : tensor<1x4x5x7xf32>) sinks(%s : tensor<4xf32>) {scale = 1.0 : f64, causal = "end", softcap = 30.0 : f64, window = 4 : i64} -> tensor<2x4x5x8xf32>
  return
}
