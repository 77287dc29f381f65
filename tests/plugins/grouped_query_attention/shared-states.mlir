// REQUIRES: plugin-grouped_query_attention
// Repeats before tw.append: the state is declared with the shared heads, through every function that passes it on.
// RUN: %tw-opt --split-input-file --grouped-query-attention-share %s | FileCheck %s
// RUN: %tw-opt --split-input-file --grouped-query-attention-share --remark-format=emitRemark --remarks-filter="receipt.*" %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=RECEIPT

!wide = !tw.state<tensor<?x4x8xf32>, tensor<?x4x6xf32>>
// CHECK-LABEL: func.func private @layer
// CHECK-SAME: (%[[S:.*]]: !tw.state<tensor<?x2x8xf32>, tensor<?x2x6xf32>> {tw.name = "cache", tw.symbols = {{\[\[}}-1, 2, 8], [-1, 2, 6]]}, %{{.*}}: tensor<?xi32>, %[[K:.*]]: tensor<?x2x8xf32>, %[[V:.*]]: tensor<?x2x6xf32>
// CHECK-SAME: -> !tw.state<tensor<?x2x8xf32>, tensor<?x2x6xf32>>
// CHECK-NEXT: %[[T:.*]] = tw.append %[[S]], %{{.*}}, %[[K]], %[[V]]
// CHECK-NEXT: return %[[T]]
// RECEIPT: [Passed] grouped-query-attention-share | Category:receipt:shared_heads | Function=layer | Reason="the state keeps 2 key/value heads instead of 4"
func.func private @layer(%s: !wide {tw.name = "cache", tw.symbols = [[-1, 4, 8], [-1, 4, 6]]}, %r: tensor<?xi32>, %k: tensor<?x2x8xf32>, %v: tensor<?x2x6xf32>, %lk: tensor<?x2x2x8xf32>, %lv: tensor<?x2x2x6xf32>) -> !wide {
  %kb = tw.broadcast %k like %lk dims [0, 1, 3] : tensor<?x2x8xf32>, tensor<?x2x2x8xf32> -> tensor<?x2x2x8xf32>
  %kr = tw.reshape %kb : tensor<?x2x2x8xf32> -> tensor<?x4x8xf32>
  %vb = tw.broadcast %v like %lv dims [0, 1, 3] : tensor<?x2x6xf32>, tensor<?x2x2x6xf32> -> tensor<?x2x2x6xf32>
  %vr = tw.reshape %vb : tensor<?x2x2x6xf32> -> tensor<?x4x6xf32>
  %t = tw.append %s, %r, %kr, %vr : !wide, tensor<?xi32>, tensor<?x4x8xf32>, tensor<?x4x6xf32>
  return %t : !wide
}
// CHECK-LABEL: func.func @step
// CHECK-SAME: (%[[A:.*]]: !tw.state<tensor<?x2x8xf32>, tensor<?x2x6xf32>>, %[[B:.*]]: !tw.state<tensor<?x2x8xf32>, tensor<?x2x6xf32>>
// CHECK: tw.attention query(%{{.*}} : tensor<?x8x8xf32>) state(%{{.*}} : !tw.state<tensor<?x2x8xf32>, tensor<?x2x6xf32>>)
func.func @step(%a: !wide, %b: !wide, %q: tensor<?x8x8xf32>, %r: tensor<?xi32>, %l: tensor<?xi32>, %p: tensor<?xi32>, %k: tensor<?x2x8xf32>, %v: tensor<?x2x6xf32>, %lk: tensor<?x2x2x8xf32>, %lv: tensor<?x2x2x6xf32>) -> (tensor<?x8x6xf32>, !wide, !wide) {
  %c = call @layer(%a, %r, %k, %v, %lk, %lv) : (!wide, tensor<?xi32>, tensor<?x2x8xf32>, tensor<?x2x6xf32>, tensor<?x2x2x8xf32>, tensor<?x2x2x6xf32>) -> !wide
  %d = call @layer(%b, %r, %k, %v, %lk, %lv) : (!wide, tensor<?xi32>, tensor<?x2x8xf32>, tensor<?x2x6xf32>, tensor<?x2x2x8xf32>, tensor<?x2x2x6xf32>) -> !wide
  %o = tw.attention query(%q : tensor<?x8x8xf32>) state(%c : !wide) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>) positions(%p : tensor<?xi32>) {scale = 1.0 : f64, causal = "end"} -> tensor<?x8x6xf32>
  return %o, %c, %d : tensor<?x8x6xf32>, !wide, !wide
}

// -----

// The keys are read elsewhere too: their repeat stays for that, and the state is shared all the same.
!wide = !tw.state<tensor<?x2x8xf32>, tensor<?x2x8xf32>>
// CHECK-LABEL: func.func @keys_used_elsewhere
// CHECK: tw.concat
// CHECK: tw.append %{{.*}}, %{{.*}}, %[[K:.*]], %[[K]] : !tw.state<tensor<?x1x8xf32>, tensor<?x1x8xf32>>
func.func @keys_used_elsewhere(%s: !wide, %r: tensor<?xi32>, %k: tensor<3x1x8xf32>) -> (!wide, tensor<3x2x8xf32>) {
  %kr = tw.concat dim 1 %k, %k : tensor<3x1x8xf32>, tensor<3x1x8xf32> -> tensor<3x2x8xf32>
  %t = tw.append %s, %r, %kr, %kr : !wide, tensor<?xi32>, tensor<3x2x8xf32>, tensor<3x2x8xf32>
  return %t, %kr : !wide, tensor<3x2x8xf32>
}

// -----

!wide = !tw.state<tensor<?x2x8xf32>, tensor<?x2x8xf32>>
// CHECK-LABEL: func.func @values_alone
// CHECK: tw.append {{.*}} : !tw.state<tensor<?x2x8xf32>, tensor<?x2x8xf32>>
// RECEIPT: [Missed] grouped-query-attention-share | Category:receipt:shared_heads | Function=values_alone | Reason="each key head stands 1 times, each value head 2", ToChange="repeat each key and value head the same number of times
func.func @values_alone(%s: !wide, %r: tensor<?xi32>, %k: tensor<3x2x8xf32>, %v: tensor<3x1x8xf32>) -> !wide {
  %vr = tw.concat dim 1 %v, %v : tensor<3x1x8xf32>, tensor<3x1x8xf32> -> tensor<3x2x8xf32>
  %t = tw.append %s, %r, %k, %vr : !wide, tensor<?xi32>, tensor<3x2x8xf32>, tensor<3x2x8xf32>
  return %t : !wide
}

// -----

// A second append to the same state has heads of its own.
!wide = !tw.state<tensor<?x2x8xf32>, tensor<?x2x8xf32>>
// CHECK-LABEL: func.func @another_append
// CHECK-COUNT-2: tw.append {{.*}} : !tw.state<tensor<?x2x8xf32>, tensor<?x2x8xf32>>
// RECEIPT: [Missed] {{.*}} Function=another_append | Reason="this append has no repeated heads, and another to the same state has", ToChange="append the same heads to a state everywhere"
func.func @another_append(%s: !wide, %r: tensor<?xi32>, %k: tensor<3x1x8xf32>, %w: tensor<3x2x8xf32>) -> !wide {
  %kr = tw.concat dim 1 %k, %k : tensor<3x1x8xf32>, tensor<3x1x8xf32> -> tensor<3x2x8xf32>
  %t = tw.append %s, %r, %kr, %kr : !wide, tensor<?xi32>, tensor<3x2x8xf32>, tensor<3x2x8xf32>
  %u = tw.append %t, %r, %w, %w : !wide, tensor<?xi32>, tensor<3x2x8xf32>, tensor<3x2x8xf32>
  return %u : !wide
}

// -----

// The same state gets heads repeated twice here and four times there.
!wide = !tw.state<tensor<?x4x8xf32>, tensor<?x4x8xf32>>
// RECEIPT: [Missed] {{.*}} Function=other_ratio | Reason="each head stands {{4 times here and 2|2 times here and 4}} times in another append to the same state"
func.func @other_ratio(%s: !wide, %r: tensor<?xi32>, %k: tensor<3x1x8xf32>, %w: tensor<3x2x8xf32>) -> !wide {
  %kr = tw.concat dim 1 %k, %k, %k, %k : tensor<3x1x8xf32>, tensor<3x1x8xf32>, tensor<3x1x8xf32>, tensor<3x1x8xf32> -> tensor<3x4x8xf32>
  %t = tw.append %s, %r, %kr, %kr : !wide, tensor<?xi32>, tensor<3x4x8xf32>, tensor<3x4x8xf32>
  %a = tw.slice %w dim 1 start 0 size 1 : tensor<3x2x8xf32> -> tensor<3x1x8xf32>
  %b = tw.slice %w dim 1 start 1 size 1 : tensor<3x2x8xf32> -> tensor<3x1x8xf32>
  %wr = tw.concat dim 1 %a, %a, %b, %b : tensor<3x1x8xf32>, tensor<3x1x8xf32>, tensor<3x1x8xf32>, tensor<3x1x8xf32> -> tensor<3x4x8xf32>
  %u = tw.append %t, %r, %wr, %wr : !wide, tensor<?xi32>, tensor<3x4x8xf32>, tensor<3x4x8xf32>
  return %u : !wide
}

// -----

// The list repeated as a whole: not grouped-query attention.
!wide = !tw.state<tensor<?x4x8xf32>, tensor<?x4x8xf32>>
// RECEIPT: [Missed] {{.*}} Function=tile | Reason="keys: the list of heads is repeated as a whole (head h is h % 2), not head by head"
func.func @tile(%s: !wide, %r: tensor<?xi32>, %k: tensor<3x2x8xf32>) -> !wide {
  %kr = tw.concat dim 1 %k, %k : tensor<3x2x8xf32>, tensor<3x2x8xf32> -> tensor<3x4x8xf32>
  %t = tw.append %s, %r, %kr, %kr : !wide, tensor<?xi32>, tensor<3x4x8xf32>, tensor<3x4x8xf32>
  return %t : !wide
}

// -----

!wide = !tw.state<tensor<?x2x8xf32>, tensor<?x2x8xf32>>
// RECEIPT: [Missed] {{.*}} Function=unknown_body | Reason="the state goes through 'elsewhere', whose body is not known", ToChange="let nothing but tw.append and tw.attention use the state"
func.func private @elsewhere(!wide) -> !wide
func.func @unknown_body(%s: !wide, %r: tensor<?xi32>, %k: tensor<3x1x8xf32>) -> !wide {
  %kr = tw.concat dim 1 %k, %k : tensor<3x1x8xf32>, tensor<3x1x8xf32> -> tensor<3x2x8xf32>
  %t = tw.append %s, %r, %kr, %kr : !wide, tensor<?xi32>, tensor<3x2x8xf32>, tensor<3x2x8xf32>
  %u = call @elsewhere(%t) : (!wide) -> !wide
  return %u : !wide
}
