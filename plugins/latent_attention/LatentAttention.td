// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_PLUGINS_LATENT_ATTENTION
#define TILEWRIGHT_PLUGINS_LATENT_ATTENTION

include "ir/interfaces/Interfaces.td"
include "ir/interfaces/StateReader.td"
include "ir/tw/TwBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def LatentAttention_Dialect : Dialect {
  let name = "latent_attention";
  let cppNamespace = "::tilewright::latent_attention";
  let summary = "Attention through latents: a learned array of them, or keys and values of low rank.";
  let description = [{
    Two techniques share the name.

    *(a) A latent array* (`latent_array`): N learned vectors attend to the L inputs, and the inputs attend to the N vectors:
    O(L N) products in place of O(L^2) (as Perceiver, Jaegle et al., 2021). Every output sees every input.

    *(b) Low rank* (`attention`; DeepSeek-V2, 2024, arXiv 2405.04434): keys and values of all heads are linear in one vector of
    `rank` numbers for each token, and all heads share one rotary key. That vector and that key are all that is cached.
  }];
  let dependentDialects = ["::tilewright::tw::TwDialect"];
}

def LatentAttention_CausalKind : Tw_OneOf<["none", "end", "start"]>;
def LatentAttention_Form : Tw_OneOf<["auto", "expanded", "absorbed"]>;
def LatentAttention_Part : Tw_OneOf<["key", "value"]>;
def LatentAttention_Values : Tw_OneOf<["updated", "own"]>;

def LatentAttention_AttentionOp : Op<LatentAttention_Dialect, "attention", [Pure, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<ReferenceLowering>, DeclareOpInterfaceMethods<NumericsContract>, DeclareOpInterfaceMethods<StateReader>]> {
  let summary = "Attention whose keys and values are of low rank";
  let description = [{
    A token's latent is `c` (`rank` numbers), and its rotary key `r` (R numbers, already turned) is one for all heads. Head h
    has Dn + Dv rows of the up-projection, those of its keys before those of its values:

    `k_h = [W_uk_h c, r]`, `v_h = W_uv_h c`, `o_h = softmax(scale * [q_nope_h, q_rope_h] k_h^T, masked) v_h`.

    `scale` is `1 / sqrt(Dn + R)` by default, of the whole query head. Rotary parts come turned: this op knows nothing of
    positions but what they hide.

    Two forms compute it:
    - `expanded` makes keys and values of all heads (one linear map) and attends to them;
    - `absorbed` takes `W_uk` into the query and `W_uv` into the output: with `u_h = W_uk_h^T q_nope_h` the score is
      `u_h c + q_rope_h r`, the weighted sum is one of latents, and `o_h = W_uv_h` times it. To `tw.attention` that is one
      key/value head of `rank + R` columns, the first `rank` of which are also the values.

    `auto` leaves the choice to `latent-attention-choose-form`: the form with the smaller sum of multiply-adds and ten times the bytes
    that it reads and writes. For T queries and S keys the expanded form has `S H rank (Dn + Dv) + T S H (Dn + R + Dv)` multiply-adds, and
    keys and values of all heads, `S H (Dn + R + Dv)` numbers, to write and to read; the absorbed one `T H rank (Dn + Dv) + T S H (2 rank + R)`,
    and `T H (2 rank + R)` numbers; each reads the latents and the up-projection. A length that is not known counts as 1024. One query is
    absorbed, a long prefill expanded; the receipt has the figures.

    The absorbed form reads the up-projection in both directions, and a quantised one is packed for one of them: it is decoded in
    front, in each step, which is why `auto` leaves the dense form of a quantised one expanded.

    Operands are dense, q_nope `[B,H,T,Dn]`, q_rope `[B,H,T,R]`, c `[B,S,rank]`, r `[B,S,R]`, with result `[B,H,T,Dv]`; or ragged over
    a state, q_nope `[N,H,Dn]`, q_rope `[N,H,R]`, and a state of one buffer `[tokens,1,rank+R]` whose rows are c and behind it r (what
    `tw.append` gets), with result `[N,H,Dv]`. A state always takes the absorbed form: that reads the rows as they stand, where
    expanded keys would be made again for each tile of query rows. row_start, kv_len, positions, mask, causal and window are those
    of `tw.attention`.

    Example:
    ```mlir
    %o = latent_attention.attention query(%qn, %qr : tensor<?x16x128xf32>, tensor<?x16x64xf32>) up(%w : tensor<4096x512xf32>)
           state(%s : !tw.state<tensor<?x1x576xf32>>) row_start(%rs : tensor<?xi32>) kv_len(%l : tensor<?xi32>) positions(%p : tensor<?xi32>)
           {causal = "end"} -> tensor<?x16x128xf32>
    %y = latent_attention.attention query(%a, %b : tensor<2x16x?x128xf32>, tensor<2x16x?x64xf32>) up(%w : tensor<4096x512xf32>)
           latent(%c, %r : tensor<2x?x512xf32>, tensor<2x?x64xf32>) {causal = "end"} -> tensor<2x16x?x128xf32>
    ```
    Constraints:
    - (C1) dense: latent and rotary key, no state, row_start, kv_len or positions; ragged: these four, neither of those nor a mask.
    - (C2) shapes as above, with static H, Dn, R, Dv and rank of at least 1; dense: B static, or T and S.
    - (C3) the up-projection is [H * (Dn + Dv), rank], of floats or of a storage type whose blocks divide the rank.
    - (C4) the state has one buffer [tokens, 1, rank + R].
    - (C5) the expanded form is not for a state.
    - (C6) scale, if given, is finite.
    - (C7) a window is at least 1 and goes with a `causal` other than `none`; `start` is not for a state.
    - (C8) the mask is as in `tw.attention`.
  }];
  let arguments = (ins
    Tw_FloatTensor:$q_nope, Tw_FloatTensor:$q_rope, Tw_AnyTensor:$up_weight, Optional<Tw_FloatTensor>:$latent, Optional<Tw_FloatTensor>:$k_rope,
    Optional<Tw_StateType>:$state, Optional<Tw_I32Tensor>:$row_start, Optional<Tw_I32Tensor>:$kv_len, Optional<Tw_I32Tensor>:$positions,
    Optional<Tw_MaskTensor>:$mask, OptionalAttr<F64Attr>:$scale,
    DefaultValuedAttr<LatentAttention_CausalKind, "\"none\"">:$causal, OptionalAttr<Tw_I64Attr>:$window,
    DefaultValuedAttr<LatentAttention_Form, "\"auto\"">:$form);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = [{ `query` `(` $q_nope `,` $q_rope `:` type($q_nope) `,` type($q_rope) `)` `up` `(` $up_weight `:` type($up_weight) `)`
    (`latent` `(` $latent^ `,` $k_rope `:` type($latent) `,` type($k_rope) `)`)?
    (`state` `(` $state^ `:` type($state) `)`)? (`row_start` `(` $row_start^ `:` type($row_start) `)`)? (`kv_len` `(` $kv_len^ `:` type($kv_len) `)`)?
    (`positions` `(` $positions^ `:` type($positions) `)`)? (`mask` `(` $mask^ `:` type($mask) `)`)? attr-dict `->` type($result) }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether keys and values are in a state.
    bool isRagged() { return static_cast<bool>(getState()); }
    int64_t heads() { return getQNope().getType().getDimSize(1); }
    int64_t nopeDim() { return getQNope().getType().getShape().back(); }
    int64_t ropeDim() { return getQRope().getType().getShape().back(); }
    int64_t valueDim() { return getType().getShape().back(); }
    int64_t rank() { return getUpWeight().getType().getDimSize(1); }
    double scaleOrDefault();
  }];
}

def LatentAttention_AbsorbOp : Op<LatentAttention_Dialect, "absorb", [Pure,
    DeclareOpInterfaceMethods<ReferenceLowering>, DeclareOpInterfaceMethods<NumericsContract>,
    DeclareOpInterfaceMethods<WholeKernel>]> {
  let summary = "Each head's rows by its part of an up-projection";
  let description = [{
    Head h has `G = rows / H` rows of the up-projection `[H * G, rank]`. Part `key` takes a query of low rank to where latents
    are, `y[n,h,:] = sum_i x[n,h,i] W[h G + i, :]`, by the first rows of each head; part `value` takes a sum of latents to the head's
    values, `y[n,h,i] = W[h G + G - Dv + i, :] x[n,h,:]`, by its last Dv rows. The absorbed form of `attention` over a state is made of
    these two.

    Example:
    ```mlir
    %u = latent_attention.absorb "key" %q, %w : tensor<?x16x128xf32>, tensor<4096x512xf32> -> tensor<?x16x512xf32>
    %o = latent_attention.absorb "value" %z, %w : tensor<?x16x512xf32>, tensor<4096x512xf32> -> tensor<?x16x128xf32>
    ```
    Constraints:
    - (C1) input and result are [N, H, ...] with equal N and static H and last dimensions of at least 1.
    - (C2) the weight is static [H * G, rank]. (C3) `key`: the input has at most G columns and the result `rank`; `value`: the
      input has `rank` columns and the result at most G.
  }];
  let arguments = (ins LatentAttention_Part:$part, Tw_FloatTensor:$input, Tw_FloatTensor:$weight);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = "$part $input `,` $weight attr-dict `:` type($input) `,` type($weight) `->` type($result)";
  let hasVerifier = 1;
}

def LatentAttention_LatentArrayOp : Op<LatentAttention_Dialect, "latent_array", [Pure, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<ReferenceLowering>, DeclareOpInterfaceMethods<NumericsContract>]> {
  let summary = "Attention through a learned array of latents, with its projections";
  let description = [{
    With projections q, k, v (`x W^T + b`, weights `[H * D, E]`, split into H heads) of the input `[B, L, E]` and of the latents
    `[N, E]`, which are one for all of the batch:

    `h = softmax(scale q_latents k_input^T, masked) v_input`, `o = softmax(scale q_input k_latents^T) h`, `y = concat_h(o) Wo^T + bo`.

    `scale` is `1 / sqrt(D)` by default. The latents have the input's projections, or their own where these are given. `values =
    "own"` takes v_latents in place of h in the second step. The mask hides input keys from the latents in the first step; latents
    that see none get 0. The second result is h, the updated latents `[B, H, N, D]`.

    O(L N). Every output sees every input, so there is no causal form of this, no window, and no step by step decoding; the op
    has `causal` and `window` only to say so. `latent_attention.attention` has all three.

    Example:
    ```mlir
    %y, %h = "latent_attention.latent_array"(%x, %latents, %wq, %wk, %wv, %wo) {heads = 4 : i64,
      operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
      : (tensor<2x?x32xf32>, tensor<64x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>)
      -> (tensor<2x?x32xf32>, tensor<2x4x64x8xf32>)
    ```
    Constraints:
    - (C1) the input is [B, L, E] with static B and E, the latents static [N, E] with N at least 1. (C2) heads is at least 1.
    - (C3) projections of q, k and v, the latents' own too, are [H * D, E] with one D; the output weight is [O, H * D].
    - (C4) a bias has its weight's number of rows. (C5) results are [B, L, O] and [B, H, N, D].
    - (C6) scale, if given, is finite. (C7) the mask is [B, 1 or N, L].
    - (C8) causal is "none" and there is no window. (C9) latents' own projections come with their weights: a bias alone is
      refused, and so is a value projection of the latents whose values are "updated", which do not use it.
  }];
  let arguments = (ins
    Tw_FloatTensor:$input, Tw_FloatTensor:$latents,
    Tw_AnyTensor:$query_weight, Tw_AnyTensor:$key_weight, Tw_AnyTensor:$value_weight, Tw_AnyTensor:$output_weight,
    Optional<Tw_FloatTensor>:$query_bias, Optional<Tw_FloatTensor>:$key_bias, Optional<Tw_FloatTensor>:$value_bias,
    Optional<Tw_FloatTensor>:$output_bias,
    Optional<Tw_AnyTensor>:$latent_query_weight, Optional<Tw_AnyTensor>:$latent_key_weight, Optional<Tw_AnyTensor>:$latent_value_weight,
    Optional<Tw_FloatTensor>:$latent_query_bias, Optional<Tw_FloatTensor>:$latent_key_bias, Optional<Tw_FloatTensor>:$latent_value_bias,
    Optional<Tw_MaskTensor>:$mask,
    Tw_I64Attr:$heads, OptionalAttr<F64Attr>:$scale, DefaultValuedAttr<LatentAttention_Values, "\"updated\"">:$values,
    DefaultValuedAttr<LatentAttention_CausalKind, "\"none\"">:$causal, OptionalAttr<Tw_I64Attr>:$window);
  let results = (outs Tw_FloatTensor:$result, Tw_FloatTensor:$updated);
  let hasVerifier = 1;
}

#endif
