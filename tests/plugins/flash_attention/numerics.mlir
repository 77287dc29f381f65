// REQUIRES: plugin-flash_attention
// What the fused op means, against PyTorch's values (tests/golden/cases).
// RUN: %python %golden/fill.py %golden/cases %s | %tw-opt --reference-interpret -o /dev/null
// RUN: %python %golden/fill.py %golden/cases %s | %tw-opt --reference-interpret=precision=f32 -o /dev/null

func.func @test_attn_plain() {
  %q = tw.constant {{attn_plain:in.q}}
  %k = tw.constant {{attn_plain:in.k}}
  %v = tw.constant {{attn_plain:in.v}}
  %o = flash_attention.attention query(%q : tensor<2x3x7x8xf32>) key(%k : tensor<2x3x7x8xf32>) value(%v : tensor<2x3x7x8xf32>) {scale = 0.35355339059327379 : f64} -> tensor<2x3x7x8xf32>
  %y = tw.constant {{attn_plain:out.o}}
  check.expect_close %o, %y {absolute = {{attn_plain:limit out.o}} : f64} : tensor<2x3x7x8xf32>
  return
}

func.func @test_attn_mask_BH() {
  %q = tw.constant {{attn_mask_BH:in.q}}
  %k = tw.constant {{attn_mask_BH:in.k}}
  %v = tw.constant {{attn_mask_BH:in.v}}
  %m = tw.constant {{attn_mask_BH:in.mask}}
  %o = flash_attention.attention query(%q : tensor<2x3x7x8xf32>) key(%k : tensor<2x3x10x8xf32>) value(%v : tensor<2x3x10x8xf32>) mask(%m : tensor<2x3x7x10xi1>) {scale = 0.35355339059327379 : f64} -> tensor<2x3x7x8xf32>
  %y = tw.constant {{attn_mask_BH:out.o}}
  check.expect_close %o, %y {absolute = {{attn_mask_BH:limit out.o}} : f64} : tensor<2x3x7x8xf32>
  return
}

func.func @test_attn_softcap_bias() {
  %q = tw.constant {{attn_softcap_bias:in.q}}
  %k = tw.constant {{attn_softcap_bias:in.k}}
  %v = tw.constant {{attn_softcap_bias:in.v}}
  %b = tw.constant {{attn_softcap_bias:in.bias}}
  %o = flash_attention.attention query(%q : tensor<2x3x7x8xf32>) key(%k : tensor<2x3x7x8xf32>) value(%v : tensor<2x3x7x8xf32>) bias(%b : tensor<1x3x7x7xf32>) {scale = 0.35355339059327379 : f64, softcap = 2.0 : f64} -> tensor<2x3x7x8xf32>
  %y = tw.constant {{attn_softcap_bias:out.o}}
  check.expect_close %o, %y {absolute = {{attn_softcap_bias:limit out.o}} : f64} : tensor<2x3x7x8xf32>
  return
}

func.func @test_attn_gqa_6_2() {
  %q = tw.constant {{attn_gqa_6_2:in.q}}
  %k = tw.constant {{attn_gqa_6_2:in.k}}
  %v = tw.constant {{attn_gqa_6_2:in.v}}
  %o = flash_attention.attention query(%q : tensor<2x6x7x8xf32>) key(%k : tensor<2x2x7x8xf32>) value(%v : tensor<2x2x7x8xf32>) {scale = 0.35355339059327379 : f64} -> tensor<2x6x7x8xf32>
  %y = tw.constant {{attn_gqa_6_2:out.o}}
  check.expect_close %o, %y {absolute = {{attn_gqa_6_2:limit out.o}} : f64} : tensor<2x6x7x8xf32>
  return
}
