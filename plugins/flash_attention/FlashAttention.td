// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_PLUGINS_FLASH_ATTENTION
#define TILEWRIGHT_PLUGINS_FLASH_ATTENTION

include "ir/interfaces/Interfaces.td"
include "ir/tw/TwBase.td"
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

def FlashAttention_CausalKind : Tw_OneOf<["none", "end", "start"]>;

def FlashAttention_AttentionOp : Op<FlashAttention_Dialect, "attention", [Pure, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<ReferenceLowering>, DeclareOpInterfaceMethods<NumericsContract>,
    DeclareOpInterfaceMethods<WholeKernel>, DeclareOpInterfaceMethods<FusionCandidate, ["describeFusion"]>]> {
  let summary = "tw.attention by tiles with an online softmax";
  let description = [{
    Operands, attributes and meaning are those of `tw.attention`, to which this op lowers as its reference. It is made by
    `flash-attention-fuse` in the stage `fuse` where there is a kernel for the variant, and has no gradient.

    Example:
    ```mlir
    %o = flash_attention.attention query(%q : tensor<?x9x64xf32>) state(%s : !tw.state<tensor<?x3x64xf32>, tensor<?x3x64xf32>>)
           row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>) positions(%p : tensor<?xi32>)
           {scale = 0.125 : f64, causal = "end"} -> tensor<?x9x64xf32>
    ```
    Constraints:
    - (C1) those of `tw.attention`.
  }];
  let arguments = (ins
    Tw_FloatTensor:$query, Optional<Tw_FloatTensor>:$key, Optional<Tw_FloatTensor>:$value,
    Optional<Tw_StateType>:$state, Optional<Tw_I32Tensor>:$row_start, Optional<Tw_I32Tensor>:$kv_len, Optional<Tw_I32Tensor>:$positions,
    Optional<Tw_BoolTensor>:$mask, Optional<Tw_FloatTensor>:$bias, Optional<Tw_FloatTensor>:$sinks,
    F64Attr:$scale, DefaultValuedAttr<FlashAttention_CausalKind, "\"none\"">:$causal, OptionalAttr<Tw_I64Attr>:$window, OptionalAttr<F64Attr>:$softcap);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = [{ `query` `(` $query `:` type($query) `)` (`key` `(` $key^ `:` type($key) `)`)? (`value` `(` $value^ `:` type($value) `)`)?
    (`state` `(` $state^ `:` type($state) `)`)? (`row_start` `(` $row_start^ `:` type($row_start) `)`)? (`kv_len` `(` $kv_len^ `:` type($kv_len) `)`)?
    (`positions` `(` $positions^ `:` type($positions) `)`)? (`mask` `(` $mask^ `:` type($mask) `)`)? (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`sinks` `(` $sinks^ `:` type($sinks) `)`)? attr-dict `->` type($result) }];
  let hasVerifier = 1;
}

#endif
