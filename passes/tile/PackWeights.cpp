// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-pack-weights: weights take their canonical packed layout.
#include "passes/tile/Passes.h"

#include "ir/interfaces/Interfaces.h"
#include "ir/tw/Tw.h"
#include "passes/api/Receipts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace tilewright {

namespace {

constexpr llvm::StringLiteral passFlag = "tile-pack-weights";

/// Values that are one of the module's weights of rank 2, from a linear map or gather back to their globals.
class PackedWeights {
public:
  explicit PackedWeights(ModuleOp module) : module(module) {
    module.walk([&](func::CallOp call) { calls[call.getCallee()].push_back(call); });
  }

  /// Adds the weight `value` that `user` reads.
  LogicalResult add(Value value, Operation *user);
  /// Retypes everything found.
  LogicalResult pack();

private:
  /// [groups, blocks, bytes] of a weight of this type.
  FailureOr<RankedTensorType> packedType(Operation *user, RankedTensorType type);
  LogicalResult checkUses(Value value);

  ModuleOp module;
  llvm::StringMap<SmallVector<func::CallOp>> calls;
  llvm::SetVector<Value> values;
  llvm::SetVector<Operation *> globals;
};

FailureOr<RankedTensorType> PackedWeights::packedType(Operation *user, RankedTensorType type) {
  auto storage = dyn_cast<StorageType>(type.getElementType());
  if (!storage)
    return user->emitOpError("reads a weight of type ")
           << type << " whose element type has no packed layout (StorageType): a plugin is missing";
  if (type.getRank() != 2 || !type.hasStaticShape())
    return user->emitOpError("reads a weight of type ") << type << ", wanted a static shape of rank 2";
  LayoutDescriptor layout = storage.getLayout();
  if (type.getDimSize(1) % layout.blockElements)
    return user->emitOpError("reads a weight of type ")
           << type << " whose rows are no multiple of the " << layout.blockElements << " elements of a block of "
           << type.getElementType();
  return RankedTensorType::get({llvm::divideCeilSigned(type.getDimSize(0), layout.rowsPerGroup),
                                type.getDimSize(1) / static_cast<int64_t>(layout.blockElements),
                                static_cast<int64_t>(layout.packedBlockBytes())},
                               IntegerType::get(type.getContext(), 8));
}

LogicalResult PackedWeights::add(Value value, Operation *user) {
  if (!values.insert(value))
    return success();
  if (failed(packedType(user, cast<RankedTensorType>(value.getType()))))
    return failure();
  if (auto load = value.getDefiningOp<ml_program::GlobalLoadConstOp>()) {
    Operation *global = SymbolTable::lookupNearestSymbolFrom(load, load.getGlobal());
    globals.insert(global);
    return success();
  }
  auto argument = dyn_cast<BlockArgument>(value);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : nullptr;
  if (!function)
    return user->emitOpError("reads a weight that is computed, wanted one of the model's weights");
  for (func::CallOp call : calls.lookup(function.getSymName()))
    if (failed(add(call.getOperand(argument.getArgNumber()), user)))
      return failure();
  return success();
}

LogicalResult PackedWeights::checkUses(Value value) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (auto linear = dyn_cast<tw::LinearOp>(user); linear && use.get() == linear.getWeight() && use.getOperandNumber() == 1)
      continue;
    if (isa<tw::GatherOp>(user) && use.getOperandNumber() == 0)
      continue;
    if (auto call = dyn_cast<func::CallOp>(user)) {
      auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
      if (callee && !callee.isExternal() && values.contains(callee.getArgument(use.getOperandNumber())))
        continue;
    }
    return user->emitOpError("reads a packed weight of type ")
           << value.getType() << ", which only tw.linear and tw.gather can";
  }
  return success();
}

LogicalResult PackedWeights::pack() {
  // Every load of a packed global is packed.
  module.walk([&](ml_program::GlobalLoadConstOp load) {
    if (globals.contains(SymbolTable::lookupNearestSymbolFrom(load, load.getGlobal())))
      values.insert(load.getResult());
  });
  for (Value value : values)
    if (failed(checkUses(value)))
      return failure();

  SmallVector<Operation *> replaced;
  for (Value value : values)
    for (Operation *user : value.getUsers()) {
      OpBuilder b(user);
      auto type = cast<RankedTensorType>(value.getType());
      auto element = TypeAttr::get(type.getElementType());
      Operation *packed = nullptr;
      if (auto linear = dyn_cast<tw::LinearOp>(user))
        packed = tw::PackedLinearOp::create(b, user->getLoc(), linear.getType(), linear.getInput(), Value(), Value(), value,
                                            linear.getBias(), element);
      else if (auto gather = dyn_cast<tw::GatherOp>(user))
        packed = tw::PackedGatherOp::create(b, user->getLoc(), gather.getType(), value, gather.getIds(), element);
      if (!packed)
        continue;
      LayoutDescriptor layout = cast<StorageType>(type.getElementType()).getLayout();
      receipt::done(user, passFlag, "weights", "reads the weight in its packed layout " + layout.name,
                    {{"layout", layout.name},
                     {"weight", llvm::formatv("{0}x{1}x{2}", type.getDimSize(0), type.getDimSize(1), type.getElementType())}});
      user->replaceAllUsesWith(packed);
      replaced.push_back(user);
    }
  for (Operation *op : replaced)
    op->erase();

  for (Operation *op : globals) {
    auto global = cast<ml_program::GlobalOp>(op);
    auto type = cast<RankedTensorType>(global.getType());
    RankedTensorType packed = *packedType(global, type);
    global->setAttr("tw.element", TypeAttr::get(type.getElementType()));
    global->setAttr("tw.shape", DenseI64ArrayAttr::get(global.getContext(), type.getShape()));
    global->setAttr("tw.layout", StringAttr::get(global.getContext(), cast<StorageType>(type.getElementType()).getLayout().name));
    global.setType(packed);
    if (isa_and_present<ml_program::ExternAttr>(global.getValueAttr()))
      global.setValueAttr(ml_program::ExternAttr::get(global.getContext(), packed));
  }
  for (Value value : values) {
    value.setType(*packedType(module, cast<RankedTensorType>(value.getType())));
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
      function.setType(FunctionType::get(function.getContext(), function.front().getArgumentTypes(),
                                         function.getFunctionType().getResults()));
    }
  }
  return success();
}

class PackWeightsPass : public PassWrapper<PackWeightsPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PackWeightsPass)
  StringRef getArgument() const final { return passFlag; }
  StringRef getDescription() const final { return "gives weights their canonical packed layout"; }
  void getDependentDialects(DialectRegistry &registry) const override { registry.insert<tw::TwDialect>(); }

  void runOnOperation() override {
    PackedWeights weights(getOperation());
    WalkResult walked = getOperation().walk([&](Operation *op) {
      Value weight;
      if (auto linear = dyn_cast<tw::LinearOp>(op))
        weight = linear.getWeight();
      // A table with dynamic rows is an activation.
      else if (auto gather = dyn_cast<tw::GatherOp>(op);
               gather && cast<RankedTensorType>(gather.getTable().getType()).hasStaticShape())
        weight = gather.getTable();
      return weight && failed(weights.add(weight, op)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (walked.wasInterrupted() || failed(weights.pack()))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> createTilePackWeightsPass() { return std::make_unique<PackWeightsPass>(); }

} // namespace tilewright
