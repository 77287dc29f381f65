// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plugins of one pass that breaks what a model computes, at the stage that its fault's name begins with:
// `verify --bisect` must find it.
#include "plugins/api/Plugin.h"
#include "plugins/api/PluginNote.h"
#include "tests/conformance/broken/Fault.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace tilewright;
using tilewright::broken::isFault;

TILEWRIGHT_PLUGIN_NOTE("", "pass:broken-stage")

namespace {

/// An f32 constant that is neither 0 nor 1 nor infinite: not a start value.
bool isPlainNumber(arith::ConstantOp op) {
  auto value = dyn_cast<FloatAttr>(op.getValue());
  return value && value.getType().isF32() && value.getValue().isFiniteNonZero() &&
         !value.getValue().isExactlyValue(1.0);
}

struct BreakStage : PassWrapper<BreakStage, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BreakStage)
  StringRef getArgument() const final { return "broken-stage"; }
  StringRef getDescription() const final { return "Breaks what the model computes"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<arith::ArithDialect, LLVM::LLVMDialect>();
  }

  void runOnOperation() final {
    getOperation().walk([&](Operation *op) { return breakOp(op) ? WalkResult::interrupt() : WalkResult::advance(); });
  }

private:
  /// Breaks `op` if it is of the kind that the fault is about; one is enough.
  static bool breakOp(Operation *op) {
    Builder b(op);
    if (isFault("fuse_changes_scale")) {
      auto scale = op->getAttrOfType<FloatAttr>("scale");
      if (scale)
        op->setAttr("scale", b.getFloatAttr(scale.getType(), 1.25 * scale.getValueAsDouble()));
      return scale != nullptr;
    }
    if (isFault("tile_changes_constant")) {
      auto constant = dyn_cast<arith::ConstantOp>(op);
      if (!constant || !isPlainNumber(constant))
        return false;
      auto value = cast<FloatAttr>(constant.getValue());
      constant.setValueAttr(b.getFloatAttr(value.getType(), 1.25 * value.getValueAsDouble()));
      return true;
    }
    if (isFault("tile_drops_mask")) {
      // The scores that a mask leaves out are -inf, or what stands for it.
      auto select = dyn_cast<arith::SelectOp>(op);
      FloatAttr hidden;
      if (!select || !matchPattern(select.getFalseValue(), m_Constant(&hidden)) || !hidden.getValue().isNegative())
        return false;
      select.replaceAllUsesWith(select.getTrueValue());
      return true;
    }
    if (isFault("bufferize_adds_for_product")) {
      auto product = dyn_cast<arith::MulFOp>(op);
      if (!product)
        return false;
      OpBuilder at(op);
      product.replaceAllUsesWith(
          arith::AddFOp::create(at, op->getLoc(), product.getLhs(), product.getRhs()).getResult());
      return true;
    }
    auto product = isFault("lower_adds_for_product") ? dyn_cast<LLVM::FMulOp>(op) : LLVM::FMulOp();
    if (!product)
      return false;
    OpBuilder at(op);
    product.replaceAllUsesWith(LLVM::FAddOp::create(at, op->getLoc(), product.getLhs(), product.getRhs()).getResult());
    return true;
  }
};

} // namespace

extern "C" const tw_plugin *tilewrightPlugin() {
  static const tw_plugin plugin = {sizeof(tw_plugin),
                                   TILEWRIGHT_PLUGIN_API_VERSION,
                                   TILEWRIGHT_PLUGIN_NAME,
                                   TILEWRIGHT_PLUGIN_VERSION,
                                   [](tw_dialect_registry *) {},
                                   [](tw_stage_registry *registry) {
                                     registry->add({StringRef(tilewrightFault).split('_').first.str(),
                                                    "broken-stage",
                                                    {},
                                                    {},
                                                    {},
                                                    [](const PipelineOptions &) -> std::unique_ptr<Pass> {
                                                      return std::make_unique<BreakStage>();
                                                    }});
                                   }};
  return &plugin;
}
