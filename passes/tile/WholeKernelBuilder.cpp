// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// KernelBuilder over a KernelFunction.
#include "passes/tile/GroupKernel.h"

#include "ir/interfaces/Interfaces.h"
#include "ir/tw/RowCount.h"
#include "ir/tw/Tw.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilewright {

namespace {

class WholeKernelBuilder final : public KernelBuilder {
public:
  WholeKernelBuilder(Operation *op, const KernelForm &form, KernelFunction &kernel)
      : op(op), form(form), kernel(kernel) {}

  OpBuilder &builder() override { return kernel.builder(); }
  Location loc() override { return kernel.function().getLoc(); }
  const ShapeClass &shapeClass() const override { return form.shapeClass; }
  StringRef numerics() const override { return form.numerics; }

  Value tensor(Value value) override {
    Value input = kernel.input(value);
    failed |= !input;
    return input;
  }

  Value statePool(Value value, unsigned index) override {
    auto type = cast<tw::StateType>(value.getType());
    RankedTensorType buffer = type.getBuffers()[index];
    int64_t heads = buffer.getDimSize(1), dim = buffer.getDimSize(2);
    SmallVector<int64_t> shape = {ShapedType::kDynamic, heads, dim, kPageTokens};
    if (!isTransposedBuffer(index))
      std::swap(shape[2], shape[3]);
    Type element = buffer.getElementType();
    if (form.bf16States && element.isF32()) {
      element = builder().getBF16Type();
      shape[2] = llvm::divideCeil(shape[2], 2);
      shape.push_back(2);
    }
    return kernel.statePool(value, index, MemRefType::get(shape, element));
  }

  Value table(StepTable table, bool ofSource) override { return kernel.table(table, ofSource); }

  Value rows(Value value) override {
    auto type = cast<RankedTensorType>(value.getType());
    if (!type.isDynamicDim(0))
      return arith::ConstantIndexOp::create(builder(), loc(), type.getDimSize(0));
    return kernel.symbol(kernel.rowSymbols().of(value));
  }

  Value filledRows(Value value) override {
    tw::RowCount count = tw::RowCount::parse(kernel.rowSymbols().of(value));
    // Rows of logits are padded by copies of a real one.
    if (count.base != "N" || !cast<RankedTensorType>(value.getType()).isDynamicDim(0))
      return rows(value);
    return kernel.symbol(tw::RowCount{"rows", count.factor}.name());
  }

  Value destination(unsigned index) override {
    Value destination = kernel.output(op->getResult(index));
    failed |= !destination;
    return destination;
  }

  ValueRange forChunks(ValueRange inits, llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) override {
    OpBuilder &b = builder();
    Value one = arith::ConstantIndexOp::create(b, loc(), 1);
    auto loop = scf::ForOp::create(b, loc(), kernel.begin(), kernel.end(), one, inits);
    OpBuilder::InsertionGuard guard(b);
    if (inits.empty())
      b.setInsertionPoint(loop.getBody()->getTerminator());
    else
      b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> yielded = body(loop.getInductionVar(), loop.getRegionIterArgs());
    if (!inits.empty())
      scf::YieldOp::create(b, loc(), yielded);
    return loop.getResults();
  }

  void setChunks(Count count, int64_t divisor, int64_t factor) override {
    auto of = static_cast<StepCount>(static_cast<int>(count));
    kernel.setChunks(stepCount(of, op->getContext()).floorDiv(divisor) * factor);
  }

  void setChunks(int64_t count) override { kernel.setChunks(getAffineConstantExpr(count, op->getContext())); }

  void setRowChunks(Value value, int64_t divisor, int64_t factor) override {
    if (auto type = cast<RankedTensorType>(value.getType()); !type.isDynamicDim(0))
      return setChunks(type.getDimSize(0) / divisor * factor);
    tw::RowCount rows = tw::RowCount::parse(kernel.rowSymbols().of(value));
    StepCount of = rows.base == "R" ? StepCount::LogitRows : StepCount::PaddedRows;
    kernel.setChunks((stepCount(of, op->getContext()) * rows.factor).floorDiv(divisor) * factor);
  }

  void finish(unsigned index, Value value) override { kernel.finish(op->getResult(index), value); }

  /// Whether an argument could not be made; reported already.
  bool failed = false;

private:
  Operation *op;
  const KernelForm &form;
  KernelFunction &kernel;
};

} // namespace

LogicalResult buildWholeKernel(Operation *op, const KernelForm &form, KernelFunction &kernel) {
  WholeKernelBuilder builder(op, form, kernel);
  if (failed(cast<WholeKernel>(op).buildKernel(builder)) || builder.failed)
    return failure();
  for (Value result : op->getResults())
    if (isa<tw::StateType>(result.getType()))
      kernel.stateResult(result);
  return success();
}

} // namespace tilewright
