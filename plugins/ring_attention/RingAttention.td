// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_PLUGINS_RING_ATTENTION
#define TILEWRIGHT_PLUGINS_RING_ATTENTION

include "ir/interfaces/Interfaces.td"
include "ir/tw/AttentionForm.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def RingAttention_Dialect : Dialect {
  let name = "ring_attention";
  let cppNamespace = "::tilewright::ring_attention";
  let summary = "Exact attention over a sequence in shards (Liu et al., 2023).";
  let description = [{
    Queries, keys and values are cut along the sequence into shards. Each shard of queries meets the shards of keys and values
    one after another, as if these travelled a ring, and keeps for each its output and the logarithm of its sum of
    exponentials; what belongs to one row is put together by these logarithms.

    On one device the shards are a decomposition that bounds how many keys are looked at together. Across processes the same
    op is cut along the axis `sequence`: each process holds one shard of queries, keys and values, passes keys and values on,
    and merges what its rows have met so far; results, and the order in which a row's parts are merged, are the same.
  }];
  let dependentDialects = ["::tilewright::tw::TwDialect"];
}

def RingAttention_AttentionOp : Op<RingAttention_Dialect, "attention", [Pure, AttrSizedOperandSegments, IsolatedFromAbove,
    DeclareOpInterfaceMethods<ReferenceLowering>, DeclareOpInterfaceMethods<NumericsContract>]> {
  let summary = "tw.attention over shards of the sequence";
  let description = [{
    Operands, attributes, results and meaning are those of the dense form of `tw.attention`. Rows are cut into `num_shards`
    shards of `ceil(T / num_shards)`, keys into as many of `ceil(S / num_shards)`; empty shards are skipped, and so is a shard
    of keys that causality hides from a whole shard of rows. One shard is `tw.attention` itself.

    Example:
    ```mlir
    %o = ring_attention.attention query(%q : tensor<1x4x33x8xf32>) key(%k : tensor<1x2x33x8xf32>) value(%v : tensor<1x2x33x8xf32>)
           {scale = 0.35 : f64, causal = "end", num_shards = 4 : i64} -> tensor<1x4x33x8xf32>
    ```
    Constraints:
    - (C1) those of `tw.attention`. (C2) num_shards is at least 1.
    - (C3) dense, layout `bhtd`, without cu_seqlens; the weights are no result.
    - (C4) with more than one shard, B, T and S are static.
  }];
  let arguments = !con(Tw_Attention.operands, (ins DefaultValuedAttr<Tw_I64Attr, "4">:$num_shards));
  let results = Tw_Attention.outputs;
  let regions = Tw_Attention.scoreRegion;
  let assemblyFormat = Tw_Attention.syntax;
  let extraClassDeclaration = Tw_Attention.declarations;
  let hasVerifier = 1;
}

#endif
