// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_PLUGINS_MULTI_TOKEN_PREDICTION
#define TILEWRIGHT_PLUGINS_MULTI_TOKEN_PREDICTION

include "ir/interfaces/Interfaces.td"
include "ir/tw/TwBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def MultiTokenPrediction_Dialect : Dialect {
  let name = "multi_token_prediction";
  let cppNamespace = "::tilewright::multi_token_prediction";
  let summary = "Several next tokens from one hidden state (Gloeckle et al., 2024; DeepSeek-V3, 2024).";
  let description = [{
    From the hidden state of a position t, n heads predict the tokens t+1 ... t+n. The forms differ in what a head is: a matrix
    of its own (`heads`), one matrix on n transformed states (`offsets`, then `tw.linear`), or one matrix on a chain of
    modules, each of which joins the state before it with the embedding of the next token (`join`, then a transformer layer).
    `loss` is what they are trained with.
  }];
  let dependentDialects = ["::tilewright::tw::TwDialect"];
}

class MultiTokenPrediction_Op<string mnemonic, list<Trait> traits = []> : Op<MultiTokenPrediction_Dialect, mnemonic,
    !listconcat([Pure, InferTypeOpAdaptor, DeclareOpInterfaceMethods<ReferenceLowering>,
                 DeclareOpInterfaceMethods<NumericsContract>], traits)> {
  let hasVerifier = 1;
}

def MultiTokenPrediction_HeadsOp : MultiTokenPrediction_Op<"heads"> {
  let summary = "n separate heads on one hidden state";
  let description = [{
    `y[i, ..., v] = sum_e h[..., e] * w[i, v, e] + b[i, v]`: head i, from 0, predicts the token i + 1 positions on.

    Example:
    ```mlir
    %y = multi_token_prediction.heads %h, %w bias(%b : tensor<3x100xf32>) : tensor<?x8x64xf32>, tensor<3x100x64xf32> -> tensor<3x?x8x100xf32>
    ```
    Constraints:
    - (C1) the hidden state's last dimension E is static and at least 1; of its others one at most is dynamic.
    - (C2) the weight has the static shape [n, V, E], n at least 1.
    - (C3) the bias, if given, has shape [n, V].
  }];
  let arguments = (ins Tw_FloatTensor:$hidden, Tw_FloatTensor:$weight, Optional<Tw_FloatTensor>:$bias);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = [{ $hidden `,` $weight (`bias` `(` $bias^ `:` type($bias) `)`)? attr-dict
    `:` type($hidden) `,` type($weight) `->` type($result) }];
}

def MultiTokenPrediction_OffsetsOp : MultiTokenPrediction_Op<"offsets"> {
  let summary = "n hidden states for one head";
  let description = [{
    `y[0] = h` and, for i = 1 ... n-1, with a matrix `y[i] = h + SiLU(A_i h + a_i)`, without one `y[i] = h + a_i`. A head that
    all share is a `tw.linear` on the result.

    Example:
    ```mlir
    %y = multi_token_prediction.offsets %h, %a matrix(%m : tensor<2x64x64xf32>) : tensor<?x8x64xf32>, tensor<2x64xf32> -> tensor<3x?x8x64xf32>
    ```
    Constraints:
    - (C1) the hidden state's last dimension E is static and at least 1; of its others one at most is dynamic.
    - (C2) the vectors have shape [n-1, E], n-1 static.
    - (C3) the matrix, if given, has shape [n-1, E, E].
  }];
  let arguments = (ins Tw_FloatTensor:$hidden, Tw_FloatTensor:$vectors, Optional<Tw_FloatTensor>:$matrix);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = [{ $hidden `,` $vectors (`matrix` `(` $matrix^ `:` type($matrix) `)`)? attr-dict
    `:` type($hidden) `,` type($vectors) `->` type($result) }];
}

def MultiTokenPrediction_JoinOp : MultiTokenPrediction_Op<"join",
    [AllTypesMatch<["embedding", "hidden"]>, AllTypesMatch<["embedding_norm", "hidden_norm"]>]> {
  let summary = "The input of a module: a hidden state and the embedding of the next token";
  let description = [{
    `y = W [norm(e) * g_e, norm(h) * g_h]`, `norm(x) = x / sqrt(mean(x^2) + epsilon)` over the last dimension. With `order`
    `embedding_first` the embedding's columns of W come first, as in the released weights of DeepSeek-V3; with `hidden_first`
    the hidden state's, as its report writes it.

    Example:
    ```mlir
    %y = multi_token_prediction.join %e, %h norms(%ge, %gh) weight(%w : tensor<64x128xf32>) {epsilon = 1.0e-06 : f64} : tensor<?x8x64xf32>, tensor<64xf32>
    ```
    Constraints:
    - (C1) embedding and hidden state have a static last dimension E of at least 1.
    - (C2) the norms' weights have shape [E]. (C3) the weight has shape [E, 2E]. (C4) epsilon is finite and not negative.
  }];
  let arguments = (ins Tw_FloatTensor:$embedding, Tw_FloatTensor:$hidden, Tw_FloatTensor:$embedding_norm,
    Tw_FloatTensor:$hidden_norm, Tw_AnyTensor:$weight, F64Attr:$epsilon,
    DefaultValuedAttr<Tw_OneOf<["embedding_first", "hidden_first"]>, "\"embedding_first\"">:$order);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = [{ $embedding `,` $hidden `norms` `(` $embedding_norm `,` $hidden_norm `)` `weight` `(` $weight `:`
    type($weight) `)` attr-dict `:` type($hidden) `,` type($embedding_norm) }];
}

def MultiTokenPrediction_LossOp : MultiTokenPrediction_Op<"loss", [DeclareOpInterfaceMethods<Gradient>]> {
  let summary = "Cross-entropy of all heads";
  let description = [{
    Head i at position t is compared with `labels[b, t+1+i]`; positions past the end and labels equal to `ignore_index` do not
    count. `per_head[i]` is the mean of `log(sum_v exp(y[v])) - y[label]` over what counts, and 0 where nothing does. `loss` is
    the mean of `per_head`, heads without any among them; with `pooled` the mean over all heads' positions that count, 0
    without any. A label that is neither ignored nor below V makes its losses NaN.

    Example:
    ```mlir
    %loss, %heads = multi_token_prediction.loss %y, %labels {ignore_index = -100 : i64} : tensor<3x?x8x100xf32>, tensor<?x8xi32> -> tensor<f32>, tensor<3xf32>
    ```
    Constraints:
    - (C1) the logits have shape [n, B, T, V], n and V static and at least 1; the labels have shape [B, T].
    - (C2) V is at most 2^24, and ignore_index is from -2^24 to 2^24 (it may be a label).
  }];
  let arguments = (ins Tw_FloatTensor:$logits, Tw_I32Tensor:$labels, DefaultValuedAttr<Tw_I64Attr, "-100">:$ignore_index,
    DefaultValuedAttr<BoolAttr, "false">:$pooled);
  let results = (outs Tw_FloatTensor:$loss, Tw_FloatTensor:$per_head);
  let assemblyFormat = "$logits `,` $labels attr-dict `:` type($logits) `,` type($labels) `->` type($loss) `,` type($per_head)";
}

#endif
