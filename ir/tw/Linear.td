// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_IR_TW_LINEAR
#define TILEWRIGHT_IR_TW_LINEAR

include "ir/tw/Elementwise.td"

def Tw_LinearOp : Tw_TiledOp<"linear", [InferTypeOpAdaptor, DeclareOpInterfaceMethods<Gradient>]> {
  let summary = "Linear map by a weight matrix [out, in]";
  let description = [{
    `y[..., o] = sum_i x[..., i] * w[o, i] + b[o]`. The weight may have a storage type (quantised); products accumulate in
    f32. This op is an anchor: elementwise ops and norms around it are fused into it.

    Example:
    ```mlir
    %y = tw.linear %x, %w : tensor<?x576xf32>, tensor<1536x576x!quantization.q4_1> -> tensor<?x1536xf32>
    %z = tw.linear %x, %w bias %b : tensor<?x576xf32>, tensor<1536x576xf32>, tensor<1536xf32> -> tensor<?x1536xf32>
    ```
    Constraints:
    - (C1) the weight has rank 2 and its second dimension equals the input's last one.
    - (C2) the weight's element type is a float or a storage type whose block divides the second dimension.
    - (C3) the bias, if any, has shape [out]. (C4) the result's shape is the input's with the last dimension `out`.
  }];
  let arguments = (ins Tw_FloatTensor:$input, Tw_AnyTensor:$weight, Optional<Tw_FloatTensor>:$bias);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = "$input `,` $weight (`bias` $bias^)? attr-dict `:` type($input) `,` type($weight) (`,` type($bias)^)? `->` type($result)";
  let hasVerifier = 1;
}

def Tw_QuantizeRowsOp : Tw_TiledOp<"quantize_rows", [InferTypeOpAdaptor]> {
  let summary = "Activations to int8 by blocks of a row";
  let description = [{
    For each block of `block` neighbouring elements: `scale = max|x| / 127`, `q = round_half_even(x / scale)` (0 where the
    block is all zero), `sum = scale * sum(q)`. NaN in a block gives a NaN scale. Made by the `fuse` stage under
    `--numerics fast`; the error of the product it feeds is bounded by `max|x| / 254` per element.

    Example:
    ```mlir
    %q, %s, %z = tw.quantize_rows %x block 32 : tensor<?x576xf32> -> tensor<?x576xi8>, tensor<?x18xf32>, tensor<?x18xf32>
    ```
    Constraints:
    - (C1) rank 2; block >= 1 divides the static second dimension. (C2) result shapes follow.
  }];
  let arguments = (ins Tw_FloatTensor:$input, Tw_I64Attr:$block);
  let results = (outs RankedTensorOf<[I8]>:$quants, Tw_FloatTensor:$scales, Tw_FloatTensor:$sums);
  let assemblyFormat = "$input `block` $block attr-dict `:` type($input) `->` type($quants) `,` type($scales) `,` type($sums)";
  let hasVerifier = 1;
}

def Tw_PackedLinearOp : Tw_TiledOp<"packed_linear", [AttrSizedOperandSegments]> {
  let summary = "Linear map by a packed weight";
  let description = [{
    `tw.linear` after the weight took its canonical packed layout `[groups, blocks, bytes]` of i8, described by the storage
    type `element`. With `scales` and `sums` the input is the int8 result of `tw.quantize_rows` (its block is the
    storage type's or a piece of it) and products are integer; without them the input is float. Made at the start of the `tile` stage.

    Example:
    ```mlir
    %y = tw.packed_linear %q scales(%s : tensor<?x18xf32>) sums(%z : tensor<?x18xf32>) weight(%w : tensor<96x18x320xi8>)
           {element = !quantization.q4_1} : tensor<?x576xi8> -> tensor<?x1536xf32>
    ```
    Constraints:
    - (C1) the weight has rank 3 and its blocks and bytes are those of `element`'s canonical layout for the input's last dimension.
    - (C2) scales and sums come together, exactly when the input is i8, one for each block of the weight or for equal
      pieces of it of a multiple of 4 elements. (C3) groups * 16 >= the result's last dimension.
    - (C4) the bias, if any, has the result's last dimension.
  }];
  let arguments = (ins RankedTensorOf<[AnyFloat, I8]>:$input, Optional<Tw_FloatTensor>:$scales, Optional<Tw_FloatTensor>:$sums,
                       RankedTensorOf<[I8]>:$weight, Optional<Tw_FloatTensor>:$bias, TypeAttr:$element);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = [{ $input (`scales` `(` $scales^ `:` type($scales) `)`)? (`sums` `(` $sums^ `:` type($sums) `)`)?
    `weight` `(` $weight `:` type($weight) `)` (`bias` `(` $bias^ `:` type($bias) `)`)? attr-dict `:` type($input) `->` type($result) }];
  let hasVerifier = 1;
}

def Tw_PackedGatherOp : Tw_Op<"packed_gather", [Pure, DeclareOpInterfaceMethods<WholeKernel>]> {
  let summary = "Rows of a packed table by index";
  let description = [{
    `tw.gather` after the table took its canonical packed layout `[groups, blocks, bytes]` of i8, described by the storage
    type `element`. The result is f32. Made at the start of the `tile` stage.

    Example:
    ```mlir
    %x = tw.packed_gather %table, %ids {element = !quantization.q8_0} : tensor<3072x18x576xi8>, tensor<?xi32> -> tensor<?x576xf32>
    ```
    Constraints:
    - (C1) the table has rank 3 and its blocks and bytes are those of `element`'s canonical layout for the result's last dimension.
    - (C2) the result has rank 2, element type f32 and the ids' length.
  }];
  let arguments = (ins RankedTensorOf<[I8]>:$table, Tw_I32Tensor:$ids, TypeAttr:$element);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = "$table `,` $ids attr-dict `:` type($table) `,` type($ids) `->` type($result)";
  let hasVerifier = 1;
}

#endif
