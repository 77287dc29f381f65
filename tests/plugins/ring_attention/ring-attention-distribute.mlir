// REQUIRES: plugin-ring_attention
// RUN: %tw-opt --ring-attention-distribute %s | FileCheck %s
// RUN: %tw-opt --ring-attention-distribute --remark-format=emitRemark --remarks-filter="receipt.*" %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=RECEIPT

// One shard is attention itself: the same bits.
// CHECK-LABEL: func.func @one
// CHECK-NEXT: %[[O:.*]] = tw.attention query(%arg0 : tensor<1x2x5x8xf32>) key(%arg0 : tensor<1x2x5x8xf32>) value(%arg0 : tensor<1x2x5x8xf32>) {causal = "end", scale = 1.000000e+00 : f64{{.*}}} -> tensor<1x2x5x8xf32>
// CHECK-NEXT: return %[[O]]
func.func @one(%q: tensor<1x2x5x8xf32>) -> tensor<1x2x5x8xf32> {
  %o = ring_attention.attention query(%q : tensor<1x2x5x8xf32>) key(%q : tensor<1x2x5x8xf32>) value(%q : tensor<1x2x5x8xf32>) {scale = 1.0 : f64, causal = "end", num_shards = 1 : i64} -> tensor<1x2x5x8xf32>
  return %o : tensor<1x2x5x8xf32>
}

// Rows 0 to 2 and 3 to 4; keys of the future of the first rows are skipped: three attentions.
// CHECK-LABEL: func.func @two
// CHECK-COUNT-3: tw.attention {{.*}}causal = "start", offset = {{.*}} -> tensor<1x2x{{[32]}}x8xf32>, tensor<1x2x{{[32]}}xf32>
// CHECK-NOT: tw.attention
// CHECK: tw.concat
// RECEIPT: [Passed] ring-attention-distribute | Category:receipt:attention | Function=two | Reason="attention of 2 shards on one device"
func.func @two(%q: tensor<1x2x5x8xf32>) -> tensor<1x2x5x8xf32> {
  %o = ring_attention.attention query(%q : tensor<1x2x5x8xf32>) key(%q : tensor<1x2x5x8xf32>) value(%q : tensor<1x2x5x8xf32>) {scale = 1.0 : f64, causal = "end", num_shards = 2 : i64} -> tensor<1x2x5x8xf32>
  return %o : tensor<1x2x5x8xf32>
}
