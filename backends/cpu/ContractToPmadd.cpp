// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cpu-contract-to-pmadd: a contraction of bytes in quads on AVX2.
//
// `vpmaddubsw` adds two products of an unsigned and a signed byte with saturation at 16 bits: 2 * 127 * 128 = 32512
// fits, 2 * 255 * 128 does not. So it is used only where the unsigned operand is provably at most 127 (the result of a
// mask or a shift); the smaller it is, the more of these sums are added in 16 bits (8 for nibbles: 8 * 2 * 15 * 128 =
// 30720) before `vpmaddwd` widens them. Otherwise even and odd bytes are widened to 16 bits, and `vpmaddwd` is exact.
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
constexpr unsigned kLargestWord = 32767;

/// The largest number that a byte of `value`, read as unsigned, provably can be.
unsigned largestByte(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getZExtValue();
  Operation *op = value.getDefiningOp();
  if (auto cast = dyn_cast_if_present<vector::ShapeCastOp>(op))
    return largestByte(cast.getSource());
  if (auto mask = dyn_cast_if_present<arith::AndIOp>(op))
    return std::min(largestByte(mask.getLhs()), largestByte(mask.getRhs()));
  if (auto shift = dyn_cast_if_present<arith::ShRUIOp>(op))
    return matchPattern(shift.getRhs(), m_ConstantInt(&constant)) ? 255u >> constant.getLimitedValue(8) : 255u;
  if (auto part = dyn_cast_if_present<vector::InsertStridedSliceOp>(op))
    return std::max(largestByte(part.getValueToStore()), largestByte(part.getDest()));
  return 255;
}

struct ToPmadd : OpRewritePattern<vector::ContractionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::ContractionOp op, PatternRewriter &rewriter) const override {
    std::optional<ContractOperands> operands = analyzeContract(op);
    if (!operands || operands->dims.form != ContractionForm::I8x4 || operands->rowLanes % kLanes != 0)
      return failure();
    unsigned largest = operands->leftUnsigned == operands->rightUnsigned
                           ? 255
                           : largestByte(operands->rightUnsigned ? operands->right : operands->left);
    Value result = 256 * largest <= kLargestWord
                       ? inBytes(op, *operands, kLargestWord / (256 * std::max(largest, 1u)), rewriter)
                       : inWords(op, *operands, rewriter);
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  /// Sums of one row that have not been widened to 32 bits yet.
  struct Pending {
    SmallVector<Value> pairs; ///< per chunk of the row, 16-bit
    int64_t steps = 0, total = 0;
  };

  /// Products of bytes, `group` steps added in 16 bits before one step widens them.
  static Value inBytes(vector::ContractionOp op, const ContractOperands &operands, int64_t group,
                       PatternRewriter &rewriter) {
    Location loc = op.getLoc();
    LeftItems left(rewriter, operands);
    RightRows right(rewriter, loc, operands);
    auto words = VectorType::get({2 * kLanes}, rewriter.getI16Type());
    auto bytes = VectorType::get({4 * kLanes}, rewriter.getI8Type());
    Value ones = arith::ConstantOp::create(rewriter, loc, DenseElementsAttr::get(words, rewriter.getI16IntegerAttr(1)));
    SmallVector<int64_t> extents;
    op.getIterationBounds(extents);
    int64_t steps = 1;
    for (unsigned dim : operands.dims.k)
      steps *= extents[dim];
    llvm::DenseMap<Value, Pending> rows;
    return expandContract(rewriter, op, operands, [&](Value row, ArrayRef<int64_t> l, ArrayRef<int64_t> r) -> Value {
      Pending pending = rows.lookup(row);
      Value item = splatItem(rewriter, loc, left.get(l), kLanes, bytes);
      for (int64_t lane = 0; lane < operands.rowLanes; lane += kLanes) {
        Value weights = right.get(r, lane, kLanes);
        Value a = operands.rightUnsigned ? weights : item, b = operands.rightUnsigned ? item : weights;
        Value pairs = call(rewriter, loc, "llvm.x86.avx2.pmadd.ub.sw", words, {a, b});
        size_t chunk = lane / kLanes;
        if (chunk == pending.pairs.size())
          pending.pairs.push_back(pairs);
        else
          pending.pairs[chunk] = arith::AddIOp::create(rewriter, loc, pending.pairs[chunk], pairs);
      }
      ++pending.total;
      if (++pending.steps == group || pending.total == steps) {
        rows.erase(row);
        row = updateInChunks(rewriter, loc, row, kLanes, [&](int64_t lane, Value acc) -> Value {
          return arith::AddIOp::create(rewriter, loc, acc,
                                       maddWords(rewriter, loc, pending.pairs[lane / kLanes], ones));
        });
        pending.pairs.clear();
        pending.steps = 0;
      }
      rows[row] = pending;
      return row;
    });
  }

  /// Products of even and of odd bytes, widened to words.
  static Value inWords(vector::ContractionOp op, const ContractOperands &operands, PatternRewriter &rewriter) {
    Location loc = op.getLoc();
    LeftItems left(rewriter, operands);
    RightRows right(rewriter, loc, operands);
    auto bytes = VectorType::get({4 * kLanes}, rewriter.getI8Type());
    return expandContract(rewriter, op, operands, [&](Value row, ArrayRef<int64_t> l, ArrayRef<int64_t> r) {
      Value item = splatItem(rewriter, loc, left.get(l), kLanes, bytes);
      return updateInChunks(rewriter, loc, row, kLanes, [&](int64_t lane, Value acc) -> Value {
        Value weights = right.get(r, lane, kLanes);
        for (bool odd : {false, true}) {
          Value a = widen(rewriter, loc, weights, odd, operands.rightUnsigned);
          Value b = widen(rewriter, loc, item, odd, operands.leftUnsigned);
          acc = arith::AddIOp::create(rewriter, loc, acc, maddWords(rewriter, loc, a, b));
        }
        return acc;
      });
    });
  }

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
    Value eight =
        arith::ConstantOp::create(rewriter, loc, DenseElementsAttr::get(words, rewriter.getI16IntegerAttr(8)));
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
