// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Upstream's TilingInterface from a table of loops: an op says which loop each of its dimensions follows (LoopMapped,
// ir/interfaces/Tiling.h) and gets every tiling method for it. In an op's definition:
//
//   def MyOp : My_Op<"my_op", !listconcat([Pure], TiledByLoopMap.traits)> {
//     let extraClassDefinition = TiledByLoopMap.methods;
//   }
//
// and in its source: `FailureOr<LoopMap> MyOp::getLoopMap() { ... }`.
#ifndef TILEWRIGHT_IR_INTERFACES_TILING
#define TILEWRIGHT_IR_INTERFACES_TILING

include "ir/interfaces/Interfaces.td"
include "mlir/Interfaces/TilingInterface.td"

def TiledByLoopMap {
  list<Trait> traits = [
    DeclareOpInterfaceMethods<LoopMapped>,
    DeclareOpInterfaceMethods<TilingInterface, ["getLoopIteratorTypes", "getIterationDomain", "getTiledImplementation",
      "getResultTilePosition", "generateResultTileValue", "getIterationDomainTileFromResultTile",
      "getIterationDomainTileFromOperandTiles", "getTiledImplementationFromOperandTiles"]>];

  code methods = [{
    ::mlir::SmallVector<::mlir::utils::IteratorType> $cppClass::getLoopIteratorTypes() {
      return ::tilewright::loopIteratorTypes(getLoopMap());
    }
    ::mlir::SmallVector<::mlir::Range> $cppClass::getIterationDomain(::mlir::OpBuilder &b) {
      return ::tilewright::loopDomain(getOperation(), getLoopMap(), b);
    }
    ::mlir::FailureOr<::mlir::TilingResult> $cppClass::getTiledImplementation(
        ::mlir::OpBuilder &b, ::mlir::ArrayRef<::mlir::OpFoldResult> offsets, ::mlir::ArrayRef<::mlir::OpFoldResult> sizes) {
      return ::tilewright::tileByLoops(getOperation(), getLoopMap(), b, offsets, sizes);
    }
    ::llvm::LogicalResult $cppClass::getResultTilePosition(
        ::mlir::OpBuilder &b, unsigned resultNumber, ::mlir::ArrayRef<::mlir::OpFoldResult> offsets,
        ::mlir::ArrayRef<::mlir::OpFoldResult> sizes, ::mlir::SmallVector<::mlir::OpFoldResult> &resultOffsets,
        ::mlir::SmallVector<::mlir::OpFoldResult> &resultSizes) {
      return ::tilewright::resultTileOfLoops(getOperation(), getLoopMap(), b, resultNumber, offsets, sizes, resultOffsets, resultSizes);
    }
    ::mlir::FailureOr<::mlir::TilingResult> $cppClass::generateResultTileValue(
        ::mlir::OpBuilder &b, unsigned resultNumber, ::mlir::ArrayRef<::mlir::OpFoldResult> offsets,
        ::mlir::ArrayRef<::mlir::OpFoldResult> sizes) {
      return ::tilewright::tileOfResult(getOperation(), getLoopMap(), b, resultNumber, offsets, sizes);
    }
    ::llvm::LogicalResult $cppClass::getIterationDomainTileFromResultTile(
        ::mlir::OpBuilder &b, unsigned resultNumber, ::mlir::ArrayRef<::mlir::OpFoldResult> offsets,
        ::mlir::ArrayRef<::mlir::OpFoldResult> sizes, ::mlir::SmallVectorImpl<::mlir::OpFoldResult> &loopOffsets,
        ::mlir::SmallVectorImpl<::mlir::OpFoldResult> &loopSizes) {
      return ::tilewright::loopsOfResultTile(getOperation(), getLoopMap(), b, resultNumber, offsets, sizes, loopOffsets, loopSizes);
    }
    ::llvm::LogicalResult $cppClass::getIterationDomainTileFromOperandTiles(
        ::mlir::OpBuilder &b, ::mlir::ArrayRef<unsigned> operandNumbers,
        ::mlir::ArrayRef<::mlir::SmallVector<::mlir::OpFoldResult>> allOffsets,
        ::mlir::ArrayRef<::mlir::SmallVector<::mlir::OpFoldResult>> allSizes,
        ::mlir::SmallVectorImpl<::mlir::OpFoldResult> &loopOffsets, ::mlir::SmallVectorImpl<::mlir::OpFoldResult> &loopSizes) {
      return ::tilewright::loopsOfOperandTiles(getOperation(), getLoopMap(), b, operandNumbers, allOffsets, allSizes, loopOffsets, loopSizes);
    }
    ::mlir::FailureOr<::mlir::TilingResult> $cppClass::getTiledImplementationFromOperandTiles(
        ::mlir::OpBuilder &b, ::mlir::ArrayRef<unsigned> operandNumbers,
        ::mlir::ArrayRef<::mlir::SmallVector<::mlir::OpFoldResult>> allOffsets,
        ::mlir::ArrayRef<::mlir::SmallVector<::mlir::OpFoldResult>> allSizes) {
      return ::tilewright::tileOfOperands(getOperation(), getLoopMap(), b, operandNumbers, allOffsets, allSizes);
    }
  }];
}

#endif
