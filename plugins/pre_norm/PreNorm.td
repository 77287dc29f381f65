// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_PLUGINS_PRE_NORM
#define TILEWRIGHT_PLUGINS_PRE_NORM

include "ir/interfaces/Tiling.td"
include "ir/tw/TwBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def PreNorm_Dialect : Dialect {
  let name = "pre_norm";
  let cppNamespace = "::tilewright::pre_norm";
  let summary = "Residual sum and the norm behind it in one sweep.";
  let description = [{
    In a pre-norm block `x + f(norm(x))` the residual sum is at once the input of the next norm. Computing both in one sweep
    over the rows reads the sum from registers instead of from memory.
  }];
  let dependentDialects = ["::tilewright::tw::TwDialect"];
}

def PreNorm_AddNormOp : Op<PreNorm_Dialect, "add_norm", !listconcat([Pure,
    AllTypesMatch<["input", "update", "sum", "normed"]>, DeclareOpInterfaceMethods<ReferenceLowering>,
    DeclareOpInterfaceMethods<NumericsContract>, DeclareOpInterfaceMethods<TileLowering>,
    DeclareOpInterfaceMethods<FusionCandidate, ["describeFusion"]>], TiledByLoopMap.traits)> {
  let summary = "Residual sum and its norm";
  let description = [{
    `sum = input + update`, `normed = norm(sum, parameters...)`, where `norm` is the name of an op that maps each row of its
    first operand to a row of its result, and `norm_attributes` are its attributes. Any plugin's norm serves.

    Example:
    ```mlir
    %s, %n = pre_norm.add_norm "some.norm" %x, %f params(%g : tensor<576xf32>)
        {norm_attributes = {epsilon = 1.0e-05 : f64}} : tensor<?x576xf32>
    ```
    Constraints:
    - (C1) `norm` is a registered op. (C2) It takes the sum and the parameters with these attributes, and its one result has
      the sum's type. (C3) It works row by row: the last dimension of operand and result is whole, the others follow its loops.
  }];
  let arguments = (ins Tw_FloatTensor:$input, Tw_FloatTensor:$update, Variadic<Tw_AnyTensor>:$parameters, StrAttr:$norm,
    DictionaryAttr:$norm_attributes);
  let results = (outs Tw_FloatTensor:$sum, Tw_FloatTensor:$normed);
  let assemblyFormat = [{ custom<NormName>($norm) $input `,` $update (`params` `(` $parameters^ `:` type($parameters) `)`)?
    attr-dict `:` type($input) }];
  let extraClassDefinition = TiledByLoopMap.methods;
  let hasVerifier = 1;
}

#endif
