// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_IR_TW_ELEMENTWISE
#define TILEWRIGHT_IR_TW_ELEMENTWISE

include "ir/tw/TwBase.td"
include "ir/interfaces/Tiling.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// An op that is cut to tiles by its loop map and lowered tile by tile.
class Tw_TiledOp<string mnemonic, list<Trait> traits = []>
    : Tw_Op<mnemonic, !listconcat([Pure, DeclareOpInterfaceMethods<TileLowering>], TiledByLoopMap.traits, traits)> {
  let extraClassDefinition = TiledByLoopMap.methods;
}

// Loop d of an elementwise op follows dimension d of every operand and of the result.
class Tw_ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : Tw_Op<mnemonic, !listconcat([Pure, SameOperandsAndResultShape, DeclareOpInterfaceMethods<TileLowering>,
                                   DeclareOpInterfaceMethods<Gradient>],
                                  TiledByLoopMap.traits, traits)> {
  let extraClassDefinition = TiledByLoopMap.methods # [{
    ::mlir::FailureOr<::tilewright::LoopMap> $cppClass::getLoopMap() { return ::tilewright::elementwiseLoopMap(getOperation()); }
    ::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>> $cppClass::lowerTile(::mlir::OpBuilder &builder) {
      return ::tilewright::tw::lowerElementwiseTile(getOperation(), builder);
    }
    ::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>> $cppClass::buildGradient(::mlir::OpBuilder &builder, ::mlir::ValueRange gradients) {
      return ::tilewright::tw::elementwiseGradient(getOperation(), builder, gradients.front());
    }
  }];
}

class Tw_UnaryOp<string mnemonic, string formula> : Tw_ElementwiseOp<mnemonic, [SameOperandsAndResultType]> {
  let summary = "Elementwise " # formula;
  let description = "`y = " # formula # [{`, elementwise, in the element type's own precision.

    Example:
    ```mlir
    %y = tw.}] # mnemonic # [{ %x : tensor<?x576xf32>
    ```
  }];
  let arguments = (ins Tw_FloatTensor:$input);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

class Tw_BinaryOp<string mnemonic, string formula, list<Trait> traits = []>
    : Tw_ElementwiseOp<mnemonic, !listconcat([SameOperandsAndResultType], traits)> {
  let summary = "Elementwise " # formula;
  let description = "`y = " # formula # [{`, elementwise; both operands have the result's shape (no broadcast).

    Example:
    ```mlir
    %y = tw.}] # mnemonic # [{ %a, %b : tensor<?x576xf32>
    ```
  }];
  let arguments = (ins Tw_FloatTensor:$lhs, Tw_FloatTensor:$rhs);
  let results = (outs Tw_FloatTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs)";
}

def Tw_AddOp : Tw_BinaryOp<"add", "a + b", [Commutative]>;
def Tw_SubOp : Tw_BinaryOp<"sub", "a - b">;
def Tw_MulOp : Tw_BinaryOp<"mul", "a * b", [Commutative]>;
def Tw_DivOp : Tw_BinaryOp<"div", "a / b">;
def Tw_MaximumOp : Tw_BinaryOp<"maximum", "max(a, b), NaN if either is", [Commutative]>;
def Tw_MinimumOp : Tw_BinaryOp<"minimum", "min(a, b), NaN if either is", [Commutative]>;

def Tw_NegOp : Tw_UnaryOp<"neg", "-x">;
def Tw_AbsOp : Tw_UnaryOp<"abs", "|x|">;
def Tw_ExpOp : Tw_UnaryOp<"exp", "exp(x)">;
def Tw_LogOp : Tw_UnaryOp<"log", "ln(x)">;
def Tw_SqrtOp : Tw_UnaryOp<"sqrt", "sqrt(x)">;
def Tw_RsqrtOp : Tw_UnaryOp<"rsqrt", "1 / sqrt(x)">;
def Tw_TanhOp : Tw_UnaryOp<"tanh", "tanh(x)">;
def Tw_ErfOp : Tw_UnaryOp<"erf", "erf(x)">;
def Tw_SinOp : Tw_UnaryOp<"sin", "sin(x)">;
def Tw_CosOp : Tw_UnaryOp<"cos", "cos(x)">;
def Tw_SigmoidOp : Tw_UnaryOp<"sigmoid", "1 / (1 + exp(-x))">;

def Tw_CompareKind : Tw_OneOf<["eq", "ne", "lt", "le", "gt", "ge"]>;

def Tw_CompareOp : Tw_ElementwiseOp<"compare", [AllTypesMatch<["lhs", "rhs"]>]> {
  let summary = "Elementwise comparison";
  let description = [{
    `y = a <kind> b` as i1; every comparison with NaN is false, except `ne`.

    Example:
    ```mlir
    %m = tw.compare "le", %a, %b : tensor<4x4xi32> -> tensor<4x4xi1>
    ```
    Constraints:
    - (C1) both operands have one type; the result has its shape and element type i1.
  }];
  let arguments = (ins Tw_CompareKind:$kind, RankedTensorOf<[AnyFloat, I32, I64]>:$lhs, RankedTensorOf<[AnyFloat, I32, I64]>:$rhs);
  let results = (outs Tw_BoolTensor:$result);
  let assemblyFormat = "$kind `,` $lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
}

def Tw_SelectOp : Tw_ElementwiseOp<"select", [AllTypesMatch<["on_true", "on_false", "result"]>]> {
  let summary = "Elementwise choice";
  let description = [{
    `y = cond ? a : b`.

    Example:
    ```mlir
    %y = tw.select %c, %a, %b : tensor<4x4xi1>, tensor<4x4xf32>
    ```
    Constraints:
    - (C1) both values and the result have one type, with the condition's shape.
  }];
  let arguments = (ins Tw_BoolTensor:$condition, Tw_AnyTensor:$on_true, Tw_AnyTensor:$on_false);
  let results = (outs Tw_AnyTensor:$result);
  let assemblyFormat = "$condition `,` $on_true `,` $on_false attr-dict `:` type($condition) `,` type($result)";
  let hasFolder = 1;
}

def Tw_CastOp : Tw_ElementwiseOp<"cast"> {
  let summary = "Conversion of the element type";
  let description = [{
    Float to float rounds to nearest even; integer to float is exact where it can be and rounds to nearest even otherwise;
    float to integer truncates towards zero and saturates, NaN gives 0; i1 gives 0 or 1.

    Example:
    ```mlir
    %y = tw.cast %x : tensor<?x64xbf16> -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins RankedTensorOf<[AnyFloat, I1, I8, I32, I64]>:$input);
  let results = (outs RankedTensorOf<[AnyFloat, I1, I8, I32, I64]>:$result);
  let hasFolder = 1;
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}

#endif
