// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_PLUGINS_MY_TECHNIQUE
#define TILEWRIGHT_PLUGINS_MY_TECHNIQUE

include "ir/interfaces/Interfaces.td"
include "ir/tw/TwBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def MyTechnique_Dialect : Dialect {
  let name = "my_technique";
  let cppNamespace = "::tilewright::my_technique";
  let summary = "Maxout units (Goodfellow et al., 2013).";
  let description = [{
    Stands for your technique: one op with its verifier, shape rule and reference, and a pass that finds it in a model.
  }];
  let dependentDialects = ["::tilewright::tw::TwDialect"];
}

def MyTechnique_MaxoutOp : Op<MyTechnique_Dialect, "maxout", [Pure, InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<ReferenceLowering>, DeclareOpInterfaceMethods<NumericsContract>]> {
  let summary = "Largest of equal pieces of the last dimension";
  let description = [{
    `y[..., e] = max over p of x[..., p * E + e]`, where the last dimension of x is `pieces * E`. NaN if any of them is.

    Example:
    ```mlir
    %y = my_technique.maxout %x {pieces = 2 : i64} : tensor<?x64xf32> -> tensor<?x32xf32>
    ```
    Constraints:
    - (C1) pieces is at least 2.
    - (C2) the input has rank 1 or more, and its last dimension is static and a multiple of pieces.
  }];
  let arguments = (ins Tw_FloatTensor:$input, Tw_I64Attr:$pieces);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

#endif
