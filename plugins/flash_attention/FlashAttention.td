// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_PLUGINS_FLASH_ATTENTION
#define TILEWRIGHT_PLUGINS_FLASH_ATTENTION

include "ir/interfaces/Interfaces.td"
include "ir/interfaces/StateReader.td"
include "ir/tw/AttentionForm.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def FlashAttention_Dialect : Dialect {
  let name = "flash_attention";
  let cppNamespace = "::tilewright::flash_attention";
  let summary = "Exact attention by tiles with an online softmax (Dao et al., 2022).";
  let description = [{
    A form of `tw.attention` that never holds the scores of a row at once. Keys and values are visited tile by tile; a running
    maximum m, a running sum l and an unnormalised accumulator O are kept for each row, and rescaled when m grows:

    `m' = max(m, max_j s_j)`, `l' = l exp(m - m') + sum_j exp(s_j - m')`, `O' = O exp(m - m') + sum_j exp(s_j - m') v_j`,

    and the result is `O / l`. Extra memory is O(1) per row. Tiles whose keys are all hidden are skipped.
  }];
  let dependentDialects = ["::tilewright::tw::TwDialect"];
}

def FlashAttention_AttentionOp : Op<FlashAttention_Dialect, "attention", [Pure, AttrSizedOperandSegments, IsolatedFromAbove,
    DeclareOpInterfaceMethods<ReferenceLowering>, DeclareOpInterfaceMethods<NumericsContract>, DeclareOpInterfaceMethods<StateReader>,
    DeclareOpInterfaceMethods<WholeKernel>, DeclareOpInterfaceMethods<FusionCandidate, ["describeFusion"]>]> {
  let summary = "tw.attention by tiles with an online softmax";
  let description = [{
    Operands, attributes, results and meaning are those of `tw.attention`, to which this op lowers as its reference. It is
    made by `flash-attention-fuse` in the stage `fuse` where there is a kernel for the variant, and has no gradient.

    Example:
    ```mlir
    %o = flash_attention.attention query(%q : tensor<?x9x64xf32>) state(%s : !tw.state<tensor<?x3x64xf32>, tensor<?x3x64xf32>>)
           row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>) positions(%p : tensor<?xi32>)
           {scale = 0.125 : f64, causal = "end"} -> tensor<?x9x64xf32>
    ```
    Constraints:
    - (C1) those of `tw.attention`.
  }];
  let arguments = Tw_Attention.operands;
  let results = Tw_Attention.outputs;
  let regions = Tw_Attention.scoreRegion;
  let assemblyFormat = Tw_Attention.syntax;
  let extraClassDeclaration = Tw_Attention.declarations;
  let hasVerifier = 1;
}

def FlashAttention_PartialsOp : Op<FlashAttention_Dialect, "partials", [Pure, AttrSizedOperandSegments, IsolatedFromAbove,
    DeclareOpInterfaceMethods<ReferenceLowering>, DeclareOpInterfaceMethods<NumericsContract>,
    DeclareOpInterfaceMethods<WholeKernel>, DeclareOpInterfaceMethods<FusionCandidate, ["describeFusion"]>]> {
  let summary = "Attention over each of several parts of the keys";
  let description = [{
    `tw.attention` of the dense form, done for the keys `p * c <= j < (p + 1) * c`, `c = ceil(S / parts)`, of each part p: its
    output and the logarithm of its sum of exponentials (-inf, and output 0, where a row has no key in the part). The parts
    are work items of one kernel, so that a query of few rows (one step of generation) occupies more than one thread.
    `flash-attention-split-keys` makes it, together with the core ops that join the parts.

    Example:
    ```mlir
    %o, %lse = flash_attention.partials query(%q : tensor<1x8x1x64xf32>) key(%k : tensor<1x1x4096x64xf32>) value(%v : tensor<1x1x4096x64xf32>)
           {scale = 0.125 : f64, causal = "end", parts = 8 : i64} -> tensor<8x1x8x1x64xf32>, tensor<8x1x8x1xf32>
    ```
    Constraints:
    - (C1) those of `tw.attention`, the results apart. (C2) parts is at least 2.
    - (C3) dense, without cu_seqlens and sinks, of static shapes. (C4) results `[parts, ...]` of f32 or f64: that of
      `tw.attention`, and `[parts,B,H,T]`.
  }];
  let arguments = !con(Tw_Attention.operands, (ins Tw_I64Attr:$parts));
  let results = (outs Tw_FloatTensor:$result, Tw_FloatTensor:$lse);
  let regions = Tw_Attention.scoreRegion;
  let assemblyFormat = !subst("(`,` type($extra)^)?", "`,` type($lse)", Tw_Attention.syntax);
  let extraClassDeclaration = [{ ::mlir::Value getWeights() { return {}; } }];
  let hasVerifier = 1;
}

#endif
