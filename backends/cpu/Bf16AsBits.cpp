// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cpu-bf16-as-bits: where the level has no instructions for bf16, its numbers are 16-bit integers. LLVM has no such
// registers there: it would take vectors apart and call a function of the compiler's runtime for each number. Kernels
// move, choose and widen bf16; sums are of f32.
#include "backends/cpu/LevelOption.h"
#include "backends/cpu/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace tilewright;

namespace {

/// `type` with another element, if it has elements.
Type withElement(Type type, Type element) {
  if (auto memref = dyn_cast<MemRefType>(type))
    return MemRefType::Builder(memref).setElementType(element);
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(element);
  return element;
}

class BitsConverter : public TypeConverter {
public:
  BitsConverter() {
    addConversion([](Type type) -> Type {
      if (!getElementTypeOrSelf(type).isBF16())
        return type;
      return withElement(type, IntegerType::get(type.getContext(), 16));
    });
  }
};

/// The numbers of an attribute as their bits.
Attribute bitsOf(Attribute attr) {
  Type i16 = IntegerType::get(attr.getContext(), 16);
  if (auto number = dyn_cast<FloatAttr>(attr); number && number.getType().isBF16())
    return IntegerAttr::get(i16, number.getValue().bitcastToAPInt());
  if (auto numbers = dyn_cast<DenseElementsAttr>(attr); numbers && numbers.getElementType().isBF16())
    return numbers.bitcast(i16);
  return attr;
}

/// Ops that only move numbers work on bits as they are.
struct Move : ConversionPattern {
  Move(const TypeConverter &types, MLIRContext *context) : ConversionPattern(types, MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const override {
    if (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) && !isa<arith::ConstantOp, arith::SelectOp>(op))
      return op->emitOpError("calculates in bf16; kernels calculate in f32");
    OperationState state(op->getLoc(), op->getName());
    state.addOperands(operands);
    SmallVector<Type> results;
    if (failed(getTypeConverter()->convertTypes(op->getResultTypes(), results)))
      return failure();
    state.addTypes(results);
    for (NamedAttribute attr : op->getAttrs())
      state.addAttribute(attr.getName(), bitsOf(attr.getValue()));
    for (unsigned i = 0; i < op->getNumRegions(); ++i)
      state.addRegion();
    Operation *moved = rewriter.create(state);
    for (auto [from, to] : llvm::zip_equal(op->getRegions(), moved->getRegions())) {
      rewriter.inlineRegionBefore(from, to, to.end());
      if (failed(rewriter.convertRegionTypes(&to, *getTypeConverter())))
        return failure();
    }
    rewriter.replaceOp(op, moved);
    return success();
  }
};

struct Bitcast : OpConversionPattern<arith::BitcastOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(arith::BitcastOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getIn());
    return success();
  }
};

/// bf16 is the upper half of f32.
struct Widen : OpConversionPattern<arith::ExtFOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Type i32 = withElement(op.getType(), rewriter.getI32Type());
    TypedAttr sixteen = rewriter.getI32IntegerAttr(16);
    if (auto shaped = dyn_cast<ShapedType>(i32))
      sixteen = DenseElementsAttr::get(shaped, Attribute(sixteen));
    Value wide = arith::ExtUIOp::create(rewriter, op.getLoc(), i32, adaptor.getIn());
    Value high =
        arith::ShLIOp::create(rewriter, op.getLoc(), wide, arith::ConstantOp::create(rewriter, op.getLoc(), sixteen));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), high);
    return success();
  }
};

class CpuBf16AsBits : public CpuLevelPass<CpuBf16AsBits> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CpuBf16AsBits)
  using CpuLevelPass::CpuLevelPass;
  StringRef getArgument() const override { return "cpu-bf16-as-bits"; }
  StringRef getDescription() const override { return "Keep bf16 numbers in 16-bit integers"; }
  void getDependentDialects(DialectRegistry &registry) const override { registry.insert<arith::ArithDialect>(); }

  void runOnOperation() override {
    if (level->dotProductBf16)
      return;
    BitsConverter types;
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal([&](Operation *op) {
      if (auto function = dyn_cast<func::FuncOp>(op))
        return types.isSignatureLegal(function.getFunctionType());
      return types.isLegal(op) &&
             llvm::all_of(op->getRegions(), [&](Region &region) { return types.isLegal(&region); });
    });
    RewritePatternSet patterns(&getContext());
    patterns.add<Move>(types, &getContext());
    patterns.add<Bitcast, Widen>(types, &getContext(), /*benefit=*/2);
    populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns, types);
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> tilewright::createCpuBf16AsBitsPass(const CpuLevel *level) {
  return std::make_unique<CpuBf16AsBits>(level);
}
