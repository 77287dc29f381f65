// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cpu-contract-to-pmadd: a contraction of bytes in quads on AVX2.
//
// `vpmaddubsw` adds two products of an unsigned and a signed byte with saturation at 16 bits: 2 * 127 * 128 = 32512 fits,
// 2 * 255 * 128 does not. So it is used only where the unsigned operand is provably at most 127 (the result of a mask or
// a shift); otherwise even and odd bytes are widened to 16 bits, and `vpmaddwd` is exact.
#include "backends/cpu/ContractSteps.h"
#include "backends/cpu/Passes.h"
#include "backends/cpu/Rewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;

namespace {

constexpr int64_t kLanes = 8;

/// Is every byte of `value` at most 127 when read as unsigned?
bool atMost127(Value value) {
  while (auto cast = value.getDefiningOp<vector::ShapeCastOp>())
    value = cast.getSource();
  APInt constant;
  if (auto mask = value.getDefiningOp<arith::AndIOp>())
    return (matchPattern(mask.getRhs(), m_ConstantInt(&constant)) && constant.isNonNegative()) ||
           (matchPattern(mask.getLhs(), m_ConstantInt(&constant)) && constant.isNonNegative()) ||
           atMost127(mask.getLhs()) || atMost127(mask.getRhs());
  if (auto shift = value.getDefiningOp<arith::ShRUIOp>())
    return matchPattern(shift.getRhs(), m_ConstantInt(&constant)) && !constant.isZero();
  if (auto part = value.getDefiningOp<vector::InsertStridedSliceOp>())
    return atMost127(part.getValueToStore()) && atMost127(part.getDest());
  return matchPattern(value, m_ConstantInt(&constant)) && constant.isNonNegative();
}

struct ToPmadd : OpRewritePattern<vector::ContractionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::ContractionOp op, PatternRewriter &rewriter) const override {
    std::optional<ContractOperands> operands = analyzeContract(op);
    if (!operands || operands->dims.form != ContractionForm::I8x4 || operands->rowLanes % kLanes != 0)
      return failure();
    Location loc = op.getLoc();
    bool exactInBytes = operands->leftUnsigned != operands->rightUnsigned &&
                        atMost127(operands->rightUnsigned ? operands->right : operands->left);
    LeftItems left(rewriter, *operands);
    RightRows right(rewriter, loc, *operands);
    auto words = VectorType::get({2 * kLanes}, rewriter.getI16Type());
    auto bytes = VectorType::get({4 * kLanes}, rewriter.getI8Type());
    Value ones = arith::ConstantOp::create(rewriter, loc, DenseElementsAttr::get(words, rewriter.getI16IntegerAttr(1)));
    Value result = expandContract(rewriter, op, *operands, [&](Value row, ArrayRef<int64_t> l, ArrayRef<int64_t> r) {
      Value item = splatItem(rewriter, loc, left.get(l), kLanes, bytes);
      return updateInChunks(rewriter, loc, row, kLanes, [&](int64_t lane, Value acc) -> Value {
        Value weights = right.get(r, lane, kLanes);
        if (exactInBytes) {
          Value a = operands->rightUnsigned ? weights : item, b = operands->rightUnsigned ? item : weights;
          Value pairs = call(rewriter, loc, "llvm.x86.avx2.pmadd.ub.sw", words, {a, b});
          return arith::AddIOp::create(rewriter, loc, acc, maddWords(rewriter, loc, pairs, ones));
        }
        for (bool odd : {false, true}) {
          Value a = widen(rewriter, loc, weights, odd, operands->rightUnsigned);
          Value b = widen(rewriter, loc, item, odd, operands->leftUnsigned);
          acc = arith::AddIOp::create(rewriter, loc, acc, maddWords(rewriter, loc, a, b));
        }
        return acc;
      });
    });
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  static Value call(PatternRewriter &rewriter, Location loc, StringRef name, Type type, ValueRange operands) {
    return LLVM::CallIntrinsicOp::create(rewriter, loc, type, rewriter.getStringAttr(name), operands).getResult(0);
  }

  static Value maddWords(PatternRewriter &rewriter, Location loc, Value a, Value b) {
    return call(rewriter, loc, "llvm.x86.avx2.pmadd.wd", VectorType::get({kLanes}, rewriter.getI32Type()), {a, b});
  }

  /// The even or odd bytes of each 16-bit lane, widened to it.
  static Value widen(PatternRewriter &rewriter, Location loc, Value bytes, bool odd, bool isUnsigned) {
    auto words = VectorType::get({2 * kLanes}, rewriter.getI16Type());
    Value value = vector::BitCastOp::create(rewriter, loc, words, bytes);
    Value eight = arith::ConstantOp::create(rewriter, loc, DenseElementsAttr::get(words, rewriter.getI16IntegerAttr(8)));
    if (!odd)
      value = arith::ShLIOp::create(rewriter, loc, value, eight);
    if (isUnsigned)
      return arith::ShRUIOp::create(rewriter, loc, value, eight);
    return arith::ShRSIOp::create(rewriter, loc, value, eight);
  }
};

class CpuContractToPmadd : public PassWrapper<CpuContractToPmadd, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CpuContractToPmadd)
  StringRef getArgument() const override { return "cpu-contract-to-pmadd"; }
  StringRef getDescription() const override { return "Expand byte contractions into vpmaddubsw and vpmaddwd"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, memref::MemRefDialect, vector::VectorDialect, LLVM::LLVMDialect>();
  }
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ToPmadd>(&getContext());
    if (failed(rewriteWithBudget(getOperation(), std::move(patterns), getArgument())))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> tilewright::createCpuContractToPmaddPass() { return std::make_unique<CpuContractToPmadd>(); }
