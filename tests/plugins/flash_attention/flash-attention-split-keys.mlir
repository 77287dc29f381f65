// REQUIRES: plugin-flash_attention
// RUN: %tw-opt --flash-attention-split-keys %s | FileCheck %s
// RUN: %tw-opt --flash-attention-split-keys --remark-format=emitRemark --remarks-filter="receipt.*" %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=RECEIPT

// One row meets 2048 keys of one head: 4 parts of 512.
// CHECK-LABEL: func.func @one_row
// CHECK: flash_attention.partials {{.*}}parts = 4 : i64{{.*}} -> tensor<4x1x8x1x64xf32>, tensor<4x1x8x1xf32>
// CHECK: tw.log
// RECEIPT-DAG: [Passed] flash-attention-split-keys | Category:receipt:attention | Function=one_row | Reason="keys in 4 parts, joined by log-sum-exp"
func.func @one_row(%q: tensor<1x8x1x64xf32>, %k: tensor<1x1x2048x64xf32>, %s: tensor<8xf32>) -> tensor<1x8x1x64xf32> {
  %o = flash_attention.attention query(%q : tensor<1x8x1x64xf32>) key(%k : tensor<1x1x2048x64xf32>) value(%k : tensor<1x1x2048x64xf32>)
      sinks(%s : tensor<8xf32>) {scale = 0.125 : f64, causal = "end"} -> tensor<1x8x1x64xf32>
  return %o : tensor<1x8x1x64xf32>
}

// Few keys, or enough heads, are left as they are.
// CHECK-LABEL: func.func @few_keys
// CHECK: flash_attention.attention
func.func @few_keys(%q: tensor<1x8x1x64xf32>, %k: tensor<1x1x1023x64xf32>) -> tensor<1x8x1x64xf32> {
  %o = flash_attention.attention query(%q : tensor<1x8x1x64xf32>) key(%k : tensor<1x1x1023x64xf32>) value(%k : tensor<1x1x1023x64xf32>)
      {scale = 0.125 : f64} -> tensor<1x8x1x64xf32>
  return %o : tensor<1x8x1x64xf32>
}

// CHECK-LABEL: func.func @many_heads
// CHECK: flash_attention.attention
func.func @many_heads(%q: tensor<2x8x1x64xf32>, %k: tensor<2x8x2048x64xf32>) -> tensor<2x8x1x64xf32> {
  %o = flash_attention.attention query(%q : tensor<2x8x1x64xf32>) key(%k : tensor<2x8x2048x64xf32>) value(%k : tensor<2x8x2048x64xf32>)
      {scale = 0.125 : f64} -> tensor<2x8x1x64xf32>
  return %o : tensor<2x8x1x64xf32>
}
