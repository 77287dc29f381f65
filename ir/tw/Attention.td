// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_IR_TW_ATTENTION
#define TILEWRIGHT_IR_TW_ATTENTION

include "ir/tw/AttentionForm.td"
include "ir/tw/Elementwise.td"
include "mlir/IR/SymbolInterfaces.td"

def Tw_AppendOp : Tw_Op<"append", [AllTypesMatch<["state", "result"]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>, DeclareOpInterfaceMethods<WholeKernel>]> {
  let summary = "Appends rows to a growable state";
  let description = [{
    Adds the rows `row_start[b] <= n < row_start[b+1]` of each value to sequence b's buffers and returns the new state; of a
    state `in transient` these rows take the place of what was there. The old state may not be used afterwards.

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

def Tw_AttentionOp : Tw_Op<"attention", [Pure, AttrSizedOperandSegments, IsolatedFromAbove,
    DeclareOpInterfaceMethods<WholeKernel>, DeclareOpInterfaceMethods<FusionCandidate>]> {
  let summary = "Scaled dot-product attention";
  let description = [{
    `softmax(score(softcap(scale * Q K^T)) + bias, masked) V`. Query head h uses key/value head `h / (H / Hkv)`. A row whose
    keys are all masked gives 0. Softmax accumulates in f32.

    Three forms:
    - *dense*: `query [B,H,T,D]`, `key [B,Hkv,S,D]`, `value [B,Hkv,S,Dv]` -> `[B,H,T,Dv]`. `layout = "bthd"`: all of them, and
      the result, have heads behind rows (`[B,T,H,D]`). `layout = "bt3hd"`: `query [B,T,3,H,D]` alone holds queries, keys and
      values; the result is `[B,T,H,D]`;
    - *packed*: dense of batch 1 whose rows and keys belong to n segments one after another: segment s has the rows
      `cu_seqlens_q[s] <= t < cu_seqlens_q[s+1]` and the keys `cu_seqlens_kv[s] <= j < cu_seqlens_kv[s+1]`. A row sees keys
      of its own segment; rows and keys count from its beginning, and T and S below are its lengths;
    - *ragged, over a state*: `query [N,H,D]` holds the rows of all sequences, `state` the keys `[tokens,Hkv,D]` and values
      `[tokens,Hkv,Dv]`, or one buffer of keys whose first Dv columns are the values; `row_start [B+1]` each sequence's rows,
      `kv_len [B]` its number of keys, `positions [N]` each row's
      position -> `[N,H,Dv]`.

    The position p of row t: dense `t + S - T` with `causal = end`, otherwise `t + offset` (0 by default); ragged: given. Key
    j is visible to the row when it passes all of:
    - `causal = end` or `start`: `j <= p`; `window = w`: `p - w < j`, with `causal` the w last keys up to the own one;
      `radius = r`: `|p - j| <= r`; `chunk = c`: `floor(j / c) = floor(p / c)`; or, whatever these say,
      `j < prefix_len[b]` (packed: of the segment);
    - `kv_start[b] <= j < kv_end[b]`, where given (padding at the left and right); ragged: `j < kv_len[b]`;
    - `mask`, of signless integers or floats of any width, is not 0 there. Its shape is `[T,S]`, `[B,T,S]` or `[B,H,T,S]`,
      where each dimension but the last may be 1: for all. (Packed: T and S are all rows and keys.)

    `softcap = c` is `c * tanh(x / c)`. The region `score(s: f32, b: i32, h: i32, p: i32, j: i32)` gives what stands for the
    score s of batch b, query head h, row position p and key j, as an f32 by `tw.yield`; -inf hides the key. `bias` is added
    to that; its shapes are the mask's; ragged: `bias [H, 2R+1]` holds a number for each distance `j - p` from -R to R, and
    those at its ends are for all that are further away. `sinks [H]` join the denominator only.

    Further results, in this order, of the dense and packed forms: `lse [B,H,T]`, the logarithm of the sum of exponentials of
    the row's scores (without the sink; -inf where no key is visible), and `weights [B,H,T,S]`, what the values are multiplied
    with. Asking for the weights gives up every fused form.

    Example:
    ```mlir
    %o, %lse = tw.attention query(%q : tensor<2x9x?x64xf32>) key(%k : tensor<2x3x?x64xf32>) value(%v : tensor<2x3x?x64xf32>)
           kv_end(%l : tensor<2xi32>) {scale = 0.125 : f64, causal = "end"} -> tensor<2x9x?x64xf32>, tensor<2x9x?xf32>
    %r = tw.attention query(%x : tensor<?x9x64xf32>) state(%s : !tw.state<tensor<?x3x64xf32>, tensor<?x3x64xf32>>)
           row_start(%n : tensor<?xi32>) kv_len(%m : tensor<?xi32>) positions(%p : tensor<?xi32>)
           {scale = 0.125 : f64, causal = "end"} -> tensor<?x9x64xf32>
    ```
    Constraints:
    - (C1) dense: key and value (`bt3hd`: neither), no state, row_start, kv_len or positions; ragged: state, row_start,
      kv_len and positions, no key or value, and the layout `bhtd`.
    - (C2) shapes as above, H a multiple of Hkv >= 1. (C3) scale is finite; softcap, if given, finite and > 0 (0 means none).
    - (C4) window >= 1 if given. (C5) `start` is not for the ragged form.
    - (C6) mask and bias: shapes as above; a mask in the dense and packed forms only. (C7) sinks have shape [H].
    - (C8) the ragged state has two buffers of one key/value head count, or one buffer of at least Dv columns.
    - (C9) radius >= 0 if given, and only with `causal = none`. (C10) chunk >= 1 if given. (C11) offset not with `end`, in 32 bits.
    - (C12) offset, kv_start, kv_end, prefix_len (one number for each of B, or each segment) and the further
      results are not for the ragged form.
    - (C13) cu_seqlens_q and cu_seqlens_kv together, of one length n + 1 >= 1, with batch 1, without kv_start and kv_end.
    - (C14) further results: lse, f32 or f64, and weights, of the shapes above. (C15) the region, at most one, has the
      arguments above and gives an f32; it holds ops of this list: constants, arith addf subf mulf divf negf maximumf minimumf
      maxnumf minnumf cmpf select addi subi muli divsi remsi (by constants other than 0 and -1) maxsi minsi cmpi andi ori
      xori sitofp extui, math absf exp exp2 log tanh sin cos sqrt erf floor.
  }];
  let arguments = Tw_Attention.operands;
  let results = Tw_Attention.outputs;
  let regions = Tw_Attention.scoreRegion;
  let assemblyFormat = Tw_Attention.syntax;
  // The dense form; what else there is, is set afterwards.
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$query, "::mlir::Value":$key, "::mlir::Value":$value, "double":$scale)>];
  let extraClassDeclaration = Tw_Attention.declarations # [{
    /// Extents; dynamic where they are not known. Of the ragged form queries are the rows of all sequences.
    struct Sizes {
      int64_t batch, heads, kvHeads, queries, keys, dim, valueDim;
    };
    Sizes getSizes();
    bool isRagged() { return static_cast<bool>(getState()); }
  }];
  let hasVerifier = 1;
}

#endif
