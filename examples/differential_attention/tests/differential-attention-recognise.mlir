// REQUIRES: plugin-differential_attention
// RUN: %tw-opt --differential-attention-recognise %s | FileCheck %s
// RUN: %tw-opt --differential-attention-recognise --remark-format=emitRemark --remarks-filter="receipt.*" %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=RECEIPT

// CHECK-LABEL: func.func @lambda_for_each_head
// CHECK-SAME: %[[L:[a-z0-9]*]]: tensor<3xf32>, %[[G:[a-z0-9]*]]: tensor<16xf32>)
// CHECK: %[[A:.*]] = tw.attention
// CHECK: %[[B:.*]] = tw.attention
// CHECK-NEXT: %[[Y:.*]] = differential_attention.combine %[[A]], %[[B]], %[[L]] weight(%[[G]] : tensor<16xf32>) {epsilon = 9.9999997{{.*}} : f64, scale = 0.2000{{.*}} : f64}
// CHECK-NEXT: return %[[Y]]
// RECEIPT-DAG: [Passed] differential-attention-recognise | Category:receipt:attention | Function=lambda_for_each_head
func.func @lambda_for_each_head(%q: tensor<2x3x5x8xf32>, %k: tensor<2x3x7x8xf32>, %v: tensor<2x3x7x16xf32>, %l: tensor<3xf32>,
                                %g: tensor<16xf32>) -> tensor<2x3x5x16xf32> {
  %a = tw.attention query(%q : tensor<2x3x5x8xf32>) key(%k : tensor<2x3x7x8xf32>) value(%v : tensor<2x3x7x16xf32>) {scale = 0.35 : f64} -> tensor<2x3x5x16xf32>
  %b = tw.attention query(%q : tensor<2x3x5x8xf32>) key(%k : tensor<2x3x7x8xf32>) value(%v : tensor<2x3x7x16xf32>) {scale = 0.5 : f64} -> tensor<2x3x5x16xf32>
  %lb = tw.broadcast %l like %b dims [1] : tensor<3xf32>, tensor<2x3x5x16xf32> -> tensor<2x3x5x16xf32>
  %s = tw.mul %lb, %b : tensor<2x3x5x16xf32>
  %z = tw.sub %a, %s : tensor<2x3x5x16xf32>
  %zz = tw.mul %z, %z : tensor<2x3x5x16xf32>
  %m = tw.reduce "mean" %zz dims [3] : tensor<2x3x5x16xf32> -> tensor<2x3x5xf32>
  %e = tw.constant dense<1.0e-05> : tensor<2x3x5xf32>
  %me = tw.add %e, %m : tensor<2x3x5xf32>
  %r = tw.rsqrt %me : tensor<2x3x5xf32>
  %rb = tw.broadcast %r like %z dims [0, 1, 2] : tensor<2x3x5xf32>, tensor<2x3x5x16xf32> -> tensor<2x3x5x16xf32>
  %n = tw.mul %rb, %z : tensor<2x3x5x16xf32>
  %gb = tw.broadcast %g like %n dims [3] : tensor<16xf32>, tensor<2x3x5x16xf32> -> tensor<2x3x5x16xf32>
  %w = tw.mul %n, %gb : tensor<2x3x5x16xf32>
  %c = tw.constant dense<0.2> : tensor<2x3x5x16xf32>
  %y = tw.mul %w, %c : tensor<2x3x5x16xf32>
  return %y : tensor<2x3x5x16xf32>
}

// CHECK-LABEL: func.func @no_norm
// CHECK-NOT: differential_attention
// CHECK: return
// RECEIPT-DAG: [Missed] differential-attention-recognise | Category:receipt:attention | Function=no_norm | Reason="no root-mean-square norm of each head follows the difference"
func.func @no_norm(%q: tensor<2x3x5x8xf32>, %k: tensor<2x3x7x8xf32>, %l: tensor<3xf32>) -> tensor<2x3x5x8xf32> {
  %a = tw.attention query(%q : tensor<2x3x5x8xf32>) key(%k : tensor<2x3x7x8xf32>) value(%k : tensor<2x3x7x8xf32>) {scale = 0.35 : f64} -> tensor<2x3x5x8xf32>
  %lb = tw.broadcast %l like %a dims [1] : tensor<3xf32>, tensor<2x3x5x8xf32> -> tensor<2x3x5x8xf32>
  %s = tw.mul %lb, %a : tensor<2x3x5x8xf32>
  %z = tw.sub %a, %s : tensor<2x3x5x8xf32>
  return %z : tensor<2x3x5x8xf32>
}

// CHECK-LABEL: func.func @lambda_for_each_position
// CHECK-NOT: differential_attention
// CHECK: return
// RECEIPT-DAG: Function=lambda_for_each_position | Reason="the factor of the second attention is not one number for each head (a broadcast along dimension 1)"
func.func @lambda_for_each_position(%q: tensor<2x3x5x8xf32>, %k: tensor<2x3x7x8xf32>, %l: tensor<5xf32>) -> tensor<2x3x5x8xf32> {
  %a = tw.attention query(%q : tensor<2x3x5x8xf32>) key(%k : tensor<2x3x7x8xf32>) value(%k : tensor<2x3x7x8xf32>) {scale = 0.35 : f64} -> tensor<2x3x5x8xf32>
  %lb = tw.broadcast %l like %a dims [2] : tensor<5xf32>, tensor<2x3x5x8xf32> -> tensor<2x3x5x8xf32>
  %s = tw.mul %lb, %a : tensor<2x3x5x8xf32>
  %z = tw.sub %a, %s : tensor<2x3x5x8xf32>
  return %z : tensor<2x3x5x8xf32>
}

// A difference of anything else is no candidate.
// CHECK-LABEL: func.func @difference
// CHECK-NEXT: tw.mul
// CHECK-NEXT: tw.sub
// CHECK-NEXT: return
func.func @difference(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %s = tw.mul %b, %b : tensor<4xf32>
  %z = tw.sub %a, %s : tensor<4xf32>
  return %z : tensor<4xf32>
}
