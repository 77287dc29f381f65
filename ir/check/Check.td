// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_IR_CHECK
#define TILEWRIGHT_IR_CHECK

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Check_Dialect : Dialect {
  let name = "check";
  let cppNamespace = "::tilewright::check";
  let summary = "Assertions of tests.";
  let description = [{
    What a test expects of its values. The reference interpreter runs these ops; compiled programs do not have them.
  }];
}

class Check_Op<string mnemonic, list<Trait> traits = []> : Op<Check_Dialect, mnemonic, traits>;

def Check_ExpectEqOp : Check_Op<"expect_eq", [SameTypeOperands]> {
  let summary = "Two tensors are the same";
  let description = [{
    Shapes and all elements are equal; two NaN are, and -0 equals 0. The error says how many elements differ and shows the
    first one.

    Example:
    ```mlir
    check.expect_eq %found, %wanted : tensor<2x3xi32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$found, AnyRankedTensor:$wanted);
  let assemblyFormat = "$found `,` $wanted attr-dict `:` type($found)";
}

def Check_ExpectCloseOp : Check_Op<"expect_close", [SameTypeOperands]> {
  let summary = "Two tensors of floats are close";
  let description = [{
    `|found - wanted| <= absolute + relative * max|wanted|` for each element, the maximum over all finite ones. NaN is close to
    NaN only, an infinity to itself only.

    Example:
    ```mlir
    check.expect_close %found, %wanted {absolute = 1.0e-06 : f64} : tensor<2x3xf32>
    ```
    Constraints:
    - (C1) absolute and relative are finite and not negative.
  }];
  let arguments = (ins RankedTensorOf<[AnyFloat]>:$found, RankedTensorOf<[AnyFloat]>:$wanted,
    DefaultValuedAttr<F64Attr, "0.0">:$absolute, DefaultValuedAttr<F64Attr, "0.0">:$relative);
  let assemblyFormat = "$found `,` $wanted attr-dict `:` type($found)";
  let hasVerifier = 1;
}

#endif
