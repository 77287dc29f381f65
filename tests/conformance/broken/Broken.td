// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_TESTS_CONFORMANCE_BROKEN
#define TILEWRIGHT_TESTS_CONFORMANCE_BROKEN

include "ir/interfaces/Tiling.td"
include "ir/tw/TwBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Broken_Dialect : Dialect {
  let name = "broken";
  let cppNamespace = "::tilewright::broken";
  let summary = "A plugin that is right in everything but one fault (Fault.h).";
  let dependentDialects = ["::tilewright::tw::TwDialect"];
}

def Broken_ScaleOp : Op<Broken_Dialect, "scale", !listconcat([Pure, InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<ReferenceLowering>, DeclareOpInterfaceMethods<Gradient>,
    DeclareOpInterfaceMethods<NumericsContract>, DeclareOpInterfaceMethods<TileLowering>], TiledByLoopMap.traits)> {
  let summary = "Scales what a mask shows";
  let description = [{
    `y = mask ? factor * x : 0`, elementwise.

    Example:
    ```mlir
    %y = broken.scale %x, %m {factor = 2.0 : f64} : tensor<?x8xf32>, tensor<?x8xi1>
    ```
    Constraints:
    - (C1) the mask has the input's shape. (C2) factor is finite.
  }];
  let arguments = (ins Tw_FloatTensor:$input, Tw_BoolTensor:$mask, F64Attr:$factor);
  let results = (outs Tw_FloatTensor:$result);
  let hasCustomAssemblyFormat = 1;
  let extraClassDefinition = TiledByLoopMap.methods;
  let hasVerifier = 1;
}

// Registered by the fault `missing_reference` alone.
def Broken_NoReferenceOp : Op<Broken_Dialect, "no_reference", [Pure, SameOperandsAndResultType]> {
  let summary = "Means nothing";
  let description = [{
    Has no reference lowering.

    Example:
    ```mlir
    %y = broken.no_reference %x : tensor<4xf32>
    ```
    Constraints: none.
  }];
  let arguments = (ins Tw_FloatTensor:$input);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

// Registered by the faults `kernel_ignores_length` and `state_without_offsets` alone.
def Broken_AttendOp : Op<Broken_Dialect, "attend", [Pure, DeclareOpInterfaceMethods<ReferenceLowering>,
    DeclareOpInterfaceMethods<NumericsContract>, DeclareOpInterfaceMethods<WholeKernel>]> {
  let summary = "Attention over every key of a state";
  let description = [{
    `tw.attention` of the ragged form with scale 1, neither causal nor with a window.

    Example:
    ```mlir
    %y = "broken.attend"(%q, %s, %r, %l, %p) : (tensor<?x4x8xf32>, !tw.state<tensor<?x2x8xf32>, tensor<?x2x8xf32>>,
      tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) -> tensor<?x4x8xf32>
    ```
    Constraints: none.
  }];
  let arguments = (ins Tw_FloatTensor:$query, Tw_StateType:$state, Tw_I32Tensor:$row_start, Tw_I32Tensor:$kv_len,
    Tw_I32Tensor:$positions);
  let results = (outs Tw_FloatTensor:$result);
}

// Registered by the fault `undocumented` alone.
def Broken_UndocumentedOp : Op<Broken_Dialect, "undocumented",
    [Pure, SameOperandsAndResultType, DeclareOpInterfaceMethods<ReferenceLowering>]> {
  let arguments = (ins Tw_FloatTensor:$input);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

#endif
