// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_IR_TW_TWBASE
#define TILEWRIGHT_IR_TW_TWBASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Tw_Dialect : Dialect {
  let name = "tw";
  let cppNamespace = "::tilewright::tw";
  let summary = "Technique-free tensor operations: the graph level of Tilewright.";
  let description = [{
    `tw` holds what every technique is built from: linear maps on plain or quantised weights, elementwise operations,
    reductions, shape operations, gathers, growable state, and `tw.attention`, the meeting point of all attention
    techniques. Ops work on ranked tensors; a dimension may be dynamic, and then two dimensions that must agree are
    compared at run time. Size 1 never means broadcast: broadcasting is an op.

    Softmax, norms, losses and reductions accumulate in f32 whatever the storage type.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect", "::mlir::ml_program::MLProgramDialect",
                           "::mlir::tensor::TensorDialect"];
  let hasConstantMaterializer = 1;
  let useDefaultTypePrinterParser = 1;
}

class Tw_Type<string name, string typeMnemonic, list<Trait> traits = []> : TypeDef<Tw_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}

def Tw_StateType : Tw_Type<"State", "state"> {
  let summary = "A growable per-sequence buffer set (a K/V cache), threaded as a value.";
  let description = [{
    Holds, for each sequence, some number of token rows in one or more buffers. Each buffer is described by a tensor type
    whose leading dimension is the number of tokens: `!tw.state<tensor<?x3x64xf32>, tensor<?x3x64xf32>>` keeps a key and
    a value of 3 heads by 64 per token. The element type is the logical one; how pages are stored is the backend's.

    `in` says whose tokens they are:
    - nothing: those of the sequences that the step extends; they are kept from step to step;
    - `source`: those of the sequences' sources, which one entry (`encode`) appends and another (`step`) only reads;
    - `transient`: those of the step alone. `tw.append` replaces what the state held, so that one state serves all layers
      of an encoder one after another, and nothing is kept.

    A state value is used at most once by an op that changes it (`tw.append`), and not at all after that: bufferisation
    works in place, so that a copy would be needed otherwise, and a copy is an error.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::RankedTensorType">:$buffers, OptionalParameter<"::mlir::StringAttr">:$group);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isSource() { return getGroup() && getGroup() == "source"; }
    bool isTransient() { return getGroup() && getGroup() == "transient"; }
  }];
}

// Plain or quantised weights: any element type, plugin storage types included.
def Tw_AnyTensor : RankedTensorOf<[AnyType]>;
def Tw_FloatTensor : RankedTensorOf<[AnyFloat]>;
def Tw_I32Tensor : RankedTensorOf<[I32]>;
def Tw_BoolTensor : RankedTensorOf<[I1]>;
// What attention hides by its zeros.
def Tw_MaskTensor : RankedTensorOf<[AnySignlessInteger, AnyFloat]>;

// Attributes that a graph file can carry: I64Attr, F64Attr, BoolAttr, StrAttr, DenseI64ArrayAttr, DenseF64ArrayAttr and
// StrArrayAttr. Choices are strings, so that the graph file's open operator set needs no enumerations.
class Tw_OneOf<list<string> choices> : StringBasedAttr<
    CPred<"::llvm::is_contained({" # !interleave(!foreach(c, choices, "\"" # c # "\""), ", ") # "}, ::llvm::cast<::mlir::StringAttr>($_self).getValue())">,
    "one of " # !interleave(choices, ", ")>;

// I64Attr with a signed accessor.
def Tw_I64Attr : TypedSignlessIntegerAttrBase<I64, "int64_t", "64-bit signless integer attribute">;

class Tw_Op<string mnemonic, list<Trait> traits = []> : Op<Tw_Dialect, mnemonic, traits>;

#endif
