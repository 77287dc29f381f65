// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-pack-weights: weights take their canonical packed layout.
#include "passes/tile/Passes.h"

#include "ir/interfaces/Interfaces.h"
#include "ir/tw/PackedWeight.h"
#include "passes/api/Receipts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace tilewright {

namespace {

constexpr llvm::StringLiteral passFlag = "tile-pack-weights";

/// Whether the gather can read its table in packed form: rows of a matrix as f32, by ids that one dimension holds as
/// well.
bool readsPackedRows(tw::GatherOp op) {
  RankedTensorType table = op.getTable().getType(), ids = op.getIds().getType();
  return op.getType().getElementType().isF32() && table.hasStaticShape() && table.getRank() == 2 &&
         op.getBatchDims() == 0 && ids.getNumDynamicDims() <= 1;
}

/// Whether `op` reads its operand `number` in a packed layout.
bool readsPacked(Operation *op, unsigned number) {
  if (auto grouped = dyn_cast<tw::GroupedLinearOp>(op))
    return number == 1 && !grouped.getInOut();
  if (auto gather = dyn_cast<tw::GatherOp>(op))
    return number == 0 && readsPackedRows(gather);
  return isa<tw::LinearOp>(op) && number == 1;
}

/// Elements of these dimensions, dynamic if one of them is.
int64_t product(ArrayRef<int64_t> extents) {
  int64_t count = 1;
  for (int64_t extent : extents)
    count = ShapedType::isDynamic(extent) || ShapedType::isDynamic(count) ? ShapedType::kDynamic : count * extent;
  return count;
}

/// All rows one behind the other; of a weight those of all groups.
RankedTensorType matrix(RankedTensorType type) {
  return type.clone({product(type.getShape().drop_back()), type.getShape().back()});
}

/// Values that are one of the module's weights, from a linear map or gather back to their globals.
class PackedWeights {
public:
  /// Weights that stem from `unpacked` (globals, and arguments of functions that nobody calls) stay as they are.
  PackedWeights(ModuleOp module, const llvm::DenseSet<void *> &unpacked) : module(module), unpacked(unpacked) {
    module.walk([&](func::CallOp call) { calls[call.getCallee()].push_back(call); });
  }

  /// Whether `value` is a weight wherever it comes from, or an argument that nobody passes: not one that is computed.
  bool isWeight(Value value) const;
  /// Adds the weight `value` that `user` reads.
  LogicalResult add(Value value, Operation *user);
  /// A value found with a use that cannot read a packed weight, and that use; null when there is none.
  std::pair<Value, Operation *> otherUse();
  /// Where `value` comes from: globals, and arguments of functions that nobody calls.
  void rootsOf(Value value, llvm::DenseSet<void *> &roots) const;
  /// Retypes everything found.
  void pack();

private:
  /// [groups, blocks, bytes] of a weight of this type.
  FailureOr<RankedTensorType> packedType(Operation *user, RankedTensorType type);
  Operation *otherUseOf(Value value);

  ModuleOp module;
  const llvm::DenseSet<void *> &unpacked;
  llvm::StringMap<SmallVector<func::CallOp>> calls;
  llvm::SetVector<Value> values;
  llvm::SetVector<Operation *> globals;
};

FailureOr<RankedTensorType> PackedWeights::packedType(Operation *user, RankedTensorType type) {
  auto storage = dyn_cast<StorageType>(type.getElementType());
  if (!storage)
    return user->emitOpError("reads a weight of type ")
           << type << " whose element type has no packed layout (StorageType): a plugin is missing";
  LayoutDescriptor layout = storage.getLayout();
  if (type.getRank() == 3 && type.getDimSize(1) % layout.rowsPerGroup != 0)
    return user->emitOpError("reads a weight of type ") << type << " whose matrices have " << type.getDimSize(1)
                                                        << " rows, wanted a multiple of " << layout.rowsPerGroup;
  // The last block of a row of floats, or of other single elements, is filled up with zeros.
  ArrayRef<int64_t> shape = matrix(type).getShape();
  if (shape[1] % storage.getBlockElements() && !isa<FloatType>(type.getElementType()))
    return user->emitOpError("reads a weight of type ")
           << type << " whose rows are no multiple of the " << storage.getBlockElements() << " elements of a block of "
           << type.getElementType();
  return RankedTensorType::get({llvm::divideCeilSigned(shape[0], layout.rowsPerGroup),
                                llvm::divideCeilSigned(shape[1], layout.blockElements),
                                static_cast<int64_t>(layout.packedBlockBytes())},
                               IntegerType::get(type.getContext(), 8));
}

bool PackedWeights::isWeight(Value value) const {
  // Of nothing there is no packed layout, and of floats of 64 bits.
  auto type = cast<RankedTensorType>(value.getType());
  if ((type.hasStaticShape() && type.getNumElements() == 0) || type.getElementType().isF64())
    return false;
  if (value.getDefiningOp() && !isa<ml_program::GlobalLoadConstOp>(value.getDefiningOp()))
    return false;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    if (!function || !llvm::all_of(calls.lookup(function.getSymName()), [&](func::CallOp call) {
          return isWeight(call.getOperand(argument.getArgNumber()));
        }))
      return false;
  }
  llvm::DenseSet<void *> roots;
  rootsOf(value, roots);
  return llvm::none_of(roots, [&](void *root) { return unpacked.contains(root); });
}

void PackedWeights::rootsOf(Value value, llvm::DenseSet<void *> &roots) const {
  if (auto load = value.getDefiningOp<ml_program::GlobalLoadConstOp>()) {
    roots.insert(SymbolTable::lookupNearestSymbolFrom(load, load.getGlobal()));
    return;
  }
  auto argument = cast<BlockArgument>(value);
  SmallVector<func::CallOp> callers = calls.lookup(cast<func::FuncOp>(argument.getOwner()->getParentOp()).getSymName());
  if (callers.empty())
    roots.insert(value.getAsOpaquePointer());
  for (func::CallOp call : callers)
    rootsOf(call.getOperand(argument.getArgNumber()), roots);
}

LogicalResult PackedWeights::add(Value value, Operation *user) {
  if (!values.insert(value))
    return success();
  auto type = cast<RankedTensorType>(value.getType());
  if (const int64_t rank = isa<tw::GroupedLinearOp>(user) ? 3 : 2; type.getRank() != rank || !type.hasStaticShape())
    return user->emitOpError("reads a weight of type ") << type << ", wanted a static shape of rank " << rank;
  if (failed(packedType(user, type)))
    return failure();
  if (auto load = value.getDefiningOp<ml_program::GlobalLoadConstOp>()) {
    Operation *global = SymbolTable::lookupNearestSymbolFrom(load, load.getGlobal());
    globals.insert(global);
    return success();
  }
  auto argument = cast<BlockArgument>(value);
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  for (func::CallOp call : calls.lookup(function.getSymName()))
    if (failed(add(call.getOperand(argument.getArgNumber()), user)))
      return failure();
  return success();
}

Operation *PackedWeights::otherUseOf(Value value) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (readsPacked(user, use.getOperandNumber()))
      continue;
    if (auto call = dyn_cast<func::CallOp>(user)) {
      auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
      if (callee && !callee.isExternal() && values.contains(callee.getArgument(use.getOperandNumber())))
        continue;
    }
    return user;
  }
  return nullptr;
}

std::pair<Value, Operation *> PackedWeights::otherUse() {
  // Every load of a packed global is packed.
  module.walk([&](ml_program::GlobalLoadConstOp load) {
    if (globals.contains(SymbolTable::lookupNearestSymbolFrom(load, load.getGlobal())))
      values.insert(load.getResult());
  });
  for (Value value : values)
    if (Operation *user = otherUseOf(value))
      return {value, user};
  return {};
}

/// The gather of a row for each id.
static Operation *packGather(OpBuilder &b, tw::GatherOp op, Value table, TypeAttr element) {
  Location loc = op.getLoc();
  Value ids = op.getIds();
  RankedTensorType type = op.getType(), from = op.getIds().getType();
  bool flat = from.getRank() == 1;
  if (!flat)
    ids = tw::ReshapeOp::create(b, loc, from.clone({product(from.getShape())}), ids);
  auto packed = tw::PackedGatherOp::create(b, loc, matrix(type), table, ids, element);
  return flat ? packed.getOperation() : tw::ReshapeOp::create(b, loc, type, packed).getOperation();
}

/// The linear map on rows of a matrix.
static Operation *packLinear(OpBuilder &b, tw::LinearOp op, Value weight, TypeAttr element) {
  Value input = op.getInput();
  RankedTensorType type = op.getType(), from = op.getInput().getType();
  if (type.getRank() != 2)
    input = tw::ReshapeOp::create(b, op.getLoc(), matrix(from), input);
  auto packed =
      tw::PackedLinearOp::create(b, op.getLoc(), matrix(type), input, Value(), Value(), weight, op.getBias(), element);
  return type.getRank() == 2 ? packed.getOperation()
                             : tw::ReshapeOp::create(b, op.getLoc(), type, packed).getOperation();
}

void PackedWeights::pack() {
  SmallVector<Operation *> replaced;
  for (Value value : values)
    for (Operation *user : value.getUsers()) {
      OpBuilder b(user);
      auto type = cast<RankedTensorType>(value.getType());
      auto element = TypeAttr::get(type.getElementType());
      Operation *packed = nullptr;
      if (auto linear = dyn_cast<tw::LinearOp>(user))
        packed = packLinear(b, linear, value, element);
      else if (auto grouped = dyn_cast<tw::GroupedLinearOp>(user))
        packed = tw::PackedGroupedLinearOp::create(b, user->getLoc(), grouped.getType(), grouped.getInput(), Value(),
                                                   Value(), value, grouped.getOffsets(), grouped.getBias(), element);
      else if (auto gather = dyn_cast<tw::GatherOp>(user))
        packed = packGather(b, gather, value, element);
      if (!packed)
        continue;
      LayoutDescriptor layout = cast<StorageType>(type.getElementType()).getLayout();
      receipt::done(
          user, passFlag, "weights", "reads the weight in its packed layout " + layout.name,
          {{"layout", layout.name},
           {"weight", llvm::formatv("{0:$[x]}x{1}", llvm::make_range(type.getShape().begin(), type.getShape().end()),
                                    type.getElementType())}});
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
    global->setAttr("tw.shape", DenseI64ArrayAttr::get(global.getContext(), matrix(type).getShape()));
    global->setAttr("tw.layout",
                    StringAttr::get(global.getContext(), cast<StorageType>(type.getElementType()).getLayout().name));
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
}

class PackWeightsPass : public PassWrapper<PackWeightsPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PackWeightsPass)
  StringRef getArgument() const final { return passFlag; }
  StringRef getDescription() const final { return "gives weights their canonical packed layout"; }
  void getDependentDialects(DialectRegistry &registry) const override { registry.insert<tw::TwDialect>(); }

  void runOnOperation() override {
    // A weight of floats that other ops read too has no packed layout, and with it all that it stands for.
    llvm::DenseSet<void *> unpacked;
    while (true) {
      PackedWeights weights(getOperation(), unpacked);
      if (failed(collect(weights)))
        return signalPassFailure();
      auto [value, user] = weights.otherUse();
      if (!value)
        return weights.pack();
      if (!isa<FloatType>(cast<RankedTensorType>(value.getType()).getElementType())) {
        user->emitOpError("reads a packed weight of type ")
            << value.getType() << ", which only tw.linear, tw.grouped_linear and tw.gather can";
        return signalPassFailure();
      }
      weights.rootsOf(value, unpacked);
    }
  }

private:
  LogicalResult collect(PackedWeights &weights) {
    WalkResult walked = getOperation().walk([&](Operation *op) {
      Value weight;
      if (auto linear = dyn_cast<tw::LinearOp>(op))
        weight = linear.getWeight();
      // Matrices [in, out] stay as they are, and those of floats that do not end with a group of packed rows.
      else if (auto grouped = dyn_cast<tw::GroupedLinearOp>(op);
               grouped && !grouped.getInOut() &&
               (grouped.getOut() % tw::kPackedGroupRows == 0 ||
                !isa<FloatType>(grouped.getWeight().getType().getElementType())))
        weight = grouped.getWeight();
      // A table with dynamic rows is an activation.
      else if (auto gather = dyn_cast<tw::GatherOp>(op); gather && readsPackedRows(gather))
        weight = gather.getTable();
      // What is computed has no packed layout; ops on plain tensors read it.
      return weight && weights.isWeight(weight) && failed(weights.add(weight, op)) ? WalkResult::interrupt()
                                                                                   : WalkResult::advance();
    });
    return failure(walked.wasInterrupted());
  }
};

} // namespace

std::unique_ptr<Pass> createTilePackWeightsPass() { return std::make_unique<PackWeightsPass>(); }

} // namespace tilewright
