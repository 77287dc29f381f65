// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-quantize-activations: products become integer where the weight's storage type allows it (fast numerics only).
#include "passes/tile/Passes.h"

#include "ir/interfaces/Interfaces.h"
#include "ir/interfaces/ValueTags.h"
#include "ir/tile/Tile.h"
#include "ir/tw/PackedWeight.h"
#include "passes/api/Receipts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace tilewright {

namespace {

constexpr llvm::StringLiteral passFlag = "tile-quantize-activations";
constexpr llvm::StringLiteral receiptKind = "integer_products";

class QuantizeActivationsPass : public PassWrapper<QuantizeActivationsPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(QuantizeActivationsPass)
  StringRef getArgument() const final { return passFlag; }
  StringRef getDescription() const final {
    return "makes the inputs of packed linear maps int8 where products can be integer";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, bufferization::BufferizationDialect, tile::TileDialect, tw::TwDialect>();
  }

  void runOnOperation() override {
    shared.clear();
    quantize<tw::PackedLinearOp>();
    quantize<tw::PackedGroupedLinearOp>();
  }

private:
  template <typename Linear> void quantize() {
    SmallVector<Linear> linears;
    getOperation().walk([&](Linear op) {
      if (!op.getScales())
        linears.push_back(op);
    });
    for (Linear op : linears) {
      auto storage = cast<StorageType>(op.getElement());
      auto missed = [&](const Twine &reason, const Twine &advice) {
        receipt::missed(op, passFlag, receiptKind, reason, advice);
      };
      if (Type element = op.getInput().getType().getElementType(); !element.isF32()) {
        missed("its input has element type " + llvm::formatv("{0}", element).str() + ", wanted f32",
               "cast the input to f32");
        continue;
      }
      const int64_t pieces = integerPieces(storage, op);
      if (!pieces) {
        missed("weights of type " + llvm::formatv("{0}", op.getElement()).str() + " have no integer form",
               "quantise the weight (q4_0, q4_1 or q8_0, say), or nothing, where it should keep its precision");
        continue;
      }
      const int64_t columns = op.getInput().getType().getDimSize(1), step = tw::kPackedStep;
      if (columns % step) {
        missed("its rows have " + Twine(columns) + " elements, wanted a multiple of the " + Twine(step) + " of a block",
               "fill rows and inputs up with zeros");
        continue;
      }
      const int64_t block = step / pieces;
      tw::QuantizeRowsOp &quantized = shared[{op.getInput(), block}];
      OpBuilder b(op);
      if (!quantized) {
        // Behind the input, so that it dominates every linear map of that input.
        b.setInsertionPointAfterValue(op.getInput());
        quantized = tw::QuantizeRowsOp::create(b, withoutTag(op.getLoc()), op.getInput(), block);
        b.setInsertionPoint(op);
      }
      receipt::done(op, passFlag, receiptKind,
                    "products of int8 activations, one scale for " + Twine(block) +
                        " of them, with the quants as they are");
      op.getInputMutable().assign(quantized.getQuants());
      op.getScalesMutable().assign(quantized.getScales());
      op.getSumsMutable().assign(quantized.getSums());
    }
  }

  /// Pieces of a block in the type's integer form, 0 without one: asks the type to load a block, in a function that is
  /// thrown away.
  template <typename Linear> int64_t integerPieces(StorageType storage, Linear op) {
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
  llvm::DenseMap<std::pair<Value, int64_t>, tw::QuantizeRowsOp> shared; ///< by input and block
};

} // namespace

std::unique_ptr<Pass> createTileQuantizeActivationsPass() { return std::make_unique<QuantizeActivationsPass>(); }

} // namespace tilewright
