// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_IR_TW_SHAPE
#define TILEWRIGHT_IR_TW_SHAPE

include "ir/tw/Elementwise.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Tw_ConstantOp : Tw_Op<"constant", [Pure, ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "A constant tensor";
  let description = [{
    Example:
    ```mlir
    %c = tw.constant dense<1.0> : tensor<4xf32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Tw_AnyTensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def Tw_IotaOp : Tw_TiledOp<"iota"> {
  let summary = "Indices along one dimension";
  let description = [{
    `y[..., i, ...] = i`, i along `dim`; shape as `like`, element type i32.

    Example:
    ```mlir
    %i = tw.iota %x dim 1 : tensor<?x8xf32> -> tensor<?x8xi32>
    ```
    Constraints:
    - (C1) 0 <= dim < rank. (C2) the result has the shape of `like`.
  }];
  let arguments = (ins Tw_AnyTensor:$like, Tw_I64Attr:$dim);
  let results = (outs Tw_I32Tensor:$result);
  let assemblyFormat = "$like `dim` $dim attr-dict `:` type($like) `->` type($result)";
  let hasVerifier = 1;
}

def Tw_BroadcastOp : Tw_TiledOp<"broadcast", [DeclareOpInterfaceMethods<Gradient>]> {
  let summary = "Repeats a tensor along new dimensions";
  let description = [{
    `y[i_0, ..., i_r] = x[i_dims[0], ..., i_dims[k]]`; the shape comes from `like`.

    Example:
    ```mlir
    %y = tw.broadcast %g like %x dims [1] : tensor<576xf32>, tensor<?x576xf32> -> tensor<?x576xf32>
    ```
    Constraints:
    - (C1) dims are strictly increasing, one per dimension of the input, each below the result's rank.
    - (C2) the input's dimension k equals the result's dimension dims[k]. (C3) the result has the shape of `like` and the
      input's element type.
  }];
  let arguments = (ins Tw_AnyTensor:$input, Tw_AnyTensor:$like, DenseI64ArrayAttr:$dims);
  let results = (outs Tw_AnyTensor:$result);
  let assemblyFormat = "$input `like` $like `dims` $dims attr-dict `:` type($input) `,` type($like) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tw_ReduceKind : Tw_OneOf<["sum", "mean", "max", "min"]>;

def Tw_ReduceOp : Tw_TiledOp<"reduce", [DeclareOpInterfaceMethods<Gradient>]> {
  let summary = "Reduction over dimensions";
  let description = [{
    Sum, mean, maximum or minimum over `dims`, which disappear from the shape. Floats accumulate in f32 or wider. The sum
    over nothing is 0, the mean over nothing NaN; maximum and minimum over a dimension of static size 0 are refused, over a
    dynamic one give -inf and +inf.

    Example:
    ```mlir
    %s = tw.reduce "sum" %x dims [1] : tensor<?x576xf32> -> tensor<?xf32>
    ```
    Constraints:
    - (C1) dims are strictly increasing and below the rank. (C2) the result's shape is the input's without dims.
    - (C3) `max` and `min` do not reduce a dimension of static size 0.
  }];
  let arguments = (ins Tw_ReduceKind:$kind, Tw_FloatTensor:$input, DenseI64ArrayAttr:$dims);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = "$kind $input `dims` $dims attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Tw_ReshapeOp : Tw_TiledOp<"reshape", [DeclareOpInterfaceMethods<Gradient>]> {
  let summary = "The same elements in row-major order under another shape";
  let description = [{
    At most one dimension of the result is dynamic; it is computed from the number of elements.

    Example:
    ```mlir
    %q = tw.reshape %x : tensor<?x576xf32> -> tensor<?x9x64xf32>
    ```
    Constraints:
    - (C1) element types agree. (C2) at most one result dimension is dynamic. (C3) static element counts agree, or, with one
      dynamic dimension on each side, the products of the static ones divide evenly.
  }];
  let arguments = (ins Tw_AnyTensor:$input);
  let results = (outs Tw_AnyTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tw_TransposeOp : Tw_TiledOp<"transpose", [DeclareOpInterfaceMethods<Gradient>]> {
  let summary = "Permutes dimensions";
  let description = [{
    Dimension i of the result is dimension `perm[i]` of the input.

    Example:
    ```mlir
    %y = tw.transpose %x perm [1, 0, 2] : tensor<?x9x64xf32> -> tensor<9x?x64xf32>
    ```
    Constraints:
    - (C1) perm is a permutation of the dimensions. (C2) the result's shape is the permuted one.
  }];
  let arguments = (ins Tw_AnyTensor:$input, DenseI64ArrayAttr:$perm);
  let results = (outs Tw_AnyTensor:$result);
  let assemblyFormat = "$input `perm` $perm attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tw_SliceOp : Tw_TiledOp<"slice", [DeclareOpInterfaceMethods<Gradient>]> {
  let summary = "A range of one dimension";
  let description = [{
    Elements `start <= i < start + size` of dimension `dim`; size -1 means up to the end.

    Example:
    ```mlir
    %y = tw.slice %x dim 2 start 0 size 32 : tensor<?x9x64xf32> -> tensor<?x9x32xf32>
    ```
    Constraints:
    - (C1) 0 <= dim < rank. (C2) 0 <= start, -1 <= size, and start + size within a static dimension.
    - (C3) the result's shape follows.
  }];
  let arguments = (ins Tw_AnyTensor:$input, Tw_I64Attr:$dim, Tw_I64Attr:$start, Tw_I64Attr:$size);
  let results = (outs Tw_AnyTensor:$result);
  let assemblyFormat = "$input `dim` $dim `start` $start `size` $size attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tw_ConcatOp : Tw_TiledOp<"concat", [DeclareOpInterfaceMethods<Gradient>]> {
  let summary = "Joins tensors along a dimension";
  let description = [{
    Example:
    ```mlir
    %y = tw.concat dim 2 %a, %b : tensor<?x9x32xf32>, tensor<?x9x32xf32> -> tensor<?x9x64xf32>
    ```
    Constraints:
    - (C1) at least one operand; 0 <= dim < rank. (C2) operands agree in element type and in all other dimensions.
    - (C3) the result's dimension is the sum.
  }];
  let arguments = (ins Tw_I64Attr:$dim, Variadic<Tw_AnyTensor>:$inputs);
  let results = (outs Tw_AnyTensor:$result);
  let assemblyFormat = "`dim` $dim $inputs attr-dict `:` type($inputs) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tw_GatherOp : Tw_Op<"gather", [Pure, DeclareOpInterfaceMethods<WholeKernel>]> {
  let summary = "Rows of a table by index";
  let description = [{
    `y[b..., n..., ...] = table[b..., ids[b..., n...], ...]`, b the first `batch_dims` dimensions of table and ids: with 0 of
    them one table serves all ids, else each place has rows of its own. The table may be quantised (batch_dims 0); the result
    is then its decoded f32 rows. An id outside the table is an error: of inputs at run time, found before any kernel
    runs; of constants when the model is compiled. A kernel that computes one reads the nearest row.

    Example:
    ```mlir
    %x = tw.gather %table, %ids : tensor<49152x576x!quantization.q8_0>, tensor<?xi32> -> tensor<?x576xf32>
    %s = tw.gather %scores, %ids {batch_dims = 2 : i64} : tensor<?x?x9x12xf32>, tensor<?x?x?xi32> -> tensor<?x?x?x12xf32>
    ```
    Constraints:
    - (C1) ids have type i32 and rank at least 1; batch_dims is at least 0 and at most the ids' rank, and less than the table's;
      the batch dimensions agree.
    - (C2) the result has the ids' shape, then the table's behind its dimension of rows.
    - (C3) the result's element type is f32, or a float table's own; a table of a storage type has batch_dims 0.
  }];
  let arguments = (ins Tw_AnyTensor:$table, Tw_I32Tensor:$ids, DefaultValuedAttr<Tw_I64Attr, "0">:$batch_dims);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = "$table `,` $ids attr-dict `:` type($table) `,` type($ids) `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = "/// (C2).\n::llvm::SmallVector<int64_t> getGatheredShape();";
}

def Tw_YieldOp : Tw_Op<"yield", [Pure, ReturnLike, Terminator]> {
  let summary = "Ends a region with its values";
  let description = [{
    What a region of a graph file yields; the op that has the region says what the values mean.

    Example:
    ```mlir
    tw.yield %a, %b : tensor<f32>, tensor<f32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif
