// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/api/ProgramPlan.h"

#include "ir/tw/RowCount.h"
#include "ir/tw/Tw.h"
#include "passes/bufferize/InterferencePlan.h"

using namespace mlir;

namespace tilewright {
namespace {

constexpr uint64_t bufferAlignment = 64;

struct UnitSize {
  ArenaRegion region;
  uint64_t bytes; // per unit of the region
};

class Planner {
public:
  explicit Planner(ModuleOp module) : module(module), symbols(module) {}

  FailureOr<ProgramPlan> run() {
    for (auto function : module.getOps<func::FuncOp>())
      if (isProgram(function) && failed(planFunction(function)))
        return failure();
    return std::move(plan);
  }

private:
  static bool isProgram(func::FuncOp function) {
    return !function.isExternal() &&
           llvm::any_of(function.getOps(), [](Operation &op) { return isa<tw::DispatchOp, func::CallOp>(op); });
  }

  // The last step that reads `value`, itself or through a view.
  static uint32_t lastUse(Value value, const llvm::DenseMap<Operation *, uint32_t> &step) {
    uint32_t last = step.lookup(value.getDefiningOp());
    for (Operation *user : value.getUsers()) {
      last = std::max(last, step.lookup(user));
      if (auto view = dyn_cast<tw::ReshapeOp>(user))
        last = std::max(last, lastUse(view.getResult(), step));
    }
    return last;
  }

  FailureOr<UnitSize> unitSize(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    uint64_t bytes = (type.getElementTypeBitWidth() + 7) / 8;
    for (auto [index, size] : llvm::enumerate(type.getShape())) {
      if (ShapedType::isDynamic(size)) {
        if (index != 0)
          return emitError(value.getLoc(), "only the first dimension of an activation may depend on the step, found ")
                 << type;
        continue;
      }
      bytes *= static_cast<uint64_t>(size);
    }
    if (type.hasStaticShape())
      return UnitSize{ArenaRegion::Constant, llvm::alignTo(bytes, bufferAlignment)};
    FailureOr<Attribute> dim = leadingDim(value, symbols);
    if (succeeded(dim))
      if (auto name = dyn_cast<StringAttr>(*dim)) {
        tw::RowCount rows = tw::RowCount::parse(name.getValue());
        bytes = llvm::alignTo(bytes * static_cast<uint64_t>(rows.factor), bufferAlignment);
        if (rows.base == "N")
          return UnitSize{ArenaRegion::Rows, bytes};
        if (rows.base == "R")
          return UnitSize{ArenaRegion::LogitRows, bytes};
      }
    return emitError(value.getLoc(), "cannot tell what the first dimension of ")
           << type << " counts: wanted 'N' or 'R' in tw.dims of its kernel";
  }

  /// Nothing but the function's return reads it, itself or through a view.
  static bool isOnlyReturned(Value value) {
    return llvm::all_of(value.getUsers(), [](Operation *user) {
      auto view = dyn_cast<tw::ReshapeOp>(user);
      return view ? isOnlyReturned(view.getResult()) : isa<func::ReturnOp>(user);
    });
  }

  /// What makes it makes no other tensor, and so does not run for a caller who does not want this one.
  static bool isMadeAlone(Value value) {
    Operation *op = value.getDefiningOp();
    return !op || llvm::count_if(op->getResultTypes(), llvm::IsaPred<RankedTensorType>) == 1;
  }

  LogicalResult planFunction(func::FuncOp function) {
    if (plan.count(function))
      return success();
    FunctionPlan result;
    llvm::DenseMap<Operation *, uint32_t> step;
    uint32_t count = 0;
    for (Operation &op : function.front())
      step[&op] = count++;
    SmallVector<Value> returned = llvm::map_to_vector(function.front().getTerminator()->getOperands(), storageOf);
    if (SymbolTable::symbolKnownUseEmpty(function, module))
      llvm::erase_if(returned, [](Value value) { return !isOnlyReturned(value) || !isMadeAlone(value); });

    std::vector<LiveBuffer> buffers[numArenaRegions];
    SmallVector<std::pair<Value, unsigned>> owners[numArenaRegions];
    SmallVector<std::pair<Operation *, unsigned>> calls[numArenaRegions];
    for (Operation &op : function.front()) {
      if (!isa<tw::DispatchOp, func::CallOp>(op))
        continue;
      for (Value value : op.getResults()) {
        if (!isa<RankedTensorType>(value.getType()) || llvm::is_contained(returned, value))
          continue;
        FailureOr<UnitSize> size = unitSize(value);
        if (failed(size))
          return failure();
        unsigned region = static_cast<unsigned>(size->region);
        owners[region].push_back({value, static_cast<unsigned>(buffers[region].size())});
        buffers[region].push_back({size->bytes, step[&op], lastUse(value, step)});
      }
      if (auto call = dyn_cast<func::CallOp>(op)) {
        auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
        if (!callee)
          return call.emitError("calls '") << call.getCallee() << "', which is not in the module";
        if (failed(planFunction(callee)))
          return failure();
        const FunctionPlan &inner = plan[callee];
        for (unsigned region = 0; region < numArenaRegions; ++region) {
          calls[region].push_back({&op, static_cast<unsigned>(buffers[region].size())});
          buffers[region].push_back({inner.size.bytes[region], step[&op], step[&op]});
        }
      }
    }

    for (unsigned region = 0; region < numArenaRegions; ++region) {
      InterferencePlan offsets = planByInterference(buffers[region]);
      for (auto [value, index] : owners[region])
        result.places[value] = {static_cast<ArenaRegion>(region), offsets.offsets[index]};
      for (auto [call, index] : calls[region])
        result.callBases[call].bytes[region] = offsets.offsets[index];
      result.size.bytes[region] = offsets.size;
      result.lowerBound.bytes[region] = offsets.lowerBound;
      result.withoutReuse.bytes[region] = offsets.withoutReuse;
    }
    plan.insert({function, std::move(result)});
    return success();
  }

  ModuleOp module;
  SymbolTable symbols;
  ProgramPlan plan;
};

} // namespace

Value storageOf(Value value) {
  while (auto view = value.getDefiningOp<tw::ReshapeOp>())
    value = view.getInput();
  return value;
}

FailureOr<Attribute> leadingDim(Value value, const SymbolTable &symbols) {
  auto result = dyn_cast<OpResult>(storageOf(value));
  if (!result)
    return failure();
  if (auto dispatch = dyn_cast<tw::DispatchOp>(result.getOwner())) {
    auto kernel = symbols.lookup<func::FuncOp>(dispatch.getKernel());
    if (!kernel)
      return failure();
    for (unsigned i = 0, e = kernel.getNumArguments(); i < e; ++i) {
      auto source = kernel.getArgAttrOfType<ArrayAttr>(i, "tw.source");
      if (!source || source.size() != 2 || source[0] != StringAttr::get(value.getContext(), "result"))
        continue;
      if (cast<IntegerAttr>(source[1]).getInt() != result.getResultNumber())
        continue;
      auto dims = kernel.getArgAttrOfType<ArrayAttr>(i, "tw.dims");
      if (!dims || dims.empty())
        return failure();
      return dims[0];
    }
    return failure();
  }
  if (auto call = dyn_cast<func::CallOp>(result.getOwner())) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!callee || callee.isExternal())
      return failure();
    return leadingDim(callee.front().getTerminator()->getOperand(result.getResultNumber()), symbols);
  }
  return failure();
}

FailureOr<ProgramPlan> planProgram(ModuleOp module) { return Planner(module).run(); }

} // namespace tilewright
