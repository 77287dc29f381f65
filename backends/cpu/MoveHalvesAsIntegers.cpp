// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cpu-move-halves-as-integers: 16-bit floats that are only moved are i16. LLVM ends the process on some vectors of bf16
// and f16 whose number of elements is odd, and has integers of every width; what computes with the floats gets a
// bitcast.
#include "backends/cpu/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace {

bool isHalf(Type type) { return isa<BFloat16Type, Float16Type>(type); }

/// `type` with i16 for 16-bit floats; null where there is none.
Type moved(Type type) {
  Type i16 = IntegerType::get(type.getContext(), 16);
  if (isHalf(type))
    return i16;
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && isHalf(shaped.getElementType()) ? shaped.clone(i16) : Type();
}

bool isMove(Operation *op) {
  return isa<memref::MemRefDialect, scf::SCFDialect, ub::UBDialect, func::FuncDialect>(op->getDialect()) ||
         isa<arith::SelectOp, arith::ConstantOp, vector::BroadcastOp, vector::ShuffleOp, vector::ExtractOp,
             vector::InsertOp, vector::ExtractStridedSliceOp, vector::InsertStridedSliceOp, vector::ShapeCastOp,
             vector::TransposeOp, vector::LoadOp, vector::StoreOp, vector::TransferReadOp, vector::TransferWriteOp,
             vector::FromElementsOp, vector::ToElementsOp, vector::InterleaveOp, vector::DeinterleaveOp,
             UnrealizedConversionCastOp>(op);
}

class CpuMoveHalvesAsIntegers : public PassWrapper<CpuMoveHalvesAsIntegers, OperationPass<func::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CpuMoveHalvesAsIntegers)
  StringRef getArgument() const override { return "cpu-move-halves-as-integers"; }
  StringRef getDescription() const override { return "Move 16-bit floats as integers"; }
  void getDependentDialects(DialectRegistry &registry) const override { registry.insert<arith::ArithDialect>(); }

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    SmallVector<Operation *> moves, others;
    function.walk([&](Operation *op) { (isMove(op) ? moves : others).push_back(op); });
    // Between what moves and what computes.
    for (Operation *op : others) {
      OpBuilder b(op);
      for (OpOperand &operand : op->getOpOperands()) {
        Value value = operand.get();
        Operation *producer = value.getDefiningOp();
        if (moved(value.getType()) && !isa<MemRefType>(value.getType()) && (!producer || isMove(producer)))
          operand.set(arith::BitcastOp::create(b, op->getLoc(), value.getType(), value));
      }
      b.setInsertionPointAfter(op);
      for (Value result : op->getResults()) {
        Type type = moved(result.getType());
        if (!type || isa<MemRefType>(type))
          continue;
        SmallVector<OpOperand *> uses;
        for (OpOperand &use : result.getUses())
          if (isMove(use.getOwner()))
            uses.push_back(&use);
        if (uses.empty())
          continue;
        Value bits = arith::BitcastOp::create(b, op->getLoc(), type, result);
        for (OpOperand *use : uses)
          use->set(bits);
      }
    }
    auto retype = [](Value value) {
      if (Type type = moved(value.getType()))
        value.setType(type);
    };
    for (Operation *op : moves) {
      for (Value result : op->getResults())
        retype(result);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Value argument : block.getArguments())
            retype(argument);
      if (auto constant = dyn_cast<arith::ConstantOp>(op))
        if (auto attr = bitsOf(constant.getValue()))
          constant.setValueAttr(attr);
    }
    function.setFunctionType(
        FunctionType::get(&getContext(), function.front().getArgumentTypes(), function.getFunctionType().getResults()));
  }

private:
  static TypedAttr bitsOf(TypedAttr attr) {
    if (auto number = dyn_cast<FloatAttr>(attr)) {
      if (!isHalf(number.getType()))
        return {};
      return IntegerAttr::get(moved(number.getType()), number.getValue().bitcastToAPInt());
    }
    auto dense = dyn_cast<DenseElementsAttr>(attr);
    if (!dense || !isHalf(dense.getElementType()))
      return {};
    return dense.bitcast(moved(dense.getElementType()));
  }
};

} // namespace

std::unique_ptr<Pass> tilewright::createCpuMoveHalvesAsIntegersPass() {
  return std::make_unique<CpuMoveHalvesAsIntegers>();
}
