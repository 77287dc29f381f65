// REQUIRES: plugin-grouped_query_attention
// RUN: %tw-opt --grouped-query-attention-share %s | FileCheck %s
// RUN: %tw-opt --grouped-query-attention-share --remark-format=emitRemark --remarks-filter="receipt.*" %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=RECEIPT

// CHECK-LABEL: func.func @repeat_interleave
// CHECK-SAME: (%[[Q:.*]]: tensor<1x4x?x8xf32>, %[[K:.*]]: tensor<1x2x?x8xf32>, %[[V:.*]]: tensor<1x2x?x8xf32>
// CHECK-NEXT: tw.attention query(%[[Q]] : tensor<1x4x?x8xf32>) key(%[[K]] : tensor<1x2x?x8xf32>) value(%[[V]] : tensor<1x2x?x8xf32>)
// RECEIPT-DAG: [Passed] grouped-query-attention-share | Category:receipt:shared_heads | Function=repeat_interleave | Reason="attention reads 2 key/value heads instead of 4"
func.func @repeat_interleave(%q: tensor<1x4x?x8xf32>, %k: tensor<1x2x?x8xf32>, %v: tensor<1x2x?x8xf32>, %like: tensor<1x2x2x?x8xf32>) -> tensor<1x4x?x8xf32> {
  %kb = tw.broadcast %k like %like dims [0, 1, 3, 4] : tensor<1x2x?x8xf32>, tensor<1x2x2x?x8xf32> -> tensor<1x2x2x?x8xf32>
  %kr = tw.reshape %kb : tensor<1x2x2x?x8xf32> -> tensor<1x4x?x8xf32>
  %vb = tw.broadcast %v like %like dims [0, 1, 3, 4] : tensor<1x2x?x8xf32>, tensor<1x2x2x?x8xf32> -> tensor<1x2x2x?x8xf32>
  %vr = tw.reshape %vb : tensor<1x2x2x?x8xf32> -> tensor<1x4x?x8xf32>
  %o = tw.attention query(%q : tensor<1x4x?x8xf32>) key(%kr : tensor<1x4x?x8xf32>) value(%vr : tensor<1x4x?x8xf32>) {scale = 1.0 : f64} -> tensor<1x4x?x8xf32>
  return %o : tensor<1x4x?x8xf32>
}

// Two heads for four, shared again by twice as many query heads: groups of groups are groups.
// CHECK-LABEL: func.func @groups_of_groups
// CHECK: tw.attention query(%{{.*}} : tensor<1x8x3x8xf32>) key(%{{.*}} : tensor<1x2x5x8xf32>)
func.func @groups_of_groups(%q: tensor<1x8x3x8xf32>, %k: tensor<1x2x5x8xf32>) -> tensor<1x8x3x8xf32> {
  %a = tw.slice %k dim 1 start 0 size 1 : tensor<1x2x5x8xf32> -> tensor<1x1x5x8xf32>
  %b = tw.slice %k dim 1 start 1 size 1 : tensor<1x2x5x8xf32> -> tensor<1x1x5x8xf32>
  %kr = tw.concat dim 1 %a, %a, %b, %b : tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32> -> tensor<1x4x5x8xf32>
  %o = tw.attention query(%q : tensor<1x8x3x8xf32>) key(%kr : tensor<1x4x5x8xf32>) value(%kr : tensor<1x4x5x8xf32>) {scale = 1.0 : f64} -> tensor<1x8x3x8xf32>
  return %o : tensor<1x8x3x8xf32>
}

// CHECK-LABEL: func.func @tile
// CHECK: tw.attention query(%{{.*}} : tensor<1x4x3x8xf32>) key(%{{.*}} : tensor<1x4x5x8xf32>)
// RECEIPT-DAG: [Missed] grouped-query-attention-share | Category:receipt:shared_heads | Function=tile | Reason="keys: the list of heads is repeated as a whole (head h is h % 2), not head by head"
func.func @tile(%q: tensor<1x4x3x8xf32>, %k: tensor<1x2x5x8xf32>) -> tensor<1x4x3x8xf32> {
  %kr = tw.concat dim 1 %k, %k : tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32> -> tensor<1x4x5x8xf32>
  %o = tw.attention query(%q : tensor<1x4x3x8xf32>) key(%kr : tensor<1x4x5x8xf32>) value(%kr : tensor<1x4x5x8xf32>) {scale = 1.0 : f64} -> tensor<1x4x3x8xf32>
  return %o : tensor<1x4x3x8xf32>
}

// CHECK-LABEL: func.func @keys_alone
// CHECK: tw.attention query(%{{.*}} : tensor<1x2x3x8xf32>) key(%{{.*}} : tensor<1x2x5x8xf32>)
// RECEIPT-DAG: [Missed] grouped-query-attention-share | Category:receipt:shared_heads | Function=keys_alone | Reason="each key head stands 2 times, each value head 1"
func.func @keys_alone(%q: tensor<1x2x3x8xf32>, %k: tensor<1x1x5x8xf32>, %v: tensor<1x2x5x8xf32>) -> tensor<1x2x3x8xf32> {
  %kr = tw.concat dim 1 %k, %k : tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32> -> tensor<1x2x5x8xf32>
  %o = tw.attention query(%q : tensor<1x2x3x8xf32>) key(%kr : tensor<1x2x5x8xf32>) value(%v : tensor<1x2x5x8xf32>) {scale = 1.0 : f64} -> tensor<1x2x3x8xf32>
  return %o : tensor<1x2x3x8xf32>
}

// CHECK-LABEL: func.func @mixed
// CHECK: key(%{{.*}} : tensor<1x4x5x8xf32>)
// RECEIPT-DAG: [Missed] grouped-query-attention-share | Category:receipt:shared_heads | Function=mixed | Reason="keys: the heads are not each there the same number of times in a row"
func.func @mixed(%q: tensor<1x4x3x8xf32>, %k: tensor<1x2x5x8xf32>) -> tensor<1x4x3x8xf32> {
  %a = tw.slice %k dim 1 start 0 size 1 : tensor<1x2x5x8xf32> -> tensor<1x1x5x8xf32>
  %kr = tw.concat dim 1 %k, %a, %a : tensor<1x2x5x8xf32>, tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32> -> tensor<1x4x5x8xf32>
  %o = tw.attention query(%q : tensor<1x4x3x8xf32>) key(%kr : tensor<1x4x5x8xf32>) value(%kr : tensor<1x4x5x8xf32>) {scale = 1.0 : f64} -> tensor<1x4x3x8xf32>
  return %o : tensor<1x4x3x8xf32>
}
