// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_PLUGINS_ROTARY_EMBEDDING
#define TILEWRIGHT_PLUGINS_ROTARY_EMBEDDING

include "ir/interfaces/Tiling.td"
include "ir/tw/TwBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def RotaryEmbedding_Dialect : Dialect {
  let name = "rotary_embedding";
  let cppNamespace = "::tilewright::rotary_embedding";
  let summary = "Rotary position embedding (Su et al., 2021).";
  let description = [{
    Turns pairs of a head's elements by angles that grow with the row's position, so that the product of two turned vectors
    depends on the distance of their positions only.
  }];
  let dependentDialects = ["::tilewright::tw::TwDialect"];
}

def RotaryEmbedding_Layout : Tw_OneOf<["half", "interleaved"]>;

def RotaryEmbedding_RotateOp : Op<RotaryEmbedding_Dialect, "rotate", !listconcat([Pure,
    AllTypesMatch<["input", "result"]>, DeclareOpInterfaceMethods<ReferenceLowering>,
    DeclareOpInterfaceMethods<NumericsContract>, DeclareOpInterfaceMethods<TileLowering>,
    DeclareOpInterfaceMethods<FusionCandidate>], TiledByLoopMap.traits)> {
  let summary = "Rotation of pairs by position";
  let description = [{
    With `r = rotary_dim` and, for pair `i < r/2` of a row at position p, the angle
    `a_i = p * base^(-2i/r) / factors[i]` (factors 1 when absent):

    `y1 = x1 cos(a_i) - x2 sin(a_i)`, `y2 = x2 cos(a_i) + x1 sin(a_i)`.

    Pair i is elements `(i, i + r/2)` in layout `half` (GPT-NeoX), `(2i, 2i + 1)` in layout `interleaved` (GPT-J). Elements
    from r on pass unchanged. Angles are formed in f64 from exact integers; a 16-bit input is turned in f32 and rounded once.

    Forms: rows of all sequences `[N, H, D]` with positions `[N]`, and dense `[B, H, T, D]` with positions `[B, T]` or `[T]`.

    Example:
    ```mlir
    %y = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 64 : i64} : tensor<?x9x64xf32>, tensor<?xi32>
    %z = rotary_embedding.rotate %x, %p factors(%f : tensor<32xf32>) {base = 500000.0 : f64, rotary_dim = 64 : i64, layout = "interleaved"}
         : tensor<?x9x64xf32>, tensor<?xi32>
    ```
    Constraints:
    - (C1) the input has rank 3 with positions of rank 1, or rank 4 with positions of rank 1 or 2; D is static.
    - (C2) positions have the input's row dimensions: [N]; [B, T] or [T].
    - (C3) rotary_dim is even, at least 0 and at most D. (C4) base is finite and above 0.
    - (C5) factors, if given, have shape [rotary_dim / 2].

    Folds: rotary_dim 0, and positions that are all constant 0, are the identity.
  }];
  let arguments = (ins Tw_FloatTensor:$input, Tw_I32Tensor:$positions, Optional<Tw_FloatTensor>:$factors,
    F64Attr:$base, I64Attr:$rotary_dim, DefaultValuedAttr<RotaryEmbedding_Layout, "\"half\"">:$layout);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = [{ $input `,` $positions (`factors` `(` $factors^ `:` type($factors) `)`)? attr-dict
    `:` type($input) `,` type($positions) }];
  let extraClassDefinition = TiledByLoopMap.methods;
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif
