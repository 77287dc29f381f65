// REQUIRES: plugin-differential_attention
// The attention of a decoder layer: found in the graph, and compiled into kernels of rows.
// RUN: %tw-opt --tilewright-stages %s | FileCheck %s --check-prefix=GRAPH
// RUN: %tw-opt --tilewright-stages="last=tile shape-class=decode numerics=precise" %s | FileCheck %s --check-prefix=TILE
// RUN: %tw-opt --tilewright-stages="last=tile shape-class=prefill numerics=precise" %s | FileCheck %s --check-prefix=TILE

// GRAPH-LABEL: func.func @layer
// GRAPH-COUNT-2: {{(tw|flash_attention)}}.attention
// GRAPH: %[[Y:.*]] = differential_attention.combine
// GRAPH-NOT: tw.rsqrt
// GRAPH: %[[FLAT:.*]] = tw.reshape %[[Y]]
// GRAPH: tw.linear %[[FLAT]]

// TILE-LABEL: func.func @layer
// TILE: tw.dispatch @layer_{{[0-9]+}}_combine
// TILE: func.func {{.*}}@layer_{{[0-9]+}}_combine
!state = !tw.state<tensor<?x2x8xf32>, tensor<?x2x16xf32>>
func.func @layer(%q1: tensor<?x2x8xf32>, %k1: tensor<?x2x8xf32>, %q2: tensor<?x2x8xf32>, %k2: tensor<?x2x8xf32>, %v: tensor<?x2x16xf32>,
    %rs: tensor<?xi32> {tw.dims = ["B1"]}, %kl: tensor<?xi32> {tw.dims = ["B"]}, %pos: tensor<?xi32>, %l: tensor<2xf32>,
    %g: tensor<16xf32>, %wo: tensor<24x32xf32>, %s1: !state, %s2: !state) -> (tensor<?x24xf32>, !state, !state) {
  %t1 = tw.append %s1, %rs, %k1, %v : !state, tensor<?xi32>, tensor<?x2x8xf32>, tensor<?x2x16xf32>
  %t2 = tw.append %s2, %rs, %k2, %v : !state, tensor<?xi32>, tensor<?x2x8xf32>, tensor<?x2x16xf32>
  %a = tw.attention query(%q1 : tensor<?x2x8xf32>) state(%t1 : !state) row_start(%rs : tensor<?xi32>) kv_len(%kl : tensor<?xi32>)
         positions(%pos : tensor<?xi32>) {scale = 0.35 : f64, causal = "end"} -> tensor<?x2x16xf32>
  %b = tw.attention query(%q2 : tensor<?x2x8xf32>) state(%t2 : !state) row_start(%rs : tensor<?xi32>) kv_len(%kl : tensor<?xi32>)
         positions(%pos : tensor<?xi32>) {scale = 0.35 : f64, causal = "end"} -> tensor<?x2x16xf32>
  %lb = tw.broadcast %l like %b dims [1] : tensor<2xf32>, tensor<?x2x16xf32> -> tensor<?x2x16xf32>
  %bl = tw.mul %lb, %b : tensor<?x2x16xf32>
  %z = tw.sub %a, %bl : tensor<?x2x16xf32>
  %zz = tw.mul %z, %z : tensor<?x2x16xf32>
  %m = tw.reduce "mean" %zz dims [2] : tensor<?x2x16xf32> -> tensor<?x2xf32>
  %e0 = tw.constant dense<1.0e-05> : tensor<f32>
  %e = tw.broadcast %e0 like %m dims [] : tensor<f32>, tensor<?x2xf32> -> tensor<?x2xf32>
  %me = tw.add %m, %e : tensor<?x2xf32>
  %r = tw.rsqrt %me : tensor<?x2xf32>
  %rb = tw.broadcast %r like %z dims [0, 1] : tensor<?x2xf32>, tensor<?x2x16xf32> -> tensor<?x2x16xf32>
  %n = tw.mul %z, %rb : tensor<?x2x16xf32>
  %gb = tw.broadcast %g like %n dims [2] : tensor<16xf32>, tensor<?x2x16xf32> -> tensor<?x2x16xf32>
  %w = tw.mul %n, %gb : tensor<?x2x16xf32>
  %c0 = tw.constant dense<0.2> : tensor<f32>
  %c = tw.broadcast %c0 like %w dims [] : tensor<f32>, tensor<?x2x16xf32> -> tensor<?x2x16xf32>
  %h = tw.mul %w, %c : tensor<?x2x16xf32>
  %f = tw.reshape %h : tensor<?x2x16xf32> -> tensor<?x32xf32>
  %y = tw.linear %f, %wo : tensor<?x32xf32>, tensor<24x32xf32> -> tensor<?x24xf32>
  return %y, %t1, %t2 : tensor<?x24xf32>, !state, !state
}
