// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/tile/KernelGroups.h"

#include "ir/interfaces/Tiling.h"
#include "ir/interfaces/Verify.h"
#include "ir/tw/Tw.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"

#include "llvm/Support/FormatVariadic.h"

#include <numeric>

using namespace mlir;

namespace tilewright {

/// Columns of the widest tile that an epilogue may ask for: wider ones leave too few tiles to balance.
static constexpr int64_t kWidestUnit = 256;
/// Ops of one kernel: with more of them its code grows, which saves nothing, and so does the time to compile it.
static constexpr size_t kMostOps = 256;

int64_t rowElements(RankedTensorType type) {
  int64_t elements = 1;
  for (int64_t extent : type.getShape().drop_front(std::min<int64_t>(1, type.getRank())))
    elements *= extent;
  return elements;
}

SmallVector<Value> KernelGroup::outputs() const {
  SmallVector<Value> values;
  for (Operation *op : ops)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !ops.contains(user); }))
        values.push_back(result);
  return values;
}

bool isView(Operation *op, const KernelGroups &groups) {
  return isa<tw::ReshapeOp, tw::ConstantOp>(op) && !groups.groupOf.contains(op);
}

namespace {

/// Partitions one block, op by op.
class Partition {
public:
  explicit Partition(const RowSymbols &rows) : rows(rows) {}

  LogicalResult add(Operation *op);
  KernelGroups result;

private:
  /// Columns of `value`, of a tile's row, that an op with this table cannot cut; all of them where it needs whole rows.
  static int64_t columnUnit(Value value, ArrayRef<LoopDim> dims);
  /// The unit that `group` gets with `op` in it, in its columns; none, and a fault, where the op's tiles do not fit.
  std::optional<int64_t> unitWith(const KernelGroup &group, int64_t unit, Operation *op, const LoopMap &map);
  /// Whether a kernel of `members` and `op` would read something that depends on it.
  bool makesCycle(ArrayRef<KernelGroup *> members, Operation *op);
  /// The first op of `members`, if what stands in front of it depends on none of them: no other kernel has ops on both
  /// sides of it. Else null.
  Operation *horizon(ArrayRef<KernelGroup *> members);
  /// Whether `op` depends on one of `members`; nothing in front of `horizon`, if any, does.
  bool dependsOn(Operation *op, ArrayRef<KernelGroup *> members, Operation *horizon,
                 llvm::SmallPtrSetImpl<Operation *> &seen);
  bool joinAnchored(Operation *op, const LoopMap &map, StringRef rowName);
  bool joinRows(Operation *op, StringRef rowName);

  KernelGroup *make(KernelGroup::Kind kind, Operation *op, StringRef rowName = {});
  void insert(KernelGroup *group, Operation *op) {
    group->ops.insert(op);
    result.groupOf[op] = group;
  }
  /// All of `from`'s ops move into `into`, program order kept.
  void merge(KernelGroup *into, KernelGroup *from);
  /// Groups of `kind` that compute operands of `op` in rows called `rowName`.
  SmallVector<KernelGroup *> producers(Operation *op, KernelGroup::Kind kind, StringRef rowName);

  const RowSymbols &rows;
};

int64_t Partition::columnUnit(Value value, ArrayRef<LoopDim> dims) {
  auto type = cast<RankedTensorType>(value.getType());
  if (static_cast<int64_t>(dims.size()) != type.getRank() || dims.empty())
    return rowElements(type);
  int64_t inner = 1;
  for (int64_t d = type.getRank() - 1; d >= 1; --d) {
    if (dims[d].loop != LoopDim::kWhole && dims[d].loop != dims[0].loop)
      return dims[d].factor * inner;
    inner *= type.getDimSize(d);
  }
  return inner;
}

std::optional<int64_t> Partition::unitWith(const KernelGroup &group, int64_t unit, Operation *op, const LoopMap &map) {
  auto include = [&](Value value, ArrayRef<LoopDim> dims) {
    auto type = cast<RankedTensorType>(value.getType());
    int64_t own = columnUnit(value, dims), all = rowElements(type);
    if (all != 0 && (own * group.columns) % all == 0) {
      unit = std::lcm(unit, own * group.columns / all);
      if (unit <= kWidestUnit && (group.columns % unit == 0 || own == 1))
        return true;
    }
    result.faults[op] = {
        llvm::formatv("it works on {0} neighbouring elements of a row at once, and a tile of the linear map "
                      "in front of it, {1} columns wide, holds at most {2} of them",
                      own, group.columns, kWidestUnit),
        "nothing where it sweeps over whole rows; else a head or group width that divides the linear map's "
        "result into tiles of at most " +
            std::to_string(kWidestUnit) + " columns"};
    return false;
  };
  for (auto [result, dims] : llvm::zip_equal(op->getResults(), map.results))
    if (!include(result, dims))
      return std::nullopt;
  for (auto [operand, dims] : llvm::zip_equal(op->getOperands(), map.operands))
    if (group.contains(operand) && !include(operand, dims))
      return std::nullopt;
  return unit;
}

Operation *Partition::horizon(ArrayRef<KernelGroup *> members) {
  Operation *first = members.front()->ops.front();
  for (KernelGroup *group : members.drop_front())
    if (group->ops.front()->isBeforeInBlock(first))
      first = group->ops.front();
  bool isCrossed = llvm::any_of(result.groups, [&](const std::unique_ptr<KernelGroup> &group) {
    return group->ops.front()->isBeforeInBlock(first) && first->isBeforeInBlock(group->ops.back());
  });
  return isCrossed ? nullptr : first;
}

bool Partition::dependsOn(Operation *op, ArrayRef<KernelGroup *> members, Operation *horizon,
                          llvm::SmallPtrSetImpl<Operation *> &seen) {
  SmallVector<Operation *> waiting = {op}; // no recursion: chains may be as long as the function
  while (!waiting.empty()) {
    Operation *next = waiting.pop_back_val();
    if (!next || (horizon && next->isBeforeInBlock(horizon)) || !seen.insert(next).second)
      continue;
    KernelGroup *group = result.groupOf.lookup(next);
    if (llvm::is_contained(members, group))
      return true;
    auto addProducers = [&](Operation *user) {
      for (Value operand : user->getOperands())
        waiting.push_back(operand.getDefiningOp());
    };
    if (group)
      llvm::for_each(group->ops, addProducers);
    else
      addProducers(next);
  }
  return false;
}

bool Partition::makesCycle(ArrayRef<KernelGroup *> members, Operation *op) {
  llvm::SmallPtrSet<Operation *, 32> seen;
  Operation *first = horizon(members);
  auto readsDependent = [&](Operation *member) {
    for (Value operand : member->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (producer && llvm::is_contained(members, result.groupOf.lookup(producer)))
        continue;
      if (dependsOn(producer, members, first, seen))
        return true;
    }
    return false;
  };
  if (readsDependent(op))
    return true;
  return llvm::any_of(members, [&](KernelGroup *group) { return llvm::any_of(group->ops, readsDependent); });
}

SmallVector<KernelGroup *> Partition::producers(Operation *op, KernelGroup::Kind kind, StringRef rowName) {
  llvm::SetVector<KernelGroup *> found;
  for (Value operand : op->getOperands())
    if (Operation *producer = operand.getDefiningOp())
      if (KernelGroup *group = result.groupOf.lookup(producer); group && group->kind == kind && group->rows == rowName)
        found.insert(group);
  return found.takeVector();
}

KernelGroup *Partition::make(KernelGroup::Kind kind, Operation *op, StringRef rowName) {
  auto group = std::make_unique<KernelGroup>();
  group->kind = kind;
  group->rows = rowName;
  if (auto type = op->getNumResults() ? dyn_cast<RankedTensorType>(op->getResult(0).getType()) : nullptr)
    group->columns = group->unit = rowElements(type);
  result.groups.push_back(std::move(group));
  insert(result.groups.back().get(), op);
  return result.groups.back().get();
}

void Partition::merge(KernelGroup *into, KernelGroup *from) {
  SmallVector<Operation *> all(into->ops.begin(), into->ops.end());
  llvm::append_range(all, from->ops);
  llvm::sort(all, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  into->ops.clear();
  for (Operation *op : all)
    insert(into, op);
  llvm::erase_if(result.groups, [&](auto &group) { return group.get() == from; });
}

bool Partition::joinAnchored(Operation *op, const LoopMap &map, StringRef rowName) {
  SmallVector<KernelGroup *> candidates = producers(op, KernelGroup::Kind::Anchored, rowName);
  // All anchors of the op in one kernel if that works, else the first that does.
  auto join = [&](ArrayRef<KernelGroup *> members) {
    int64_t unit = 1;
    size_t ops = 1;
    for (KernelGroup *group : members)
      ops += group->ops.size();
    if (ops > kMostOps) {
      result.faults[op] = {"the linear map in front of it is followed by " + std::to_string(ops - 1) +
                               " ops already, as many as one kernel takes",
                           "nothing: the ops behind them have a kernel of their own"};
      return false;
    }
    for (KernelGroup *group : members) {
      if (group->columns != members.front()->columns) {
        result.faults[op] = {llvm::formatv("the linear maps in front of it have {0} and {1} columns",
                                           members.front()->columns, group->columns),
                             "let it read linear maps of one width"};
        return false;
      }
      unit = std::lcm(unit, group->unit);
    }
    for (KernelGroup *group : members) {
      std::optional<int64_t> with = unitWith(*group, unit, op, map);
      if (!with)
        return false;
      unit = *with;
    }
    if (makesCycle(members, op)) {
      result.faults[op] = {
          "one kernel of it and of the linear map in front of it would wait for its own result, by way of "
          "another operand",
          "compute that operand before the linear map, or from other values"};
      return false;
    }
    for (KernelGroup *group : members.drop_front())
      merge(members.front(), group);
    insert(members.front(), op);
    members.front()->unit = unit;
    return true;
  };
  if (candidates.empty()) {
    KernelGroups::Fault fault = {
        "none of its operands is computed by a linear map of this function",
        "let it follow a linear map, through reshapes at most, or stand beside another op on the "
        "same rows"};
    for (Value operand : op->getOperands()) // a reshape in front of it that did not fit says why
      if (auto reshape = operand.getDefiningOp<tw::ReshapeOp>(); reshape && result.faults.contains(reshape))
        fault = result.faults.lookup(reshape);
    result.faults[op] = std::move(fault);
  }
  if (candidates.size() > 1 && join(candidates))
    return true;
  return llvm::any_of(candidates, [&](KernelGroup *group) { return join(group); });
}

bool Partition::joinRows(Operation *op, StringRef rowName) {
  for (KernelGroup *group : producers(op, KernelGroup::Kind::Rows, rowName))
    if (group->ops.size() < kMostOps && !makesCycle(group, op)) {
      insert(group, op);
      return true;
    }
  return false;
}

LogicalResult Partition::add(Operation *op) {
  if (isa<func::CallOp, func::ReturnOp, ml_program::GlobalLoadConstOp, tw::ConstantOp, tw::DispatchOp>(op))
    return success();
  if (isa<WholeKernel>(op)) {
    make(KernelGroup::Kind::Whole, op);
    return success();
  }
  FailureOr<LoopMap> map = failure();
  if (auto mapped = dyn_cast<LoopMapped>(op); mapped && isa<TileLowering, tw::ReshapeOp>(op))
    map = mapped.getLoopMap();
  if (failed(map)) {
    if (isa<tw::ReshapeOp>(op))
      return success();
    return op->emitOpError("has no kernel form: a plugin or a pass that lowers it is missing");
  }
  if (failed(verifyLoopMap(op, *map)))
    return failure();

  StringRef rowName = rows.of(op->getResult(0));
  for (Value result : op->getResults())
    if (rows.of(result) != rowName)
      return op->emitOpError("has results with different rows, which one kernel cannot compute");
  if (rowName.empty()) {
    if (!isa<tw::ReshapeOp>(op))
      make(KernelGroup::Kind::Static, op);
    return success();
  }
  if (auto linear = dyn_cast<tw::PackedLinearOp>(op)) {
    KernelGroup *group = make(KernelGroup::Kind::Anchored, op, rowName);
    group->unit = columnUnit(linear.getResult(), map->results[0]);
    return success();
  }
  if (joinAnchored(op, *map, rowName) || joinRows(op, rowName) || isa<tw::ReshapeOp>(op))
    return success();
  make(KernelGroup::Kind::Rows, op, rowName);
  return success();
}

} // namespace

FailureOr<KernelGroups> formKernelGroups(func::FuncOp function, const RowSymbols &rows) {
  Partition partition(rows);
  for (Operation &op : function.front())
    if (failed(partition.add(&op)))
      return failure();
  return std::move(partition.result);
}

} // namespace tilewright
