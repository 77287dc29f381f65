// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_PLUGINS_MIXTURE_OF_EXPERTS
#define TILEWRIGHT_PLUGINS_MIXTURE_OF_EXPERTS

include "ir/interfaces/Interfaces.td"
include "ir/tw/TwBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def MixtureOfExperts_Dialect : Dialect {
  let name = "mixture_of_experts";
  let cppNamespace = "::tilewright::mixture_of_experts";
  let summary = "Feed-forward blocks of which each token uses a few (Shazeer et al., 2017; Fedus et al., 2022).";
  let description = [{
    A router, a `tw.linear`, gives each token a logit for each of E experts; `route` chooses k of them and their weights;
    `experts` computes the weighted sum of their outputs, by `tw.grouped_linear` over rows sorted by expert, so that the
    work is that of the chosen experts. A shared expert is a feed-forward block beside them, written in core ops.
    `balance_loss` and `counts` say how evenly tokens are spread.
  }];
  let dependentDialects = ["::tilewright::tw::TwDialect"];
}

class MixtureOfExperts_Op<string mnemonic, list<Trait> traits = []> : Op<MixtureOfExperts_Dialect, mnemonic,
    !listconcat([Pure, InferTypeOpAdaptor, DeclareOpInterfaceMethods<ReferenceLowering>,
                 DeclareOpInterfaceMethods<NumericsContract>], traits)>;

def MixtureOfExperts_RouteOp : MixtureOfExperts_Op<"route"> {
  let summary = "The experts of each token, and how much each counts";
  let description = [{
    Scores `s` of a token's logits `l`, by `gating`: `"softmax"` of all experts' logits, `"sigmoid"` of each, or
    `"chosen_softmax"`, the softmax of the chosen experts' logits alone (Shazeer et al., 2017; gpt-oss). The `top_k` experts
    with the largest scores (logits for `"chosen_softmax"`) are chosen, of equal ones the lower number, never a NaN before
    another. `top_k` is cut to E. Results are in order of falling scores.

    `selection_bias` is added for choosing, and for nothing else: the weights are the scores without it. It is finite.

    With `groups` > 1 (DeepSeek-V3, 2024) the experts stand in that many groups of equal size; a group counts the sum of its
    two largest biased scores, and experts outside of the `top_groups` best groups are not chosen.

    `renormalize` divides a token's weights by their sum (plus 1e-20), then `scaling` multiplies them. A 16-bit input is
    computed in f32 and rounded once.

    Example:
    ```mlir
    %w, %i = mixture_of_experts.route %logits {gating = "softmax", top_k = 2 : i64, renormalize = true}
               : tensor<?x8xf32> -> tensor<?x2xf32>, tensor<?x2xi32>
    %v, %j = mixture_of_experts.route %logits selection_bias %b : tensor<256xf32>
               {gating = "sigmoid", top_k = 8 : i64, groups = 8 : i64, top_groups = 4 : i64, renormalize = true, scaling = 2.5 : f64}
               : tensor<?x256xf32> -> tensor<?x8xf32>, tensor<?x8xi32>
    ```
    Constraints:
    - (C1) the logits have shape [N, E], E static and at least 1. (C2) top_k >= 1.
    - (C3) selection_bias has shape [E]; where it is a constant, its elements are finite.
    - (C4) groups >= 1 divides E, 1 <= top_groups <= groups, and the chosen groups have top_k experts.
    - (C5) scaling is finite. (C6) the results have shape [N, min(top_k, E)], the logits' element type and i32.
  }];
  let arguments = (ins Tw_FloatTensor:$logits, Optional<Tw_FloatTensor>:$selection_bias,
    Tw_OneOf<["softmax", "sigmoid", "chosen_softmax"]>:$gating, Tw_I64Attr:$top_k,
    DefaultValuedAttr<BoolAttr, "false">:$renormalize, DefaultValuedAttr<F64Attr, "1.0">:$scaling,
    DefaultValuedAttr<Tw_I64Attr, "1">:$groups, DefaultValuedAttr<Tw_I64Attr, "1">:$top_groups);
  let results = (outs Tw_FloatTensor:$weights, Tw_I32Tensor:$indices);
  let assemblyFormat = [{ $logits (`selection_bias` $selection_bias^ `:` type($selection_bias))? attr-dict
    `:` type($logits) `->` type($weights) `,` type($indices) }];
  let hasVerifier = 1;
}

def MixtureOfExperts_ExpertsOp : MixtureOfExperts_Op<"experts", [AttrSizedOperandSegments]> {
  let summary = "Weighted sum of the chosen experts' outputs";
  let description = [{
    `y[n] = sum_r weights[n, r] * expert_e(x[n])` with `e = indices[n, r]`, each expert a feed-forward block:
    - without a gate `expert(x) = D act(U x + bu) + bd`;
    - with one `expert(x) = D (act(G x + bg) * (U x + bu + up_offset)) + bd`, where G is `gate`, or a part of `up`, as
      `fused` says: `"gate_up"` and `"up_gate"` have the halves one after the other, `"interleaved"` G in the even rows.

    `act` is `relu(x)`, `gelu(x)`, `gelu_tanh(x)` (its approximation), or `silu(x) = x / (1 + exp(-alpha x))`. With `limit` the gate is cut to at most
    `limit`, and the other factor to `-limit .. limit`, before anything else (gpt-oss: silu, alpha 1.702, limit 7,
    up_offset 1). Weights are `[experts, out, in]` and may be quantised, or `[experts, in, out]` with `in_out`.

    The rows of all tokens are sorted by expert and go through `tw.grouped_linear`: work is proportional to N * k, an
    expert without tokens costs nothing. Without tokens the result is empty.

    Example:
    ```mlir
    %y = mixture_of_experts.experts %x, %w, %i up(%u) down(%d) gate(%g) {activation = "silu"}
           : (tensor<?x64xf32>, tensor<?x2xf32>, tensor<?x2xi32>, tensor<8x96x64xf32>, tensor<8x64x96xf32>, tensor<8x96x64xf32>) -> tensor<?x64xf32>
    ```
    Constraints:
    - (C1) x has shape [N, in]; weights and indices have one shape [N, k], k static and at least 1, weights x's element type.
    - (C2) `gate` is not given beside `fused`, and has the shape of `up`; `gate_bias` goes with `gate`.
    - (C3) up maps from x's columns to the hidden ones (twice as many rows with `fused`), and down from these, for the
      same number of experts; their shapes are static.
    - (C4) a bias has shape [experts, out] of its weight. (C5) the weights are floats where they are `in_out`.
    - (C6) alpha is finite, not 0, and other than 1 only with "silu"; limit, if given, is finite, above 0 and has a gate;
      up_offset is finite, and other than 0 only with a gate.
    - (C7) the result has shape [N, out] and x's element type.
  }];
  let arguments = (ins Tw_FloatTensor:$x, Tw_FloatTensor:$weights, Tw_I32Tensor:$indices, Tw_AnyTensor:$up,
    Tw_AnyTensor:$down, Optional<Tw_AnyTensor>:$gate, Optional<Tw_FloatTensor>:$up_bias, Optional<Tw_FloatTensor>:$down_bias,
    Optional<Tw_FloatTensor>:$gate_bias, Tw_OneOf<["relu", "gelu", "gelu_tanh", "silu"]>:$activation,
    OptionalAttr<Tw_OneOf<["gate_up", "up_gate", "interleaved"]>>:$fused, DefaultValuedAttr<BoolAttr, "false">:$in_out,
    DefaultValuedAttr<F64Attr, "1.0">:$alpha, OptionalAttr<F64Attr>:$limit, DefaultValuedAttr<F64Attr, "0.0">:$up_offset);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = [{ $x `,` $weights `,` $indices `up` `(` $up (`+` $up_bias^)? `)` `down` `(` $down (`+` $down_bias^)? `)`
    (`gate` `(` $gate^ (`+` $gate_bias^)? `)`)? attr-dict `:` functional-type(operands, results) }];
  let hasVerifier = 1;
}

def MixtureOfExperts_CountsOp : MixtureOfExperts_Op<"counts"> {
  let summary = "Tokens of each expert";
  let description = [{
    `y[e]` is how often e stands in `indices`.

    Example:
    ```mlir
    %c = mixture_of_experts.counts %i {experts = 8 : i64} : tensor<?x2xi32> -> tensor<8xi32>
    ```
    Constraints:
    - (C1) indices have shape [N, k], k static and at least 1. (C2) experts >= 1. (C3) the result has shape [experts].
  }];
  let arguments = (ins Tw_I32Tensor:$indices, Tw_I64Attr:$experts);
  let results = (outs Tw_I32Tensor:$result);
  let assemblyFormat = "$indices attr-dict `:` type($indices) `->` type($result)";
  let hasVerifier = 1;
}

def MixtureOfExperts_BalanceLossOp : MixtureOfExperts_Op<"balance_loss"> {
  let summary = "How far tokens are from being spread evenly over the experts";
  let description = [{
    By `form`, over N tokens and E experts:
    - `"mean_weight"`: `sum_e (p_e - 1/E)^2`, `p_e` the mean over all tokens of the weight that e has in the sum; `values`
      are the weights of the chosen experts [N, k].
    - `"switch"` (Fedus et al., 2022): `E sum_e f_e P_e`, `f_e` the share of all N k choices that fell on e, so that they sum
      to 1, and `P_e` the mean score; `values` are all scores [N, E].
    - `"choices"`: the same with `f_e` the number of choices for each token, so that they sum to k (Transformers' form).

    Without tokens the loss is 0.

    Example:
    ```mlir
    %a = mixture_of_experts.balance_loss %w, %i {form = "mean_weight", experts = 8 : i64} : tensor<?x2xf32>, tensor<?x2xi32> -> tensor<f32>
    %b = mixture_of_experts.balance_loss %s, %i {form = "switch", experts = 8 : i64} : tensor<?x8xf32>, tensor<?x2xi32> -> tensor<f32>
    ```
    Constraints:
    - (C1) indices have shape [N, k], k static and at least 1. (C2) experts >= 1.
    - (C3) values have shape [N, k] for "mean_weight", else [N, experts]. (C4) the result is one number of their type.
  }];
  let arguments = (ins Tw_FloatTensor:$values, Tw_I32Tensor:$indices,
    Tw_OneOf<["mean_weight", "switch", "choices"]>:$form, Tw_I64Attr:$experts);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = "$values `,` $indices attr-dict `:` type($values) `,` type($indices) `->` type($result)";
  let hasVerifier = 1;
}

#endif
