// REQUIRES: plugin-latent_attention
// RUN: %tw-opt %s | %tw-opt | FileCheck %s
// RUN: %tw-opt %s --mlir-print-op-generic | %tw-opt | FileCheck %s

// CHECK-LABEL: func.func @dense
func.func @dense(%qn: tensor<2x16x?x128xf32>, %qr: tensor<2x16x?x64xf32>, %w: tensor<4096x512xf32>, %c: tensor<2x?x512xf32>, %r: tensor<2x?x64xf32>,
    %m: tensor<2x1x?x?xi1>) -> tensor<2x16x?x128xf32> {
  // CHECK: latent_attention.attention query(%{{.*}}, %{{.*}} : tensor<2x16x?x128xf32>, tensor<2x16x?x64xf32>) up(%{{.*}} : tensor<4096x512xf32>) latent(%{{.*}}, %{{.*}} : tensor<2x?x512xf32>, tensor<2x?x64xf32>) mask(%{{.*}} : tensor<2x1x?x?xi1>) {causal = "end", form = "absorbed", scale = 1.250000e-01 : f64, window = 3 : i64} -> tensor<2x16x?x128xf32>
  %y = latent_attention.attention query(%qn, %qr : tensor<2x16x?x128xf32>, tensor<2x16x?x64xf32>) up(%w : tensor<4096x512xf32>)
         latent(%c, %r : tensor<2x?x512xf32>, tensor<2x?x64xf32>) mask(%m : tensor<2x1x?x?xi1>)
         {causal = "end", form = "absorbed", scale = 0.125 : f64, window = 3 : i64} -> tensor<2x16x?x128xf32>
  return %y : tensor<2x16x?x128xf32>
}

// CHECK-LABEL: func.func @ragged
func.func @ragged(%qn: tensor<?x16x128xf32>, %qr: tensor<?x16x64xf32>, %w: tensor<4096x512xf32>, %s: !tw.state<tensor<?x1x576xf32>>,
    %rs: tensor<?xi32>, %l: tensor<?xi32>, %p: tensor<?xi32>) -> tensor<?x16x128xf32> {
  // CHECK: latent_attention.attention query(%{{.*}}, %{{.*}} : tensor<?x16x128xf32>, tensor<?x16x64xf32>) up(%{{.*}} : tensor<4096x512xf32>) state(%{{.*}} : !tw.state<tensor<?x1x576xf32>>) row_start(%{{.*}} : tensor<?xi32>) kv_len(%{{.*}} : tensor<?xi32>) positions(%{{.*}} : tensor<?xi32>) -> tensor<?x16x128xf32>
  %o = latent_attention.attention query(%qn, %qr : tensor<?x16x128xf32>, tensor<?x16x64xf32>) up(%w : tensor<4096x512xf32>)
         state(%s : !tw.state<tensor<?x1x576xf32>>) row_start(%rs : tensor<?xi32>) kv_len(%l : tensor<?xi32>) positions(%p : tensor<?xi32>)
         -> tensor<?x16x128xf32>
  return %o : tensor<?x16x128xf32>
}

// CHECK-LABEL: func.func @absorb
func.func @absorb(%q: tensor<?x16x128xf32>, %w: tensor<4096x512xbf16>) -> tensor<?x16x128xf32> {
  // CHECK: latent_attention.absorb "key" %{{.*}}, %{{.*}} : tensor<?x16x128xf32>, tensor<4096x512xbf16> -> tensor<?x16x512xf32>
  %u = latent_attention.absorb "key" %q, %w : tensor<?x16x128xf32>, tensor<4096x512xbf16> -> tensor<?x16x512xf32>
  // CHECK: latent_attention.absorb "value" %{{.*}}, %{{.*}} : tensor<?x16x512xf32>, tensor<4096x512xbf16> -> tensor<?x16x128xf32>
  %o = latent_attention.absorb "value" %u, %w : tensor<?x16x512xf32>, tensor<4096x512xbf16> -> tensor<?x16x128xf32>
  return %o : tensor<?x16x128xf32>
}

// CHECK-LABEL: func.func @latent_array
func.func @latent_array(%x: tensor<2x?x32xf32>, %n: tensor<64x32xf32>, %w: tensor<32x32xf32>, %b: tensor<32xf32>, %m: tensor<2x1x?xi1>)
    -> (tensor<2x?x32xf32>, tensor<2x4x64x8xf32>) {
  // CHECK: "latent_attention.latent_array"(%{{.*}}) <{causal = "none", heads = 4 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 1, 1>, scale = 5.000000e-01 : f64, values = "own"}>
  %y, %h = "latent_attention.latent_array"(%x, %n, %w, %w, %w, %w, %b, %w, %w, %b, %m) {heads = 4 : i64, scale = 0.5 : f64, values = "own",
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 1, 1>}
    : (tensor<2x?x32xf32>, tensor<64x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32x32xf32>,
       tensor<32x32xf32>, tensor<32xf32>, tensor<2x1x?xi1>) -> (tensor<2x?x32xf32>, tensor<2x4x64x8xf32>)
  return %y, %h : tensor<2x?x32xf32>, tensor<2x4x64x8xf32>
}
