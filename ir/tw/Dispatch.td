// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_IR_TW_DISPATCH
#define TILEWRIGHT_IR_TW_DISPATCH

include "ir/tw/TwBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/SymbolInterfaces.td"

def Tw_DispatchOp : Tw_Op<"dispatch", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a kernel on chunks of work";
  let description = [{
    A program after the `tile` stage is functions of dispatches and calls. The kernel is a `func.func` of this module in
    kernel form; each of its arguments says by `tw.source` where it comes from:
    - `["operand", i]`, `["result", i]`: a tensor operand or result of the dispatch;
    - `["state", i, b]`: buffer b of the state that is operand i;
    - `["table", "tiles" | "pages" | "row_slots"]`, or `source_` before these for the sequences' sources: a table of the
      step (runtime/api/abi.h);
    index arguments carry `tw.symbol`, one of "N" (padded rows), "rows", "T" (attention tiles), "R" (padded logit rows),
    "P" (page table entries), "SP" (those of the sources), "POOL" (pages of a pool); the last two arguments are the range of chunks. A dynamic dimension
    of an argument is named by `tw.dims`.

    `chunks` maps the step's counts (padded rows, rows, attention tiles, padded logit rows) to the number of chunks.

    Example:
    ```mlir
    %y = tw.dispatch @linear_3(%x, %w) chunks affine_map<()[n, r, t, l] -> (n floordiv 16 * 3)>
       : (tensor<?x576xf32>, tensor<36x18x320xi8>) -> tensor<?x576xf32>
    ```
    Constraints:
    - (C1) the kernel exists and its arguments' sources name operands, results and states of this op.
    - (C2) chunks has no dimensions, four symbols and one result.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyType>:$inputs, AffineMapAttr:$chunks);
  let results = (outs Variadic<AnyType>:$outputs);
  let assemblyFormat = "$kernel `(` $inputs `)` `chunks` $chunks attr-dict `:` functional-type($inputs, $outputs)";
  let hasVerifier = 1;
}

#endif
