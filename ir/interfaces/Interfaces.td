// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The words that passes and plugins share. Upstream's interfaces serve types, shapes and tiling; these are ours.
#ifndef TILEWRIGHT_IR_INTERFACES
#define TILEWRIGHT_IR_INTERFACES

include "mlir/IR/OpBase.td"

def ReferenceLowering : OpInterface<"ReferenceLowering"> {
  let cppNamespace = "::tilewright";
  let description = [{
    Decomposition of a technique op into `tw` ops: the meaning of the op, and the truth that every other form of it is
    compared with. The only interface that a technique op must implement.
  }];
  let methods = [InterfaceMethod<[{
      Emits core ops at the builder's insertion point and returns one value per result, of the result's type. Fails with
      a diagnostic on the op when a variant has no decomposition.
    }], "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>", "lowerToReference", (ins "::mlir::OpBuilder &":$builder)>];
}

def NumericsContract : OpInterface<"NumericsContract"> {
  let cppNamespace = "::tilewright";
  let description = [{
    How far a compiled form of this op may differ from its reference: `|difference| <= absolute + relative * max|reference|`.
  }];
  let methods = [InterfaceMethod<"The contract for a numerics mode (\"precise\" or \"fast\").",
      "::tilewright::NumericsBound", "getNumericsBound", (ins "::llvm::StringRef":$mode)>];
}

def Gradient : OpInterface<"Gradient"> {
  let cppNamespace = "::tilewright";
  let description = [{
    Reverse-mode derivative as `tw` ops. An op without it is differentiated as the ops of its reference lowering
    (passes/differentiate); an own form saves work or memory.
  }];
  let methods = [InterfaceMethod<[{
      Given the gradients of the results (of the results' types, null for results that are not floats), emits core ops and
      returns the gradient of each operand, of the operand's type (null where it has none). The op's own results may be used.
    }], "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>", "buildGradient",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$result_gradients)>];
}

def LoopMapped : OpInterface<"LoopMapped"> {
  let cppNamespace = "::tilewright";
  let description = [{
    An op whose operands and results are cut together along a few parallel loops: upstream's TilingInterface follows from
    the table that it returns (ir/interfaces/Tiling.td).
  }];
  let methods = [InterfaceMethod<"The op's loops and which of them each dimension follows; fails when the op cannot be cut.",
      "::mlir::FailureOr<::tilewright::LoopMap>", "getLoopMap">];
}

def TileLowering : OpInterface<"TileLowering"> {
  let cppNamespace = "::tilewright";
  let description = [{
    The kernel form of an op that upstream's tile-and-fuse has cut to a tile (its TilingInterface): all shapes are static.
  }];
  let methods = [InterfaceMethod<[{
      Emits the closed kernel op set (linalg on tile tensors, tensor, scf, arith, math, `tile`) and returns one value per
      result. Fails with a diagnostic when it cannot.
    }], "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>", "lowerTile", (ins "::mlir::OpBuilder &":$builder)>];
}

def WholeKernel : OpInterface<"WholeKernel"> {
  let cppNamespace = "::tilewright";
  let description = [{
    The kernel form of an op that chooses its own work items (attention over a paged state, append): it builds the body of
    its kernel, chunk by chunk.
  }];
  let methods = [InterfaceMethod<[{
      Builds the body of the kernel. The builder offers the op's operands as kernel arguments (`KernelBuilder`), the number
      of chunks is set on it. Fails with a diagnostic when this op has no kernel form in the wanted variant.
    }], "::llvm::LogicalResult", "buildKernel", (ins "::tilewright::KernelBuilder &":$kernel)>];
}

def FusionCandidate : OpInterface<"FusionCandidate"> {
  let cppNamespace = "::tilewright";
  let description = [{
    An op that a compilation accounts for: its receipts (passes/api/Receipts.h) say which kernel computes it, and
    `--require-fused=KIND` refuses a program in which it stands alone.
  }];
  let methods = [
    InterfaceMethod<"The kind of its receipts.", "::llvm::StringRef", "getFusionKind">,
    InterfaceMethod<[{
        What the op computes at once when it is itself the result of a fusion; empty for one that waits to be fused.
      }], "::llvm::StringRef", "describeFusion", (ins), [{}], [{ return {}; }]>
  ];
}

def StorageType : TypeInterface<"StorageType"> {
  let cppNamespace = "::tilewright";
  let description = [{
    An element type that only weights have (GGUF blocks, 16-bit floats): block geometry, canonical packed layout, reference
    decoding, and how a kernel loads a tile of it. Core code never knows a quantisation's name.
  }];
  let methods = [
    InterfaceMethod<"Elements of one block along a row.", "int64_t", "getBlockElements">,
    InterfaceMethod<"Bytes of one block in the file.", "int64_t", "getBlockBytes">,
    InterfaceMethod<"Decodes one block of the file exactly (every supported type's values are f32-representable products).",
      "void", "decodeBlock", (ins "const uint8_t *":$bytes, "float *":$out)>,
    InterfaceMethod<"The canonical packed layout (runtime/api/layout.h): 16 rows by blocks of 32 elements, or of a multiple of them.",
      "::tilewright::LayoutDescriptor", "getLayout">,
    InterfaceMethod<[{
        Loads step `step` of 32 elements of row group `group` of a packed weight `[groups, blocks, bytes]` i8 as decoded f32
        `[32, 16]` (k by row), emitting kernel-level ops. Blocks of more elements than 32 have several steps.
      }], "::mlir::Value", "emitLoadF32",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::Value":$packed, "::mlir::Value":$group, "::mlir::Value":$step)>,
    InterfaceMethod<[{
        As emitLoadF32, for integer products: unsigned quants in equal pieces along k, each of which has an activation
        scale of its own, and the numbers that turn the pieces' sums of products into the product (IntegerTile).
        Fails silently when the type has no integer form (floats).
      }], "::mlir::FailureOr<::tilewright::IntegerTile>", "emitLoadInteger",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::Value":$packed, "::mlir::Value":$group, "::mlir::Value":$step)>,
    InterfaceMethod<"How rows of floats become rows of this type.", "::tilewright::RowEncoding", "getRowEncoding", (ins), "",
      [{ return ::tilewright::RowEncoding::None; }]>,
    InterfaceMethod<[{
        Encodes a row of whole blocks of finite floats to `bytes`, as the format's reference does. Returns the number that the
        row's decoded values are to be multiplied with, which is 1 but for ScaledRows. Only where getRowEncoding() is not None.
      }], "float", "encodeRow", (ins "::llvm::ArrayRef<float>":$row, "uint8_t *":$bytes), "",
      [{ llvm_unreachable("a storage type that rows cannot be encoded to"); }]>
  ];
}

#endif
