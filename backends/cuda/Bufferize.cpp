// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cuda-bufferize: One-Shot Bufferize of a kernel. Arguments are used in place; a tile's buffer has the memory space
// that cuda-stage-tiles gave it. A field of a packed block is a view of the weight's bytes.
#include "backends/cuda/Passes.h"

#include "ir/tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace tilewright;

namespace {

struct LoadFieldModel : BufferizableOpInterface::ExternalModel<LoadFieldModel, tile::LoadFieldOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &, const AnalysisState &) const { return false; }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &, const AnalysisState &) const { return false; }
  AliasingValueList getAliasingValues(Operation *op, OpOperand &operand, const AnalysisState &) const {
    if (operand.getOperandNumber() != 0)
      return {};
    return {{op->getResult(0), BufferRelation::Unknown}};
  }

  FailureOr<BufferLikeType> getBufferType(Operation *op, Value value, const BufferizationOptions &,
                                          const BufferizationState &, SmallVector<Value> &) const {
    auto type = cast<RankedTensorType>(value.getType());
    return cast<BufferLikeType>(MemRefType::get(type.getShape(), type.getElementType()));
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto load = cast<tile::LoadFieldOp>(op);
    Location loc = op->getLoc();
    FailureOr<Value> packed = getBuffer(rewriter, load.getPacked(), options, state);
    if (failed(packed))
      return failure();
    auto type = cast<MemRefType>(packed->getType());
    auto result = cast<RankedTensorType>(load.getResult().getType());
    int64_t item = result.getElementTypeBitWidth() / 8;
    if (!type.getLayout().isIdentity() || ShapedType::isDynamicShape(type.getShape().drop_front()))
      return op->emitOpError("reads ") << type << ", wanted a whole packed weight of known blocks";
    if (load.getOffset() % item != 0 || load.getBlockBytes() % item != 0)
      return op->emitOpError("reads items of ") << item << " bytes at offset " << load.getOffset() << " of blocks of "
                                                << load.getBlockBytes() << " bytes: they do not lie on their size";
    auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(rewriter, loc, value); };
    // The linear number of the byte, from that of the block where the last index is missing.
    SmallVector<Value> indices(load.getIndices());
    Value offset = constant(load.getOffset());
    if (static_cast<int64_t>(indices.size()) == type.getRank())
      indices.back() = arith::AddIOp::create(rewriter, loc, indices.back(), offset);
    else
      indices.push_back(offset);
    Value place = constant(0);
    for (auto [index, extent] : llvm::zip_equal(indices, type.getShape()))
      place =
          arith::AddIOp::create(rewriter, loc, arith::MulIOp::create(rewriter, loc, place, constant(extent)), index);
    ReassociationIndices all = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    Value bytes = *packed;
    if (type.getRank() > 1)
      bytes = memref::CollapseShapeOp::create(rewriter, loc, bytes, ArrayRef<ReassociationIndices>{all});
    auto view = MemRefType::get(result.getShape(), result.getElementType());
    replaceOpWithNewBufferizedOp<memref::ViewOp>(rewriter, op, view, bytes, place, ValueRange());
    return success();
  }
};

class CudaBufferize : public PassWrapper<CudaBufferize, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CudaBufferize)
  StringRef getArgument() const override { return "cuda-bufferize"; }
  StringRef getDescription() const override { return "Turn a kernel's tensors into memory of their layouts"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<BufferizationDialect, memref::MemRefDialect>();
  }

  void runOnOperation() override {
    OneShotBufferizationOptions options;
    options.bufferAlignment = 16;
    BufferizationState state;
    if (failed(runOneShotBufferize(getOperation(), options, state)))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> tilewright::createCudaBufferizePass() { return std::make_unique<CudaBufferize>(); }

void tilewright::registerCudaBufferization(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *context, tile::TileDialect *) { tile::LoadFieldOp::attachInterface<LoadFieldModel>(*context); });
}
