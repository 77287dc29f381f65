// REQUIRES: plugin-multi_head_attention
// Modules against PyTorch's values (tests/golden/cases); attention written as products and a softmax, before and after it is recognised.
// RUN: %python %golden/fill.py %golden/cases %s | %tw-opt --reference-interpret -o /dev/null
// RUN: %python %golden/fill.py %golden/cases %s | %tw-opt --reference-interpret=precision=f32 -o /dev/null
// RUN: %python %golden/fill.py %golden/cases %s | %tw-opt --multi-head-attention-recognise | FileCheck %s
// RUN: %python %golden/fill.py %golden/cases %s | %tw-opt --multi-head-attention-recognise --reference-interpret -o /dev/null

func.func @test_bias() {
  %x = tw.constant {{mha_bias:in.x}}
  %p = tw.constant {{mha_bias:in.in_proj_weight}}
  %wq = tw.slice %p dim 0 start 0 size 24 : tensor<72x24xf32> -> tensor<24x24xf32>
  %wk = tw.slice %p dim 0 start 24 size 24 : tensor<72x24xf32> -> tensor<24x24xf32>
  %wv = tw.slice %p dim 0 start 48 size 24 : tensor<72x24xf32> -> tensor<24x24xf32>
  %wo = tw.constant {{mha_bias:in.out_proj_weight}}
  %pb = tw.constant {{mha_bias:in.in_proj_bias}}
  %bq = tw.slice %pb dim 0 start 0 size 24 : tensor<72xf32> -> tensor<24xf32>
  %bk = tw.slice %pb dim 0 start 24 size 24 : tensor<72xf32> -> tensor<24xf32>
  %bv = tw.slice %pb dim 0 start 48 size 24 : tensor<72xf32> -> tensor<24xf32>
  %bo = tw.constant {{mha_bias:in.out_proj_bias}}
  %o = "multi_head_attention.self_attention"(%x, %wq, %wk, %wv, %wo, %bq, %bk, %bv, %bo) {heads = 4 : i64, kv_heads = 4 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0>} : (tensor<2x7x24xf32>, tensor<24x24xf32>, tensor<24x24xf32>, tensor<24x24xf32>, tensor<24x24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>) -> tensor<2x7x24xf32>
  %y = tw.constant {{mha_bias:out.y}}
  check.expect_close %o, %y {absolute = {{mha_bias:limit out.y}} : f64} : tensor<2x7x24xf32>
  return
}

func.func @test_causal() {
  %x = tw.constant {{mha_nobias_causal:in.x}}
  %p = tw.constant {{mha_nobias_causal:in.in_proj_weight}}
  %wq = tw.slice %p dim 0 start 0 size 24 : tensor<72x24xf32> -> tensor<24x24xf32>
  %wk = tw.slice %p dim 0 start 24 size 24 : tensor<72x24xf32> -> tensor<24x24xf32>
  %wv = tw.slice %p dim 0 start 48 size 24 : tensor<72x24xf32> -> tensor<24x24xf32>
  %wo = tw.constant {{mha_nobias_causal:in.out_proj_weight}}
  %o = "multi_head_attention.self_attention"(%x, %wq, %wk, %wv, %wo) {heads = 4 : i64, kv_heads = 4 : i64, causal = "end", operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x7x24xf32>, tensor<24x24xf32>, tensor<24x24xf32>, tensor<24x24xf32>, tensor<24x24xf32>) -> tensor<2x7x24xf32>
  %y = tw.constant {{mha_nobias_causal:out.y}}
  check.expect_close %o, %y {absolute = {{mha_nobias_causal:limit out.y}} : f64} : tensor<2x7x24xf32>
  return
}

func.func @test_cross() {
  %x = tw.constant {{cross_attention:in.x}}
  %c = tw.constant {{cross_attention:in.memory}}
  %p = tw.constant {{cross_attention:in.in_proj_weight}}
  %wq = tw.slice %p dim 0 start 0 size 24 : tensor<72x24xf32> -> tensor<24x24xf32>
  %wk = tw.slice %p dim 0 start 24 size 24 : tensor<72x24xf32> -> tensor<24x24xf32>
  %wv = tw.slice %p dim 0 start 48 size 24 : tensor<72x24xf32> -> tensor<24x24xf32>
  %wo = tw.constant {{cross_attention:in.out_proj_weight}}
  %pb = tw.constant {{cross_attention:in.in_proj_bias}}
  %bq = tw.slice %pb dim 0 start 0 size 24 : tensor<72xf32> -> tensor<24xf32>
  %bk = tw.slice %pb dim 0 start 24 size 24 : tensor<72xf32> -> tensor<24xf32>
  %bv = tw.slice %pb dim 0 start 48 size 24 : tensor<72xf32> -> tensor<24xf32>
  %bo = tw.constant {{cross_attention:in.out_proj_bias}}
  %o = "multi_head_attention.cross_attention"(%x, %c, %wq, %wk, %wv, %wo, %bq, %bk, %bv, %bo) {heads = 4 : i64, kv_heads = 4 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0>} : (tensor<2x5x24xf32>, tensor<2x9x24xf32>, tensor<24x24xf32>, tensor<24x24xf32>, tensor<24x24xf32>, tensor<24x24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>) -> tensor<2x5x24xf32>
  %y = tw.constant {{cross_attention:out.y}}
  check.expect_close %o, %y {absolute = {{cross_attention:limit out.y}} : f64} : tensor<2x5x24xf32>
  return
}

func.func @test_grouped() {
  %x = tw.constant {{gqa_module:in.x}}
  %w_q = tw.constant {{gqa_module:in.w_q}}
  %w_k = tw.constant {{gqa_module:in.w_k}}
  %w_v = tw.constant {{gqa_module:in.w_v}}
  %w_o = tw.constant {{gqa_module:in.w_o}}
  %b_q = tw.constant {{gqa_module:in.b_q}}
  %b_k = tw.constant {{gqa_module:in.b_k}}
  %b_v = tw.constant {{gqa_module:in.b_v}}
  %b_o = tw.constant {{gqa_module:in.b_o}}
  %o = "multi_head_attention.self_attention"(%x, %w_q, %w_k, %w_v, %w_o, %b_q, %b_k, %b_v, %b_o) {heads = 6 : i64, kv_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0>} : (tensor<2x7x20xf32>, tensor<30x20xf32>, tensor<10x20xf32>, tensor<10x20xf32>, tensor<20x30xf32>, tensor<30xf32>, tensor<10xf32>, tensor<10xf32>, tensor<20xf32>) -> tensor<2x7x20xf32>
  %y = tw.constant {{gqa_module:out.y}}
  check.expect_close %o, %y {absolute = {{gqa_module:limit out.y}} : f64} : tensor<2x7x20xf32>
  return
}

// CHECK-LABEL: func.func @test_decomposed_attn_plain
// CHECK-NOT: tw.softmax
// CHECK: tw.attention
func.func @test_decomposed_attn_plain() {
  %q = tw.constant {{attn_plain:in.q}}
  %k = tw.constant {{attn_plain:in.k}}
  %v = tw.constant {{attn_plain:in.v}}
  %s0 = tw.batch_matmul %q, %k {transpose_b = true} : tensor<2x3x7x8xf32>, tensor<2x3x7x8xf32> -> tensor<2x3x7x7xf32>
  %c = tw.constant dense<0.35355339> : tensor<2x3x7x7xf32>
  %s1 = tw.mul %s0, %c : tensor<2x3x7x7xf32>
  %p = tw.softmax %s1 dim 3 : tensor<2x3x7x7xf32>
  %o = tw.batch_matmul %p, %v : tensor<2x3x7x7xf32>, tensor<2x3x7x8xf32> -> tensor<2x3x7x8xf32>
  %y = tw.constant {{attn_plain:out.o}}
  check.expect_close %o, %y {absolute = {{attn_plain:limit out.o}} : f64} : tensor<2x3x7x8xf32>
  return
}

// CHECK-LABEL: func.func @test_decomposed_attn_softcap_bias
// CHECK-NOT: tw.softmax
// CHECK: tw.attention
func.func @test_decomposed_attn_softcap_bias() {
  %q = tw.constant {{attn_softcap_bias:in.q}}
  %k = tw.constant {{attn_softcap_bias:in.k}}
  %v = tw.constant {{attn_softcap_bias:in.v}}
  %s0 = tw.batch_matmul %q, %k {transpose_b = true} : tensor<2x3x7x8xf32>, tensor<2x3x7x8xf32> -> tensor<2x3x7x7xf32>
  %c = tw.constant dense<0.35355339> : tensor<2x3x7x7xf32>
  %s1 = tw.mul %s0, %c : tensor<2x3x7x7xf32>
  %cap = tw.constant dense<2.0> : tensor<2x3x7x7xf32>
  %d = tw.div %s1, %cap : tensor<2x3x7x7xf32>
  %t = tw.tanh %d : tensor<2x3x7x7xf32>
  %sc = tw.mul %t, %cap : tensor<2x3x7x7xf32>
  %b = tw.constant {{attn_softcap_bias:in.bias}}
  %br = tw.reshape %b : tensor<1x3x7x7xf32> -> tensor<3x7x7xf32>
  %bb = tw.broadcast %br like %s1 dims [1, 2, 3] : tensor<3x7x7xf32>, tensor<2x3x7x7xf32> -> tensor<2x3x7x7xf32>
  %sb = tw.add %sc, %bb : tensor<2x3x7x7xf32>
  %p = tw.softmax %sb dim 3 : tensor<2x3x7x7xf32>
  %o = tw.batch_matmul %p, %v : tensor<2x3x7x7xf32>, tensor<2x3x7x8xf32> -> tensor<2x3x7x8xf32>
  %y = tw.constant {{attn_softcap_bias:out.o}}
  check.expect_close %o, %y {absolute = {{attn_softcap_bias:limit out.o}} : f64} : tensor<2x3x7x8xf32>
  return
}
