// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cpu-plain-loops: a kernel becomes loops over single numbers, by upstream's generic lowerings: slow, and nothing that
// the backend's schedule does. Code made from it tells whether a kernel or the backend is wrong.
#include "backends/cpu/Passes.h"
#include "backends/cpu/Rewrite.h"

#include "ir/tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tilewright;

namespace {

/// A generic op that computes each element of a tensor of `type` from its row-major index.
template <typename Element>
Value generate(PatternRewriter &rewriter, Location loc, RankedTensorType type, Element element) {
  Value out = tensor::EmptyOp::create(rewriter, loc, type.getShape(), type.getElementType());
  SmallVector<AffineMap> maps{rewriter.getMultiDimIdentityMap(type.getRank())};
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      rewriter, loc, type, ValueRange{}, out, maps, loops, [&](OpBuilder &b, Location inner, ValueRange) {
        Value linear = arith::ConstantIndexOp::create(b, inner, 0);
        for (auto [d, extent] : llvm::enumerate(type.getShape())) {
          Value scaled =
              arith::MulIOp::create(b, inner, linear, arith::ConstantIndexOp::create(b, inner, extent).getResult());
          linear = arith::AddIOp::create(b, inner, scaled, linalg::IndexOp::create(b, inner, d).getResult());
        }
        linalg::YieldOp::create(b, inner, element(b, inner, linear));
      });
  return generic.getResult(0);
}

/// Byte `at` of the block, or behind the byte that the last index names.
Value loadByte(OpBuilder &b, Location loc, Value packed, ValueRange indices, Value at) {
  SmallVector<Value> position(indices);
  if (static_cast<int64_t>(position.size()) == cast<RankedTensorType>(packed.getType()).getRank())
    at = arith::AddIOp::create(b, loc, position.pop_back_val(), at);
  position.push_back(at);
  return tensor::ExtractOp::create(b, loc, packed, position);
}

struct PlainField : OpRewritePattern<tile::LoadFieldOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tile::LoadFieldOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    const unsigned bits = type.getElementTypeBitWidth();
    rewriter.replaceOp(op, generate(rewriter, op.getLoc(), type, [&](OpBuilder &b, Location loc, Value linear) {
                         Type word = b.getIntegerType(bits);
                         auto index = [&](int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); };
                         Value first = arith::MulIOp::create(b, loc, linear, index(bits / 8));
                         Value value;
                         for (unsigned byte = 0; byte < bits / 8; ++byte) {
                           Value at = arith::AddIOp::create(b, loc, first, index(op.getOffset() + byte));
                           Value part = loadByte(b, loc, op.getPacked(), op.getIndices(), at);
                           if (bits > 8)
                             part = arith::ExtUIOp::create(b, loc, word, part);
                           if (byte > 0) {
                             Value by = arith::ConstantIntOp::create(b, loc, word, 8 * byte);
                             part = arith::ShLIOp::create(b, loc, part, by);
                             part = arith::OrIOp::create(b, loc, value, part);
                           }
                           value = part;
                         }
                         return type.getElementType() == word
                                    ? value
                                    : arith::BitcastOp::create(b, loc, type.getElementType(), value).getResult();
                       }));
    return success();
  }
};

struct PlainBits : OpRewritePattern<tile::LoadBitsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tile::LoadBitsOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    const int64_t width = op.getWidth();
    rewriter.replaceOp(
        op, generate(rewriter, op.getLoc(), type, [&](OpBuilder &b, Location loc, Value linear) -> Value {
          auto index = [&](int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); };
          Value bytes = index(op.getFieldBytes());
          Value inField = arith::RemUIOp::create(b, loc, linear, bytes);
          Value part = arith::DivUIOp::create(b, loc, linear, bytes);
          Value at = arith::AddIOp::create(b, loc, inField, index(op.getOffset()));
          Value value = loadByte(b, loc, op.getPacked(), op.getIndices(), at);
          Value item = arith::AddIOp::create(b, loc, part, index(op.getFirst()));
          Value shift =
              arith::IndexCastOp::create(b, loc, b.getI8Type(), arith::MulIOp::create(b, loc, item, index(width)));
          Value moved = arith::ShRUIOp::create(b, loc, value, shift);
          Value ones = arith::ConstantIntOp::create(b, loc, b.getI8Type(), (1 << width) - 1);
          return arith::AndIOp::create(b, loc, moved, ones);
        }));
    return success();
  }
};

/// exp2(x) = exp(x ln 2).
struct PlainExp2 : OpRewritePattern<math::Exp2Op> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::Exp2Op op, PatternRewriter &rewriter) const override {
    Type type = op.getType();
    Value ln2 = arith::ConstantOp::create(rewriter, op.getLoc(), rewriter.getFloatAttr(type, 0.693147180559945309));
    Value scaled = arith::MulFOp::create(rewriter, op.getLoc(), op.getOperand(), ln2);
    rewriter.replaceOpWithNewOp<math::ExpOp>(op, scaled);
    return success();
  }
};

class CpuPlainLoops : public PassWrapper<CpuPlainLoops, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CpuPlainLoops)
  StringRef getArgument() const override { return "cpu-plain-loops"; }
  StringRef getDescription() const override { return "Turn a kernel into loops over single numbers"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    for (OpPassManager pipeline : {bufferize(), loops()})
      pipeline.getDependentDialects(registry);
    registry.insert<arith::ArithDialect, linalg::LinalgDialect, math::MathDialect, memref::MemRefDialect,
                    scf::SCFDialect, tensor::TensorDialect>();
  }

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    RewritePatternSet loads(&getContext());
    loads.add<PlainField, PlainBits>(&getContext());
    if (failed(rewriteWithBudget(kernel, std::move(loads), getArgument())))
      return signalPassFailure();
    OpPassManager first = bufferize(), second = loops();
    if (failed(runPipeline(first, kernel)))
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    kernel.walk([&](memref::CopyOp copy) {
      rewriter.setInsertionPoint(copy);
      linalg::makeMemRefCopyOp(rewriter, copy.getLoc(), copy.getSource(), copy.getTarget());
      rewriter.eraseOp(copy);
    });
    if (failed(runPipeline(second, kernel)))
      return signalPassFailure();
    RewritePatternSet functions(&getContext());
    functions.add<PlainExp2>(&getContext());
    populateMathPolynomialApproximationPatterns(functions);
    if (failed(rewriteWithBudget(kernel, std::move(functions), getArgument())))
      signalPassFailure();
  }

private:
  static OpPassManager bufferize() {
    OpPassManager pipeline(func::FuncOp::getOperationName());
    pipeline.addPass(createCpuBufferizePass());
    // Buffers in place leave copies of a buffer to itself, which these fold.
    pipeline.addPass(createCSEPass());
    pipeline.addPass(createCanonicalizer());
    return pipeline;
  }
  static OpPassManager loops() {
    OpPassManager pipeline(func::FuncOp::getOperationName());
    pipeline.addPass(createConvertLinalgToLoopsPass());
    return pipeline;
  }
};

} // namespace

std::unique_ptr<Pass> tilewright::createCpuPlainLoopsPass() { return std::make_unique<CpuPlainLoops>(); }
