// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_PLUGINS_SWIGLU
#define TILEWRIGHT_PLUGINS_SWIGLU

include "ir/interfaces/Tiling.td"
include "ir/tw/TwBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Swiglu_Dialect : Dialect {
  let name = "swiglu";
  let cppNamespace = "::tilewright::swiglu";
  let summary = "Gated linear units (Shazeer, 2020): SwiGLU, GEGLU, ReGLU, GLU.";
  let description = [{
    The elementwise middle of a gated feed-forward block: the gate's activation times the up projection. The projections
    around it are `tw.linear`.
  }];
  let dependentDialects = ["::tilewright::tw::TwDialect"];
}

def Swiglu_Activation : Tw_OneOf<["silu", "gelu", "gelu_tanh", "relu", "sigmoid"]>;

def Swiglu_GluOp : Op<Swiglu_Dialect, "glu", !listconcat([Pure, SameOperandsAndResultType,
    DeclareOpInterfaceMethods<ReferenceLowering>, DeclareOpInterfaceMethods<NumericsContract>, DeclareOpInterfaceMethods<TileLowering>,
    DeclareOpInterfaceMethods<FusionCandidate>], TiledByLoopMap.traits)> {
  let summary = "Activation of the gate times the up projection";
  let description = [{
    `y = act(g) * (u + up_offset)`, elementwise, where
    - `silu`: `act(g) = g / (1 + exp(-alpha g))`;
    - `gelu`: `g/2 (1 + erf(g / sqrt 2))`; `gelu_tanh`: `g/2 (1 + tanh(sqrt(2/pi) (g + 0.044715 g^3)))`;
    - `relu`: `max(g, 0)`; `sigmoid`: `1 / (1 + exp(-g))`.

    With `limit` the gate is cut to at most `limit`, and the up projection to `-limit .. limit`, before anything else (the
    clamped form of gpt-oss: silu, alpha 1.702, limit 7, up_offset 1). A 16-bit input is computed in f32 and rounded once.

    Example:
    ```mlir
    %y = swiglu.glu %g, %u {activation = "silu"} : tensor<?x1536xf32>
    ```
    Constraints:
    - (C1) alpha is finite and not 0, and other than 1 only with `silu`.
    - (C2) limit, if given, is finite and above 0. (C3) up_offset is finite.
  }];
  let arguments = (ins Tw_FloatTensor:$gate, Tw_FloatTensor:$up, Swiglu_Activation:$activation,
    DefaultValuedAttr<F64Attr, "1.0">:$alpha, OptionalAttr<F64Attr>:$limit, DefaultValuedAttr<F64Attr, "0.0">:$up_offset);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = "$gate `,` $up attr-dict `:` type($gate)";
  let extraClassDefinition = TiledByLoopMap.methods # [{
    ::mlir::FailureOr<::tilewright::LoopMap> $cppClass::getLoopMap() { return ::tilewright::elementwiseLoopMap(getOperation()); }
  }];
  let hasVerifier = 1;
}

#endif
