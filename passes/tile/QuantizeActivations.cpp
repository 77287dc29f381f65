// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-quantize-activations: products become integer where the weight's storage type allows it (fast numerics only).
#include "passes/tile/Passes.h"

#include "ir/interfaces/Interfaces.h"
#include "ir/interfaces/ValueTags.h"
#include "ir/tile/Tile.h"
#include "ir/tw/Tw.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace tilewright {

namespace {

class QuantizeActivationsPass : public PassWrapper<QuantizeActivationsPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(QuantizeActivationsPass)
  StringRef getArgument() const final { return "tile-quantize-activations"; }
  StringRef getDescription() const final {
    return "makes the inputs of packed linear maps int8 where products can be integer";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, bufferization::BufferizationDialect, tile::TileDialect, tw::TwDialect>();
  }

  void runOnOperation() override {
    SmallVector<tw::PackedLinearOp> linears;
    getOperation().walk([&](tw::PackedLinearOp op) {
      if (!op.getScales())
        linears.push_back(op);
    });
    llvm::DenseMap<std::pair<Value, int64_t>, tw::QuantizeRowsOp> shared;
    for (tw::PackedLinearOp op : linears) {
      auto storage = cast<StorageType>(op.getElement());
      if (!op.getInput().getType().getElementType().isF32())
        continue;
      const int64_t pieces = integerPieces(storage, op);
      if (!pieces)
        continue;
      int64_t block = storage.getBlockElements() / pieces;
      tw::QuantizeRowsOp &quantized = shared[{op.getInput(), block}];
      OpBuilder b(op);
      if (!quantized) {
        // Behind the input, so that it dominates every linear map of that input.
        b.setInsertionPointAfterValue(op.getInput());
        quantized = tw::QuantizeRowsOp::create(b, withoutTag(op.getLoc()), op.getInput(), block);
        b.setInsertionPoint(op);
      }
      auto integer =
          tw::PackedLinearOp::create(b, op.getLoc(), op.getType(), quantized.getQuants(), quantized.getScales(),
                                     quantized.getSums(), op.getWeight(), op.getBias(), op.getElementAttr());
      op.replaceAllUsesWith(integer.getResult());
      op.erase();
    }
  }

private:
  /// Pieces of a block in the type's integer form, 0 without one: asks the type to load a block, in a function that is
  /// thrown away.
  int64_t integerPieces(StorageType storage, tw::PackedLinearOp op) {
    auto [it, isNew] = pieces.try_emplace(op.getElement(), 0);
    if (!isNew)
      return it->second;
    Location loc = op.getLoc();
    OpBuilder b(op.getContext());
    Type index = b.getIndexType();
    OwningOpRef<func::FuncOp> scratch =
        func::FuncOp::create(loc, "scratch", b.getFunctionType({op.getWeight().getType(), index, index}, {}));
    b.setInsertionPointToStart(scratch->addEntryBlock());
    FailureOr<IntegerTile> tile =
        storage.emitLoadInteger(b, loc, scratch->getArgument(0), scratch->getArgument(1), scratch->getArgument(2));
    return it->second = succeeded(tile) ? static_cast<int64_t>(tile->pieces.size()) : 0;
  }

  llvm::DenseMap<Type, int64_t> pieces;
};

} // namespace

std::unique_ptr<Pass> createTileQuantizeActivationsPass() { return std::make_unique<QuantizeActivationsPass>(); }

} // namespace tilewright
