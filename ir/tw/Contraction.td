// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_IR_TW_CONTRACTION
#define TILEWRIGHT_IR_TW_CONTRACTION

include "ir/tw/Elementwise.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tw_BatchMatmulOp : Tw_TiledOp<"batch_matmul", [DeclareOpInterfaceMethods<Gradient>]> {
  let summary = "Matrix products of the last two dimensions";
  let description = [{
    `y[..., m, n] = sum_k a[..., m, k] * b[..., k, n]`, or `b[..., n, k]` with `transpose_b`. Leading dimensions are equal
    (size 1 never means broadcast). Products accumulate in f32 or wider.

    Example:
    ```mlir
    %s = tw.batch_matmul %q, %k {transpose_b = true} : tensor<2x9x?x64xf32>, tensor<2x9x?x64xf32> -> tensor<2x9x?x?xf32>
    ```
    Constraints:
    - (C1) both operands have one rank, at least 2, one element type, and equal leading dimensions.
    - (C2) the contracted dimensions are equal. (C3) the result has shape [..., m, n] and the operands' element type.
  }];
  let arguments = (ins Tw_FloatTensor:$lhs, Tw_FloatTensor:$rhs, DefaultValuedAttr<BoolAttr, "false">:$transpose_b);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
  let hasVerifier = 1;
}

def Tw_SoftmaxOp : Tw_Op<"softmax", [Pure, AllTypesMatch<["input", "result"]>, DeclareOpInterfaceMethods<ReferenceLowering>]> {
  let summary = "Softmax over one dimension";
  let description = [{
    `y_i = exp(x_i - m) / sum_j exp(x_j - m)`, m the maximum over `dim`; in f32 or wider, rounded once. A row of -inf alone
    gives NaN (attention's rule for rows without keys is `tw.attention`'s own).

    Example:
    ```mlir
    %p = tw.softmax %s dim 3 : tensor<2x9x?x?xf32>
    ```
    Constraints:
    - (C1) 0 <= dim < rank, and the dimension is not of static size 0.
  }];
  let arguments = (ins Tw_FloatTensor:$input, I64Attr:$dim);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = "$input `dim` $dim attr-dict `:` type($input)";
  let hasVerifier = 1;
}

#endif
