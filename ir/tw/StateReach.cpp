// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/tw/StateReach.h"

#include "ir/tw/Tw.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace tilewright::tw {

namespace {

struct AttentionReader : StateReader::ExternalModel<AttentionReader, AttentionOp> {
  std::optional<int64_t> getStateReach(Operation *op, Value) const {
    auto attention = cast<AttentionOp>(op);
    return attentionReach(attention.getWindow(), attention.getRadius(), attention.getChunk());
  }
};

struct AppendReader : StateReader::ExternalModel<AppendReader, AppendOp> {
  std::optional<int64_t> getStateReach(Operation *, Value) const { return 0; }
};

/// What becomes of an argument of a function.
struct Uses {
  std::optional<int64_t> reach = 0;
  SmallVector<unsigned> results; ///< of the function, that are the state again
};

class StateWalk {
public:
  /// Calls are acyclic: a function that is on its way may read any token.
  const Uses &usesOf(BlockArgument argument) {
    if (auto found = known.find(argument); found != known.end())
      return found->second;
    known[argument].reach = std::nullopt;
    Uses uses = follow(argument);
    return known[argument] = std::move(uses);
  }

private:
  Uses follow(BlockArgument argument) {
    Uses uses;
    SmallVector<Value> values = {argument}; // the state, changed again and again
    auto read = [&](std::optional<int64_t> reach) {
      uses.reach = uses.reach && reach ? std::optional(std::max(*uses.reach, *reach)) : std::nullopt;
    };
    while (!values.empty()) {
      Value value = values.pop_back_val();
      for (OpOperand &use : value.getUses()) {
        Operation *user = use.getOwner();
        if (isa<func::ReturnOp>(user)) {
          uses.results.push_back(use.getOperandNumber());
          continue;
        }
        if (auto call = dyn_cast<func::CallOp>(user)) {
          auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
          if (!callee || callee.isExternal()) {
            read(std::nullopt);
            continue;
          }
          const Uses inner = usesOf(callee.getArgument(use.getOperandNumber()));
          read(inner.reach);
          for (unsigned result : inner.results)
            values.push_back(call.getResult(result));
          continue;
        }
        auto reader = dyn_cast<StateReader>(user);
        read(reader ? reader.getStateReach(value) : std::nullopt);
        llvm::append_range(
            values, llvm::make_filter_range(user->getResults(), [](Value v) { return isa<StateType>(v.getType()); }));
      }
    }
    return uses;
  }

  llvm::DenseMap<Value, Uses> known;
};

} // namespace

std::optional<int64_t> attentionReach(std::optional<int64_t> window, std::optional<int64_t> radius,
                                      std::optional<int64_t> chunk) {
  std::optional<int64_t> reach;
  auto atMost = [&](int64_t keys) { reach = std::min(reach.value_or(keys), keys); };
  if (window)
    atMost(*window);
  if (radius && *radius < INT64_MAX)
    atMost(*radius + 1);
  if (chunk)
    atMost(*chunk);
  return reach;
}

std::optional<int64_t> stateReach(BlockArgument state) { return StateWalk().usesOf(state).reach; }

void attachStateReaders(MLIRContext &context) {
  AttentionOp::attachInterface<AttentionReader>(context);
  AppendOp::attachInterface<AppendReader>(context);
}

} // namespace tilewright::tw
