// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Choosing among a few, sorting rows by what was chosen, and linear maps whose weight depends on the row.
#ifndef TILEWRIGHT_IR_TW_GROUPED
#define TILEWRIGHT_IR_TW_GROUPED

include "ir/tw/Elementwise.td"

def Tw_TopkOp : Tw_TiledOp<"topk", [InferTypeOpAdaptor, DeclareOpInterfaceMethods<Gradient>]> {
  let summary = "The k largest of the last dimension";
  let description = [{
    `indices[..., r]` is the place of the r-th largest key, `values[..., r]` that key, or the element of `take` at its
    place. Equal keys (+0 and -0 are equal) are in order of their place, lower first; a NaN comes behind everything else.
    `k` is cut to the dimension's size. Meant for some hundreds of keys: each is compared with each.

    Example:
    ```mlir
    %w, %i = tw.topk %p k 2 : tensor<?x8xf32> -> tensor<?x2xf32>, tensor<?x2xi32>
    %v, %j = tw.topk %biased take %p k 2 : tensor<?x8xf32> -> tensor<?x2xf32>, tensor<?x2xi32>
    ```
    Constraints:
    - (C1) rank at least 1; the last dimension is static and at least 1. (C2) k >= 1. (C3) `take` has the keys' type.
    - (C4) the results have the keys' shape with the last dimension min(k, n).
  }];
  let arguments = (ins Tw_FloatTensor:$keys, Optional<Tw_FloatTensor>:$take, Tw_I64Attr:$k);
  let results = (outs Tw_FloatTensor:$values, Tw_I32Tensor:$indices);
  let assemblyFormat = [{ $keys (`take` $take^)? `k` $k attr-dict `:` type($keys) (`,` type($take)^)? `->` type($values) `,` type($indices) }];
  let hasVerifier = 1;
}

def Tw_GroupRowsOp : Tw_Op<"group_rows", [Pure, InferTypeOpAdaptor, DeclareOpInterfaceMethods<WholeKernel>]> {
  let summary = "Sorts rows by the group that each belongs to";
  let description = [{
    Counting sort of M rows by `ids`, a group each; rows of one group keep their order. With `s(m)` the place of row m:
    `rows[s(m)] = m / per_row`, `places[m] = s(m)`, and group g has the places `offsets[g] <= s < offsets[g + 1]`. With
    `per_row` ids for each row of another tensor (experts of a token, say), `tw.gather %x, %rows` sorts that tensor and
    `tw.gather %y, %places` brings results back. Rows that only pad a step belong to no group: they stay where they are.
    An id outside of the groups is an error in the interpreter; a kernel takes the nearest group.

    Example:
    ```mlir
    %rows, %places, %offsets = tw.group_rows %ids groups 8 per_row 2 : tensor<?xi32> -> tensor<?xi32>, tensor<?xi32>, tensor<9xi32>
    ```
    Constraints:
    - (C1) ids have rank 1. (C2) groups >= 1 and per_row >= 1, which divides a static number of ids.
    - (C3) rows and places have the ids' type, offsets shape [groups + 1].
  }];
  let arguments = (ins Tw_I32Tensor:$ids, Tw_I64Attr:$groups, Tw_I64Attr:$per_row);
  let results = (outs Tw_I32Tensor:$rows, Tw_I32Tensor:$places, Tw_I32Tensor:$offsets);
  let assemblyFormat = [{ $ids `groups` $groups `per_row` $per_row attr-dict `:` type($ids) `->` type($rows) `,` type($places) `,` type($offsets) }];
  let hasVerifier = 1;
}

def Tw_GroupedLinearOp : Tw_Op<"grouped_linear", [Pure, InferTypeOpAdaptor, DeclareOpInterfaceMethods<WholeKernel>]> {
  let summary = "Linear maps by one weight matrix for each group of rows";
  let description = [{
    `y[m, f] = sum_e x[m, e] * w[g, f, e] + b[g, f]`, or `w[g, e, f]` with `in_out`, for the rows `offsets[g] <= m < offsets[g + 1]` of group g; rows from
    the last offset on are 0. Work is proportional to the rows of groups, and the weight of a group without rows is not
    read. Otherwise this is `tw.linear`: the weight may have a storage type, products accumulate in f32.

    `offsets` begin with 0, do not decrease and end at the number of rows at most; others are an error in the interpreter,
    and cut to the rows that exist by a kernel.

    Example:
    ```mlir
    %y = tw.grouped_linear %x, %w offsets %o : tensor<?x64xf32>, tensor<8x96x64x!quantization.q4_1>, tensor<9xi32> -> tensor<?x96xf32>
    %z = tw.grouped_linear %x, %w offsets %o bias %b : tensor<?x64xf32>, tensor<8x96x64xf32>, tensor<9xi32>, tensor<8x96xf32> -> tensor<?x96xf32>
    ```
    Constraints:
    - (C1) the input has rank 2, the weight [groups, out, in] ([groups, in, out] with `in_out`) a static shape whose `in`
      equals the input's last dimension.
    - (C2) the weight's element type is a float or, without `in_out`, a storage type whose block divides `in`.
    - (C3) offsets have shape [groups + 1]. (C4) the bias, if any, has shape [groups, out].
    - (C5) the result has shape [rows, out] and the input's element type.
  }];
  let arguments = (ins Tw_FloatTensor:$input, Tw_AnyTensor:$weight, Tw_I32Tensor:$offsets, Optional<Tw_FloatTensor>:$bias,
                       DefaultValuedAttr<BoolAttr, "false">:$in_out);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = [{ $input `,` $weight `offsets` $offsets (`bias` $bias^)? attr-dict `:` type($input) `,` type($weight)
    `,` type($offsets) (`,` type($bias)^)? `->` type($result) }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getGroups() { return getWeight().getType().getDimSize(0); }
    int64_t getOut() { return getWeight().getType().getDimSize(getInOut() ? 2 : 1); }
    int64_t getIn() { return getWeight().getType().getDimSize(getInOut() ? 1 : 2); }
  }];
}

def Tw_PackedGroupedLinearOp : Tw_Op<"packed_grouped_linear", [Pure, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<WholeKernel>]> {
  let summary = "Linear maps of groups of rows by packed weights";
  let description = [{
    `tw.grouped_linear` after the weights took their canonical packed layout, one matrix behind the other:
    `[groups * out / 16, blocks, bytes]` of i8. Operands are those of `tw.packed_linear`. Made at the start of the `tile` stage.

    Example:
    ```mlir
    %y = tw.packed_grouped_linear %x weight(%w : tensor<48x2x320xi8>) offsets(%o : tensor<9xi32>)
           {element = !quantization.q4_1} : tensor<?x64xf32> -> tensor<?x96xf32>
    ```
    Constraints:
    - (C1) offsets have rank 1 and name at least one group; the result's last dimension is a multiple of 16.
    - (C2) the weight holds that many rows for each group. (C3) the bias, if any, has shape [groups, out].
    - (C4) input, scales, sums, and blocks and bytes of the weight are those of a `tw.packed_linear`.
  }];
  let arguments = (ins RankedTensorOf<[AnyFloat, I8]>:$input, Optional<Tw_FloatTensor>:$scales, Optional<Tw_FloatTensor>:$sums,
                       RankedTensorOf<[I8]>:$weight, Tw_I32Tensor:$offsets, Optional<Tw_FloatTensor>:$bias, TypeAttr:$element);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = [{ $input (`scales` `(` $scales^ `:` type($scales) `)`)? (`sums` `(` $sums^ `:` type($sums) `)`)?
    `weight` `(` $weight `:` type($weight) `)` `offsets` `(` $offsets `:` type($offsets) `)`
    (`bias` `(` $bias^ `:` type($bias) `)`)? attr-dict `:` type($input) `->` type($result) }];
  let hasVerifier = 1;
}

#endif
