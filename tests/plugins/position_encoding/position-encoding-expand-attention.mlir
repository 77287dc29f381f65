// REQUIRES: plugin-position_encoding
// RUN: %tw-opt --position-encoding-expand-attention --remark-format=emitRemark --remarks-filter='receipt.*' %s 2>&1 | FileCheck %s

// CHECK: remark: [{{.*}}taken apart into terms of relations and tw.attention

// The term of keys is a bias; without vectors for values the attention keeps no weights.
// CHECK-LABEL: func.func @keys
// CHECK: tw.linear
// CHECK: tw.gather {{.*}} {batch_dims = 1 : i64} : tensor<?x5x?x2xf32>, tensor<?x?xi32> -> tensor<?x?x?x2xf32>
// CHECK: %[[Y:.*]] = tw.attention {{.*}} bias({{.*}}) {causal = "end", scale = 2.500000e-01 : f64, {{.*}} -> tensor<?x2x?x8xf32>{{$}}
// CHECK-NEXT: return %[[Y]]
func.func @keys(%q: tensor<?x2x?x8xf32>, %k: tensor<?x2x?x8xf32>, %r: tensor<?x?xi32>, %a: tensor<5x8xf32>) -> tensor<?x2x?x8xf32> {
  %y = position_encoding.relation_attention query(%q : tensor<?x2x?x8xf32>) key(%k : tensor<?x2x?x8xf32>) value(%k : tensor<?x2x?x8xf32>) relation(%r : tensor<?x?xi32>) key_table(%a : tensor<5x8xf32>) {scale = 0.25 : f64, causal = "end"} -> tensor<?x2x?x8xf32>
  return %y : tensor<?x2x?x8xf32>
}

// CHECK-LABEL: func.func @values
// CHECK: tw.attention {{.*}} {scale = 2.500000e-01 : f64} -> tensor<?x2x?x8xf32>, tensor<?x2x?x?xf32>
// CHECK: tw.gather {{.*}} : tensor<5x8xf32>, tensor<?x?x?xi32> -> tensor<?x?x?x8xf32>
// CHECK: tw.batch_matmul
// CHECK-NOT: = position_encoding.relation_attention
func.func @values(%q: tensor<?x2x?x8xf32>, %k: tensor<?x2x?x8xf32>, %r: tensor<?x?x?xi32>, %a: tensor<5x8xf32>) -> tensor<?x2x?x8xf32> {
  %y = position_encoding.relation_attention query(%q : tensor<?x2x?x8xf32>) key(%k : tensor<?x2x?x8xf32>) value(%k : tensor<?x2x?x8xf32>) relation(%r : tensor<?x?x?xi32>) value_table(%a : tensor<5x8xf32>) {scale = 0.25 : f64} -> tensor<?x2x?x8xf32>
  return %y : tensor<?x2x?x8xf32>
}
