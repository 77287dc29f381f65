// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/grouped_query_attention/StateWeb.h"

namespace tilewright::grouped_query_attention {

using namespace mlir;

Calls callsOf(ModuleOp module) {
  Calls calls;
  module.walk([&](func::CallOp call) { calls[call.getCallee()].push_back(call); });
  return calls;
}

namespace {

class WebBuilder {
public:
  WebBuilder(ModuleOp module, const Calls &calls) : module(module), calls(calls) {}

  StateWeb run(Value state) {
    web.values.insert(state);
    for (size_t i = 0; i < web.values.size(); ++i) { // the set grows
      Value value = web.values[i];
      follow(value);
      for (OpOperand &use : value.getUses())
        follow(use);
    }
    return std::move(web);
  }

private:
  void fault(const Twine &reason) {
    if (web.fault.empty())
      web.fault = reason.str();
  }

  /// The function behind a symbol, with a body.
  func::FuncOp function(StringRef name) {
    auto found = module.lookupSymbol<func::FuncOp>(name);
    if (!found || found.isExternal())
      fault("the state goes through '" + name + "', whose body is not known");
    else
      web.functions.insert(found);
    return found && !found.isExternal() ? found : func::FuncOp();
  }

  /// To where the value comes from.
  void follow(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto owner = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
      if (!owner)
        return fault("the state is an argument of '" + argument.getOwner()->getParentOp()->getName().getStringRef() +
                     "'");
      web.functions.insert(owner);
      for (func::CallOp call : calls.lookup(owner.getSymName()))
        web.values.insert(call.getOperand(argument.getArgNumber()));
      return;
    }
    Operation *op = value.getDefiningOp();
    const unsigned number = cast<OpResult>(value).getResultNumber();
    if (auto append = dyn_cast<tw::AppendOp>(op)) {
      web.appends.insert(append);
      web.values.insert(append.getState());
    } else if (auto call = dyn_cast<func::CallOp>(op)) {
      if (func::FuncOp callee = function(call.getCallee()))
        callee.walk([&](func::ReturnOp done) { web.values.insert(done.getOperand(number)); });
    } else {
      fault("the state is made by '" + op->getName().getStringRef() + "'");
    }
  }

  /// To what a user makes of it.
  void follow(OpOperand &use) {
    Operation *op = use.getOwner();
    if (auto append = dyn_cast<tw::AppendOp>(op)) {
      web.appends.insert(append);
      web.values.insert(append.getResult());
    } else if (auto call = dyn_cast<func::CallOp>(op)) {
      if (func::FuncOp callee = function(call.getCallee()))
        web.values.insert(callee.getArgument(use.getOperandNumber()));
    } else if (isa<func::ReturnOp>(op)) {
      auto owner = cast<func::FuncOp>(op->getParentOp());
      web.functions.insert(owner);
      for (func::CallOp other : calls.lookup(owner.getSymName()))
        web.values.insert(other.getResult(use.getOperandNumber()));
    } else if (!isa<tw::AttentionOp>(op)) {
      fault("'" + op->getName().getStringRef() + "' reads the state as well");
    }
  }

  ModuleOp module;
  const Calls &calls;
  StateWeb web;
};

} // namespace

StateWeb webOf(Value state, ModuleOp module, const Calls &calls) { return WebBuilder(module, calls).run(state); }

/// The names of an argument's dimensions (tw.symbols, [[-1, Hkv, D], ...]) with the sizes of `type`.
static void renameDims(func::FuncOp function, unsigned argument, tw::StateType type) {
  constexpr llvm::StringLiteral name = "tw.symbols";
  auto symbols = function.getArgAttrOfType<ArrayAttr>(argument, name);
  if (!symbols || symbols.size() != type.getBuffers().size())
    return;
  Builder b(function.getContext());
  SmallVector<Attribute> buffers;
  for (auto [old, buffer] : llvm::zip_equal(symbols, type.getBuffers())) {
    auto dims = dyn_cast<ArrayAttr>(old);
    if (!dims || int64_t(dims.size()) != buffer.getRank())
      return;
    SmallVector<Attribute> sizes(dims.getValue());
    for (auto [size, extent] : llvm::zip_equal(sizes, buffer.getShape()))
      if (!ShapedType::isDynamic(extent))
        size = b.getI64IntegerAttr(extent);
    buffers.push_back(b.getArrayAttr(sizes));
  }
  function.setArgAttr(argument, name, b.getArrayAttr(buffers));
}

void retype(const StateWeb &web, tw::StateType type) {
  for (Value value : web.values) {
    value.setType(type);
    if (auto argument = dyn_cast<BlockArgument>(value))
      renameDims(cast<func::FuncOp>(argument.getOwner()->getParentOp()), argument.getArgNumber(), type);
  }
  for (func::FuncOp function : web.functions) {
    SmallVector<Type> results(function.getResultTypes());
    function.walk(
        [&](func::ReturnOp done) { results.assign(done.getOperandTypes().begin(), done.getOperandTypes().end()); });
    function.setType(FunctionType::get(function.getContext(), function.front().getArgumentTypes(), results));
  }
}

} // namespace tilewright::grouped_query_attention
