// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_PLUGINS_RMS_NORM
#define TILEWRIGHT_PLUGINS_RMS_NORM

include "ir/interfaces/Tiling.td"
include "ir/tw/TwBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def RmsNorm_Dialect : Dialect {
  let name = "rms_norm";
  let cppNamespace = "::tilewright::rms_norm";
  let summary = "Root-mean-square normalisation (Zhang and Sennrich, 2019) and layer normalisation (Ba et al., 2016).";
  let description = [{
    Normalises each row by its root mean square: of its elements (`norm`), or of their distances from their mean
    (`layer_norm`). `norm` covers the forms of released models: with or without weight, weight stored as an offset from one,
    epsilon inside or outside the root, with bias.
  }];
  let dependentDialects = ["::tilewright::tw::TwDialect"];
}

def RmsNorm_NormOp : Op<RmsNorm_Dialect, "norm", !listconcat([Pure, AttrSizedOperandSegments,
    AllTypesMatch<["input", "result"]>, DeclareOpInterfaceMethods<ReferenceLowering>,
    DeclareOpInterfaceMethods<NumericsContract>, DeclareOpInterfaceMethods<Gradient>, DeclareOpInterfaceMethods<TileLowering>,
    DeclareOpInterfaceMethods<FusionCandidate>], TiledByLoopMap.traits)> {
  let summary = "Root-mean-square normalisation over the last dimension";
  let description = [{
    `y = x / sqrt(mean(x^2) + epsilon) * g + b`, the mean over the last dimension. With `unit_offset` the weight is stored as
    an offset from one: `* (1 + g)`. With `epsilon_outside` the divisor is `sqrt(mean(x^2)) + epsilon`.

    The inner arithmetic is in f32 or wider. A 16-bit input is rounded to its own type before the weight is applied; with
    `unit_offset` the weight is applied in f32 and the product is rounded once. The bias is added last, in the input's type.

    Example:
    ```mlir
    %y = rms_norm.norm %x weight(%g : tensor<576xf32>) {epsilon = 1.0e-05 : f64} : tensor<?x576xf32>
    ```
    Constraints:
    - (C1) the input has rank 1 or more and its last dimension is static and at least 1.
    - (C2) weight and bias, if given, have shape [last dimension].
    - (C3) epsilon is finite and not negative.
    - (C4) `unit_offset` needs a weight.
  }];
  let arguments = (ins Tw_FloatTensor:$input, Optional<Tw_FloatTensor>:$weight, Optional<Tw_FloatTensor>:$bias,
    F64Attr:$epsilon, DefaultValuedAttr<BoolAttr, "false">:$unit_offset,
    DefaultValuedAttr<BoolAttr, "false">:$epsilon_outside);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = [{ $input (`weight` `(` $weight^ `:` type($weight) `)`)? (`bias` `(` $bias^ `:` type($bias) `)`)?
    attr-dict `:` type($input) }];
  let extraClassDefinition = TiledByLoopMap.methods;
  let hasVerifier = 1;
}

def RmsNorm_LayerNormOp : Op<RmsNorm_Dialect, "layer_norm", !listconcat([Pure, AttrSizedOperandSegments,
    AllTypesMatch<["input", "result"]>, DeclareOpInterfaceMethods<ReferenceLowering>,
    DeclareOpInterfaceMethods<NumericsContract>, DeclareOpInterfaceMethods<Gradient>, DeclareOpInterfaceMethods<TileLowering>,
    DeclareOpInterfaceMethods<FusionCandidate>], TiledByLoopMap.traits)> {
  let summary = "Layer normalisation over the last dimension";
  let description = [{
    `y = (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon) * g + b`, the means over the last dimension. All of it is in f32
    or wider and rounded once. The kernel form subtracts the mean before it squares, and once more what the rounding of the
    mean has left, so that a row far from 0 loses nothing but the digits that it is stored without.

    Example:
    ```mlir
    %y = rms_norm.layer_norm %x weight(%g : tensor<768xf32>) bias(%b : tensor<768xf32>) {epsilon = 1.0e-05 : f64} : tensor<?x768xf32>
    ```
    Constraints:
    - (C1) the input has rank 1 or more and its last dimension is static and at least 1.
    - (C2) weight and bias, if given, have shape [last dimension].
    - (C3) epsilon is finite and not negative.
  }];
  let arguments = (ins Tw_FloatTensor:$input, Optional<Tw_FloatTensor>:$weight, Optional<Tw_FloatTensor>:$bias,
    F64Attr:$epsilon);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = [{ $input (`weight` `(` $weight^ `:` type($weight) `)`)? (`bias` `(` $bias^ `:` type($bias) `)`)?
    attr-dict `:` type($input) }];
  let extraClassDefinition = TiledByLoopMap.methods;
  let hasVerifier = 1;
}

#endif
