// RUN: %tw-opt %s --tile-note-windows | FileCheck %s

!state = !tw.state<tensor<?x1x8xf32>, tensor<?x1x8xf32>>

// Attention with a window, and one that sees all.
// CHECK-LABEL: func.func private @near
// CHECK-NOT: tw.window
func.func private @near(%q: tensor<?x1x8xf32>, %s: !state, %r: tensor<?xi32>, %l: tensor<?xi32>, %p: tensor<?xi32>) -> (tensor<?x1x8xf32>, !state) {
  %t = tw.append %s, %r, %q, %q : !state, tensor<?xi32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>
  %o = tw.attention query(%q : tensor<?x1x8xf32>) state(%t : !state) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>)
       positions(%p : tensor<?xi32>) {scale = 1.0 : f64, causal = "end", window = 8 : i64} -> tensor<?x1x8xf32>
  return %o, %t : tensor<?x1x8xf32>, !state
}
func.func private @far(%q: tensor<?x1x8xf32>, %s: !state, %r: tensor<?xi32>, %l: tensor<?xi32>, %p: tensor<?xi32>) -> (!state, tensor<?x1x8xf32>) {
  %o = tw.attention query(%q : tensor<?x1x8xf32>) state(%s : !state) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>)
       positions(%p : tensor<?xi32>) {scale = 1.0 : f64, causal = "end", window = 30 : i64} -> tensor<?x1x8xf32>
  return %s, %o : !state, tensor<?x1x8xf32>
}

// The largest reach of all that read a state counts: s1 is also read by @far behind @near, s2 by attention without a window, s3 by one
// with a radius, s4 by nobody; s5 reaches a function that only its name is known of, s6 is read again behind a call
// that gives it back, s7 by chunks with a longer window, s8 by chunks alone.
// CHECK-LABEL: func.func @step
// CHECK-SAME: %arg4: !tw.state<{{[^>]*>, [^>]*>>}} {tw.window = 8 : i64}
// CHECK-SAME: %arg5: !tw.state<{{[^>]*>, [^>]*>>}} {tw.window = 30 : i64}
// CHECK-SAME: %arg6: !tw.state<{{[^>]*>, [^>]*>>}},
// CHECK-SAME: %arg7: !tw.state<{{[^>]*>, [^>]*>>}} {tw.window = 6 : i64}
// CHECK-SAME: %arg8: !tw.state<{{[^>]*>, [^>]*>>}} {tw.window = 1 : i64}
// CHECK-SAME: %arg9: !tw.state<{{[^>]*>, [^>]*>>}},
// CHECK-SAME: %arg10: !tw.state<{{[^>]*>, [^>]*>>}},
// CHECK-SAME: %arg11: !tw.state<{{[^>]*>, [^>]*>>}} {tw.window = 20 : i64}
// CHECK-SAME: %arg12: !tw.state<{{[^>]*>, [^>]*>>}} {tw.window = 12 : i64})
func.func private @unknown(!state)
func.func @step(%q: tensor<?x1x8xf32>, %r: tensor<?xi32>, %l: tensor<?xi32>, %p: tensor<?xi32>,
                %s0: !state, %s1: !state, %s2: !state, %s3: !state, %s4: !state, %s5: !state, %s6: !state, %s7: !state, %s8: !state) -> (!state, !state, !state, !state) {
  %a, %t0 = call @near(%q, %s0, %r, %l, %p) : (tensor<?x1x8xf32>, !state, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> (tensor<?x1x8xf32>, !state)
  %b, %t1 = call @near(%q, %s1, %r, %l, %p) : (tensor<?x1x8xf32>, !state, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> (tensor<?x1x8xf32>, !state)
  %u1, %c = call @far(%q, %t1, %r, %l, %p) : (tensor<?x1x8xf32>, !state, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> (!state, tensor<?x1x8xf32>)
  %d, %t2 = call @near(%q, %s2, %r, %l, %p) : (tensor<?x1x8xf32>, !state, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> (tensor<?x1x8xf32>, !state)
  %e = tw.attention query(%q : tensor<?x1x8xf32>) state(%t2 : !state) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>)
       positions(%p : tensor<?xi32>) {scale = 1.0 : f64, causal = "end"} -> tensor<?x1x8xf32>
  %f = tw.attention query(%q : tensor<?x1x8xf32>) state(%s3 : !state) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>)
       positions(%p : tensor<?xi32>) {scale = 1.0 : f64, radius = 5 : i64} -> tensor<?x1x8xf32>
  %i = tw.attention query(%q : tensor<?x1x8xf32>) state(%s7 : !state) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>)
       positions(%p : tensor<?xi32>) {scale = 1.0 : f64, causal = "end", window = 30 : i64, chunk = 20 : i64} -> tensor<?x1x8xf32>
  %j = tw.attention query(%q : tensor<?x1x8xf32>) state(%s8 : !state) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>)
       positions(%p : tensor<?xi32>) {scale = 1.0 : f64, causal = "end", chunk = 12 : i64} -> tensor<?x1x8xf32>
  %t4 = tw.append %s4, %r, %q, %q : !state, tensor<?xi32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>
  call @unknown(%s5) : (!state) -> ()
  %u6, %g = call @far(%q, %s6, %r, %l, %p) : (tensor<?x1x8xf32>, !state, tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> (!state, tensor<?x1x8xf32>)
  %h = tw.attention query(%q : tensor<?x1x8xf32>) state(%u6 : !state) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>)
       positions(%p : tensor<?xi32>) {scale = 1.0 : f64} -> tensor<?x1x8xf32>
  return %t0, %u1, %t4, %u6 : !state, !state, !state, !state
}

// What a step reads of sources, or keeps for itself alone, is not given up.
// CHECK-LABEL: func.func @encoder
// CHECK-NOT: tw.window
func.func @encoder(%q: tensor<?x1x8xf32>, %r: tensor<?xi32>, %l: tensor<?xi32>, %p: tensor<?xi32>, %s: !tw.state<tensor<?x1x8xf32>, tensor<?x1x8xf32> in transient>) -> tensor<?x1x8xf32> {
  %o = tw.attention query(%q : tensor<?x1x8xf32>) state(%s : !tw.state<tensor<?x1x8xf32>, tensor<?x1x8xf32> in transient>) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>)
       positions(%p : tensor<?xi32>) {scale = 1.0 : f64, radius = 5 : i64} -> tensor<?x1x8xf32>
  return %o : tensor<?x1x8xf32>
}
