// REQUIRES: plugin-flash_attention
// RUN: %tw-opt --flash-attention-fuse %s | FileCheck %s
// RUN: %tw-opt --flash-attention-fuse --remark-format=emitRemark --remarks-filter="receipt.*" %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=RECEIPT
// RUN: %tw-opt --flash-attention-fuse --reference-lower %s | FileCheck %s --check-prefix=LOWERED

!state = !tw.state<tensor<?x3x64xf32>, tensor<?x3x64xf32>>

// CHECK-LABEL: func.func @ragged
// CHECK: flash_attention.attention query(%{{.*}} : tensor<?x9x64xf32>) state({{.*}}{causal = "end", scale = 1.250000e-01 : f64}
// RECEIPT-DAG: [Passed] flash-attention-fuse | Category:receipt:attention | Function=ragged | Reason="attention by tiles with an online softmax"
// LOWERED-LABEL: func.func @ragged
// LOWERED: tw.attention query(%{{.*}} : tensor<?x9x64xf32>) state({{.*}}{causal = "end", scale = 1.250000e-01 : f64
func.func @ragged(%q: tensor<?x9x64xf32>, %s: !state, %r: tensor<?xi32>, %l: tensor<?xi32>, %p: tensor<?xi32>) -> tensor<?x9x64xf32> {
  %o = tw.attention query(%q : tensor<?x9x64xf32>) state(%s : !state) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>) positions(%p : tensor<?xi32>) {causal = "end", scale = 0.125 : f64} -> tensor<?x9x64xf32>
  return %o : tensor<?x9x64xf32>
}

// CHECK-LABEL: func.func @dense
// CHECK: flash_attention.attention query(%{{.*}} : tensor<1x2x3x8xf32>) key(
// RECEIPT-DAG: [Passed] flash-attention-fuse | Category:receipt:attention | Function=dense | Reason="attention by tiles with an online softmax"
func.func @dense(%q: tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32> {
  %o = tw.attention query(%q : tensor<1x2x3x8xf32>) key(%q : tensor<1x2x3x8xf32>) value(%q : tensor<1x2x3x8xf32>) {scale = 1.0 : f64} -> tensor<1x2x3x8xf32>
  return %o : tensor<1x2x3x8xf32>
}

// Windows, sinks and soft caps have a kernel too.
// CHECK-LABEL: func.func @all
// CHECK: flash_attention.attention query({{.*}}sinks({{.*}}softcap = 5.000000e+00 : f64, window = 7 : i64
func.func @all(%q: tensor<?x9x64xf32>, %s: !state, %r: tensor<?xi32>, %l: tensor<?xi32>, %p: tensor<?xi32>, %k: tensor<9xf32>) -> tensor<?x9x64xf32> {
  %o = tw.attention query(%q : tensor<?x9x64xf32>) state(%s : !state) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>) positions(%p : tensor<?xi32>) sinks(%k : tensor<9xf32>) {causal = "end", scale = 0.125 : f64, softcap = 5.0 : f64, window = 7 : i64} -> tensor<?x9x64xf32>
  return %o : tensor<?x9x64xf32>
}

// CHECK-LABEL: func.func @weights
// CHECK: tw.attention
// RECEIPT-DAG: [Missed] flash-attention-fuse | Category:receipt:attention | Function=weights | Reason="the weights themselves are asked for, which the kernel never holds at once", ToChange="do not ask for the weights"
func.func @weights(%q: tensor<1x2x3x8xf32>) -> tensor<1x2x3x3xf32> {
  %o, %w = tw.attention query(%q : tensor<1x2x3x8xf32>) key(%q : tensor<1x2x3x8xf32>) value(%q : tensor<1x2x3x8xf32>) {scale = 1.0 : f64} -> tensor<1x2x3x8xf32>, tensor<1x2x3x3xf32>
  return %w : tensor<1x2x3x3xf32>
}

// CHECK-LABEL: func.func @chunks
// CHECK: flash_attention.attention {{.*}}chunk = 4 : i64
// RECEIPT-DAG: [Passed] flash-attention-fuse | Category:receipt:attention | Function=chunks | Reason="attention by tiles with an online softmax"
func.func @chunks(%q: tensor<?x9x64xf32>, %s: !state, %r: tensor<?xi32>, %l: tensor<?xi32>, %p: tensor<?xi32>) -> tensor<?x9x64xf32> {
  %o = tw.attention query(%q : tensor<?x9x64xf32>) state(%s : !state) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>) positions(%p : tensor<?xi32>) {causal = "end", scale = 0.125 : f64, chunk = 4 : i64} -> tensor<?x9x64xf32>
  return %o : tensor<?x9x64xf32>
}

// A region goes along.
// CHECK-LABEL: func.func @region
// CHECK: flash_attention.attention
// CHECK: arith.mulf
// CHECK: tw.yield
func.func @region(%q: tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32> {
  %o = tw.attention query(%q : tensor<1x2x3x8xf32>) key(%q : tensor<1x2x3x8xf32>) value(%q : tensor<1x2x3x8xf32>)
    score {
    ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
      %twice = arith.mulf %s, %s : f32
      tw.yield %twice : f32
    } {scale = 1.0 : f64} -> tensor<1x2x3x8xf32>
  return %o : tensor<1x2x3x8xf32>
}
