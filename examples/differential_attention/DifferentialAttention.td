// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_PLUGINS_DIFFERENTIAL_ATTENTION
#define TILEWRIGHT_PLUGINS_DIFFERENTIAL_ATTENTION

include "ir/interfaces/Tiling.td"
include "ir/tw/TwBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def DifferentialAttention_Dialect : Dialect {
  let name = "differential_attention";
  let cppNamespace = "::tilewright::differential_attention";
  let summary = "Differential attention (Ye et al., 2024, arXiv 2410.05258).";
  let description = [{
    Attention as the difference of two softmaxes, so that what both of them look at cancels. The two halves are `tw.attention`
    and get everything that is written for it; this dialect holds what joins them.
  }];
  let dependentDialects = ["::tilewright::tw::TwDialect"];
}

def DifferentialAttention_CombineOp : Op<DifferentialAttention_Dialect, "combine", !listconcat([Pure,
    AllTypesMatch<["positive", "negative", "result"]>, DeclareOpInterfaceMethods<ReferenceLowering>,
    DeclareOpInterfaceMethods<NumericsContract>, DeclareOpInterfaceMethods<Gradient>,
    DeclareOpInterfaceMethods<TileLowering>], TiledByLoopMap.traits)> {
  let summary = "Difference of two attentions, normalised head by head";
  let description = [{
    `z[n, h, ...] = positive[n, h, ...] - lambda[h] * negative[n, h, ...]`, then each head by its root mean square:
    `y = scale * g * z / sqrt(mean(z^2) + epsilon)`, the mean over the last dimension, g the weight (1 without one). Heads are
    dimension 1, so that both forms of `tw.attention` fit: `[N, H, D]` and `[B, H, T, D]`. Inside, f32 or wider.

    Example:
    ```mlir
    %y = differential_attention.combine %a, %b, %l weight(%g : tensor<64xf32>) {epsilon = 1.0e-05 : f64, scale = 0.2 : f64}
      : tensor<?x4x64xf32>, tensor<4xf32>
    ```
    Constraints:
    - (C1) the halves have rank 3 or more; dimension 1 and the last are static and at least 1.
    - (C2) lambda has shape [H]. (C3) the weight, if given, has shape [D].
    - (C4) epsilon is finite and not negative, scale is finite.
  }];
  let arguments = (ins Tw_FloatTensor:$positive, Tw_FloatTensor:$negative, Tw_FloatTensor:$lambda,
    Optional<Tw_FloatTensor>:$weight, F64Attr:$epsilon, DefaultValuedAttr<F64Attr, "1.0">:$scale);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = [{ $positive `,` $negative `,` $lambda (`weight` `(` $weight^ `:` type($weight) `)`)? attr-dict
    `:` type($positive) `,` type($lambda) }];
  let extraClassDefinition = TiledByLoopMap.methods;
  let hasVerifier = 1;
}

#endif
