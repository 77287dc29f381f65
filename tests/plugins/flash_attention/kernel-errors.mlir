// REQUIRES: plugin-flash_attention
// RUN: %tw-opt %s --split-input-file --tile-form-kernels=shape-class=decode --verify-diagnostics
// Chunks over a state have no kernel, whoever builds it: they are never left out.

!state = !tw.state<tensor<?x3x64xf32>, tensor<?x3x64xf32>>

func.func @fused(%q: tensor<?x9x64xf32>, %s: !state, %r: tensor<?xi32>, %l: tensor<?xi32>, %p: tensor<?xi32>) -> tensor<?x9x64xf32> {
  // expected-error @+1 {{'flash_attention.attention' op has no kernel form for chunks over a state}}
  %o = flash_attention.attention query(%q : tensor<?x9x64xf32>) state(%s : !state) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>) positions(%p : tensor<?xi32>) {causal = "end", chunk = 4 : i64, scale = 0.125 : f64} -> tensor<?x9x64xf32>
  return %o : tensor<?x9x64xf32>
}

// -----

!state = !tw.state<tensor<?x3x64xf32>, tensor<?x3x64xf32>>

func.func @core(%q: tensor<?x9x64xf32>, %s: !state, %r: tensor<?xi32>, %l: tensor<?xi32>, %p: tensor<?xi32>) -> tensor<?x9x64xf32> {
  // expected-error @+1 {{'tw.attention' op has no kernel form for chunks over a state}}
  %o = tw.attention query(%q : tensor<?x9x64xf32>) state(%s : !state) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>) positions(%p : tensor<?xi32>) {causal = "end", chunk = 4 : i64, scale = 0.125 : f64} -> tensor<?x9x64xf32>
  return %o : tensor<?x9x64xf32>
}
