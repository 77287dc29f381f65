// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_IR_TW_ATTENTION
#define TILEWRIGHT_IR_TW_ATTENTION

include "ir/tw/Elementwise.td"
include "mlir/IR/SymbolInterfaces.td"

def Tw_CausalKind : Tw_OneOf<["none", "end", "start"]>;

def Tw_AppendOp : Tw_Op<"append", [AllTypesMatch<["state", "result"]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>, DeclareOpInterfaceMethods<WholeKernel>]> {
  let summary = "Appends rows to a growable state";
  let description = [{
    Adds the rows `row_start[b] <= n < row_start[b+1]` of each value to sequence b's buffers and returns the new state. The
    old state may not be used afterwards.

    Example:
    ```mlir
    %s1 = tw.append %s0, %row_start, %k, %v : !tw.state<tensor<?x3x64xf32>, tensor<?x3x64xf32>>, tensor<?xi32>, tensor<?x3x64xf32>, tensor<?x3x64xf32>
    ```
    Constraints:
    - (C1) one value per buffer, each of the buffer's type but for the leading dimension.
    - (C2) the old state has no other use after this op, and no second op that changes it; a call whose callee appends to
      its argument changes the state that it is given.
  }];
  let arguments = (ins Tw_StateType:$state, Tw_I32Tensor:$row_start, Variadic<Tw_FloatTensor>:$values);
  let results = (outs Tw_StateType:$result);
  let assemblyFormat = "$state `,` $row_start `,` $values attr-dict `:` qualified(type($state)) `,` type($row_start) `,` type($values)";
  let hasVerifier = 1;
}

def Tw_AttentionOp : Tw_Op<"attention", [Pure, AttrSizedOperandSegments, DeclareOpInterfaceMethods<WholeKernel>,
    DeclareOpInterfaceMethods<FusionCandidate>]> {
  let summary = "Scaled dot-product attention";
  let description = [{
    `softmax(softcap(scale * Q K^T) + bias, masked) V`. Query head h uses key/value head `h / (H / Hkv)`. A row whose keys are
    all masked gives 0. Softmax accumulates in f32.

    Two forms:
    - *dense*: `query [B,H,T,D]`, `key [B,Hkv,S,D]`, `value [B,Hkv,S,Dv]` -> `[B,H,T,Dv]`;
    - *ragged, over a state*: `query [N,H,D]` holds the rows of all sequences, `state` the keys `[tokens,Hkv,D]` and values
      `[tokens,Hkv,Dv]`, or one buffer of keys whose first Dv columns are the values; `row_start [B+1]` each sequence's rows, `kv_len [B]` its number of keys, `positions [N]` each row's
      position -> `[N,H,Dv]`.

    Key j is visible to query i when it passes all of: `causal = end`: dense `j <= i + S - T`, ragged `j <= position[i]`;
    `causal = start`: dense `j <= i`; `window = w >= 1`: at most the w last of those, the own one among them; `mask`
    (i1, true = visible) broadcastable from `[T,S]` to `[B,H,T,S]`; ragged: `j < kv_len[b]`.

    `bias` is added after the scale and `softcap c` (`c * tanh(x / c)`); `sinks [H]` join the denominator only.

    Example:
    ```mlir
    %o = tw.attention query(%q : tensor<?x9x64xf32>) state(%s : !tw.state<tensor<?x3x64xf32>, tensor<?x3x64xf32>>)
           row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>) positions(%p : tensor<?xi32>)
           {scale = 0.125 : f64, causal = "end"} -> tensor<?x9x64xf32>
    ```
    Constraints:
    - (C1) dense: key and value, no state, row_start, kv_len or positions; ragged: state, row_start, kv_len and positions, no key or value.
    - (C2) shapes as above, H a multiple of Hkv >= 1. (C3) scale is finite; softcap, if given, finite and > 0 (0 means none).
    - (C4) window >= 1 if given, and only with a `causal` other than `none`. (C5) `start` is not for the ragged form. (C6) mask is i1 and bias float, of rank 2 to 4 with trailing
      dimensions [T, S] (each leading one 1, or B, or H); dense form only. (C7) sinks have shape [H].
    - (C8) the ragged state has two buffers of one key/value head count, or one buffer of at least Dv columns.
  }];
  let arguments = (ins
    Tw_FloatTensor:$query, Optional<Tw_FloatTensor>:$key, Optional<Tw_FloatTensor>:$value,
    Optional<Tw_StateType>:$state, Optional<Tw_I32Tensor>:$row_start, Optional<Tw_I32Tensor>:$kv_len, Optional<Tw_I32Tensor>:$positions,
    Optional<Tw_BoolTensor>:$mask, Optional<Tw_FloatTensor>:$bias, Optional<Tw_FloatTensor>:$sinks,
    F64Attr:$scale, DefaultValuedAttr<Tw_CausalKind, "\"none\"">:$causal, OptionalAttr<Tw_I64Attr>:$window, OptionalAttr<F64Attr>:$softcap);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = [{ `query` `(` $query `:` type($query) `)` (`key` `(` $key^ `:` type($key) `)`)? (`value` `(` $value^ `:` type($value) `)`)?
    (`state` `(` $state^ `:` type($state) `)`)? (`row_start` `(` $row_start^ `:` type($row_start) `)`)? (`kv_len` `(` $kv_len^ `:` type($kv_len) `)`)?
    (`positions` `(` $positions^ `:` type($positions) `)`)? (`mask` `(` $mask^ `:` type($mask) `)`)? (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`sinks` `(` $sinks^ `:` type($sinks) `)`)? attr-dict `->` type($result) }];
  let hasVerifier = 1;
}

#endif
