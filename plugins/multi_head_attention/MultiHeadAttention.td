// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_PLUGINS_MULTI_HEAD_ATTENTION
#define TILEWRIGHT_PLUGINS_MULTI_HEAD_ATTENTION

include "ir/interfaces/Interfaces.td"
include "ir/tw/TwBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def MultiHeadAttention_Dialect : Dialect {
  let name = "multi_head_attention";
  let cppNamespace = "::tilewright::multi_head_attention";
  let summary = "Attention with its projections, as one module (Vaswani et al., 2017).";
  let description = [{
    The whole sub-layer `softmax(scale (X Wq)(Y Wk)^T) (Y Wv) Wo` on H heads: self-attention (Y = X) and cross-attention (Y is
    the encoder's output). With one head of any width it is trainable self-attention.
  }];
  let dependentDialects = ["::tilewright::tw::TwDialect"];
}

def MultiHeadAttention_CausalKind : Tw_OneOf<["none", "end", "start"]>;
def MultiHeadAttention_NormKind : Tw_OneOf<["none", "rms", "layer"]>;

class MultiHeadAttention_ModuleOp<string mnemonic, dag leading, dag trailing> : Op<MultiHeadAttention_Dialect, mnemonic,
    [Pure, AttrSizedOperandSegments, DeclareOpInterfaceMethods<ReferenceLowering>]> {
  let arguments = !con(leading, (ins
    Tw_AnyTensor:$query_weight, Tw_AnyTensor:$key_weight, Tw_AnyTensor:$value_weight, Optional<Tw_AnyTensor>:$output_weight,
    Optional<Tw_FloatTensor>:$query_bias, Optional<Tw_FloatTensor>:$key_bias, Optional<Tw_FloatTensor>:$value_bias,
    Optional<Tw_FloatTensor>:$output_bias, Optional<Tw_MaskTensor>:$mask,
    Optional<Tw_FloatTensor>:$query_norm_weight, Optional<Tw_FloatTensor>:$query_norm_bias,
    Optional<Tw_FloatTensor>:$key_norm_weight, Optional<Tw_FloatTensor>:$key_norm_bias,
    I64Attr:$heads, I64Attr:$kv_heads, OptionalAttr<F64Attr>:$scale,
    DefaultValuedAttr<MultiHeadAttention_NormKind, "\"none\"">:$qk_norm, OptionalAttr<F64Attr>:$qk_norm_epsilon), trailing);
  let results = (outs Tw_FloatTensor:$result);
  let hasVerifier = 1;
}

def MultiHeadAttention_SelfAttentionOp : MultiHeadAttention_ModuleOp<"self_attention", (ins Tw_FloatTensor:$input),
    (ins DefaultValuedAttr<MultiHeadAttention_CausalKind, "\"none\"">:$causal)> {
  let summary = "Self-attention with its projections";
  let description = [{
    With `q = x Wq^T + bq`, `k = x Wk^T + bk`, `v = x Wv^T + bv` (weights `[out, in]`), q split into H heads and k, v into Hkv:
    `y = concat_h softmax(scale q_h k_g^T, masked) v_g Wo^T + bo`, `g = h / (H / Hkv)`. `scale` is `1 / sqrt(D)` by default, D the
    width of a query head. Without an output weight the concatenated heads are the result.

    With `qk_norm` each query head and each key head is normalised over its D elements before they are multiplied, by its root
    mean square (`rms`) or as a layer norm (`layer`), with `qk_norm_epsilon` and parameters that all heads share.

    Example:
    ```mlir
    %y = "multi_head_attention.self_attention"(%x, %wq, %wk, %wv, %wo) {heads = 4 : i64, kv_heads = 2 : i64, causal = "end",
      operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
      : (tensor<2x?x32xf32>, tensor<32x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<2x?x32xf32>
    ```
    Constraints:
    - (C1) the input is [B, T, E], and B or T is static. (C2) heads is at least 1 and a multiple of kv_heads, at least 1.
    - (C3) query and key weights are [H * D, E] and [Hkv * D, E], the value weight [Hkv * Dv, E], the output weight [O, H * Dv].
    - (C4) biases have their weight's number of rows; an output bias needs an output weight.
    - (C5) the result is [B, T, O], or [B, T, H * Dv] without an output weight. (C6) scale, if given, is finite.
    - (C7) the mask is as in `tw.attention`.
    - (C8) parameters of the norms have shape [D]; biases are for `layer` alone; with `none` there are neither parameters nor an
      epsilon, with the others the epsilon is finite and not negative.
  }];
}

def MultiHeadAttention_CrossAttentionOp
    : MultiHeadAttention_ModuleOp<"cross_attention", (ins Tw_FloatTensor:$input, Tw_FloatTensor:$source), (ins)> {
  let summary = "Cross-attention with its projections";
  let description = [{
    As `self_attention`, with keys and values from `source` `[B, S, Ec]` (an encoder's output) and never causal. The mask hides
    the context's padding.

    Example:
    ```mlir
    %y = "multi_head_attention.cross_attention"(%x, %c, %wq, %wk, %wv) {heads = 4 : i64, kv_heads = 4 : i64,
      operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
      : (tensor<2x5x32xf32>, tensor<2x7x24xf32>, tensor<32x32xf32>, tensor<32x24xf32>, tensor<32x24xf32>) -> tensor<2x5x32xf32>
    ```
    Constraints: those of `self_attention`, with
    - (C1) the context [B, S, Ec], B or S static, of the input's batch. (C3) key and value weights of Ec columns.
  }];
}

#endif
