// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/differentiate/Differentiate.h"

#include "ir/interfaces/Decompose.h"
#include "ir/tw/Build.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"

#include <map>

using namespace mlir;

namespace tilewright {

namespace {

bool isFloatTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa<FloatType>(tensor.getElementType());
}

SmallVector<Value> floatsOf(ValueRange values) {
  return llvm::filter_to_vector(values, [](Value value) { return isFloatTensor(value.getType()); });
}

SmallVector<Operation *> operations(Block &block) {
  return llvm::map_to_vector(block.without_terminator(), [](Operation &op) { return &op; });
}

void eraseDeadOps(Block &block) {
  SmallVector<Operation *> ops = operations(block);
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op) || (isa<func::CallOp>(op) && op->use_empty())) // graph functions have no side effects
      op->erase();
}

/// Float values of a block that depend on some of its arguments.
DenseSet<Value> activeValues(Block &block, ArrayRef<int64_t> wrt) {
  DenseSet<Value> active;
  for (int64_t i : wrt)
    active.insert(block.getArgument(i));
  for (Operation &op : block)
    if (llvm::any_of(op.getOperands(), [&](Value operand) { return active.contains(operand); }))
      active.insert_range(floatsOf(op.getResults()));
  return active;
}

/// Replaces what is active but has no gradient of its own by core ops.
FailureOr<DenseSet<Value>> decomposeActive(Block &block, ArrayRef<int64_t> wrt) {
  for (unsigned round = 0;; ++round) {
    DenseSet<Value> active = activeValues(block, wrt);
    SmallVector<Operation *> without;
    for (Operation &op : block)
      if (llvm::any_of(op.getResults(), [&](Value result) { return active.contains(result); }) &&
          !isa<Gradient, func::CallOp>(op))
        without.push_back(&op);
    if (without.empty())
      return active;
    for (Operation *op : without) {
      auto lowering = dyn_cast<ReferenceLowering>(op);
      if (!lowering)
        return op->emitOpError("has no gradient: it implements neither Gradient nor ReferenceLowering");
      if (round == maxDecompositions)
        return op->emitOpError("still stands after ")
               << maxDecompositions << " rounds of reference lowerings; they do not end in ops with a gradient";
      if (failed(decompose(lowering)))
        return failure();
    }
  }
}

/// Gradients found so far, of values of one block.
struct Sums {
  void add(ImplicitLocOpBuilder &b, Value value, Value gradient) {
    Value &sum = values[value];
    sum = sum ? tw::AddOp::create(b, sum, gradient).getResult() : gradient;
  }
  Value of(Value value) const { return values.lookup(value); }

  DenseMap<Value, Value> values;
};

class Differentiator {
public:
  explicit Differentiator(ModuleOp module) : symbols(module) {}

  FailureOr<func::FuncOp> gradientOf(func::FuncOp function, std::vector<int64_t> wrt, const Twine &name) {
    auto [entry, isNew] = gradients.try_emplace({function, wrt}, nullptr);
    if (!isNew)
      return entry->second; // also while it is being filled: a cycle of calls, which the graph's verifier forbids
    if (!llvm::hasSingleElement(function.getBody()))
      return function.emitOpError("cannot be differentiated: it has ")
             << function.getBody().getBlocks().size() << " blocks, wanted one";
    func::FuncOp gradient = entry->second = declare(function, wrt, name.str());
    if (failed(fill(gradient, function, wrt)))
      return failure();
    return gradient;
  }

  void eraseAll() {
    for (auto &[key, gradient] : gradients)
      if (gradient)
        symbols.erase(gradient);
  }

private:
  func::FuncOp declare(func::FuncOp function, ArrayRef<int64_t> wrt, StringRef name) {
    SmallVector<Type> inputs(function.getArgumentTypes()), results;
    llvm::copy_if(function.getResultTypes(), std::back_inserter(inputs), isFloatTensor);
    for (int64_t i : wrt)
      results.push_back(function.getArgumentTypes()[i]);
    OpBuilder b(function.getContext());
    b.setInsertionPointAfter(function);
    auto gradient = func::FuncOp::create(b, function.getLoc(), name, b.getFunctionType(inputs, results));
    gradient.setVisibility(function.getVisibility());
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      gradient.setArgAttrs(i, function.getArgAttrDict(i));
    symbols.insert(gradient, std::next(function->getIterator()));
    return gradient;
  }

  LogicalResult fill(func::FuncOp gradient, func::FuncOp function, ArrayRef<int64_t> wrt) {
    Block *block = gradient.addEntryBlock();
    IRMapping mapping;
    mapping.map(function.getArguments(), block->getArguments().take_front(function.getNumArguments()));
    ImplicitLocOpBuilder b(gradient.getLoc(), OpBuilder::atBlockBegin(block));
    for (Operation &op : function.front())
      b.clone(op, mapping);
    eraseDeadOps(*block);
    FailureOr<DenseSet<Value>> active = decomposeActive(*block, wrt);
    if (failed(active))
      return failure();

    Operation *end = block->getTerminator();
    SmallVector<Operation *> forward = operations(*block);
    b.setInsertionPoint(end);
    Sums sums;
    for (auto [result, cotangent] :
         llvm::zip_equal(floatsOf(end->getOperands()), block->getArguments().drop_front(function.getNumArguments())))
      if (active->contains(result))
        sums.add(b, result, cotangent);
    for (Operation *op : llvm::reverse(forward))
      if (failed(backward(op, *active, b, sums)))
        return failure();

    SmallVector<Value> results;
    for (int64_t i : wrt) {
      Value argument = block->getArgument(i), sum = sums.of(argument);
      results.push_back(sum ? sum : tw::splat(b, 0.0, argument));
    }
    end->setOperands(results);
    eraseDeadOps(*block);
    return success();
  }

  LogicalResult backward(Operation *op, const DenseSet<Value> &active, ImplicitLocOpBuilder &b, Sums &sums) {
    SmallVector<Value> ofResults = llvm::map_to_vector(op->getResults(), [&](Value result) { return sums.of(result); });
    auto isActive = [&](Value operand) { return active.contains(operand); };
    if (llvm::none_of(ofResults, [](Value gradient) { return gradient; }) || llvm::none_of(op->getOperands(), isActive))
      return success();
    b.setLoc(op->getLoc());
    if (auto call = dyn_cast<func::CallOp>(op))
      return backwardCall(call, ofResults, active, b, sums);
    // An op with several results wants all gradients that exist; those that nothing uses are 0.
    for (auto [gradient, result] : llvm::zip_equal(ofResults, op->getResults()))
      if (!gradient && isFloatTensor(result.getType()))
        gradient = tw::splat(b, 0.0, result);
    FailureOr<SmallVector<Value>> ofOperands = cast<Gradient>(op).buildGradient(b, ofResults);
    if (failed(ofOperands))
      return failure();
    if (ofOperands->size() != op->getNumOperands())
      return op->emitOpError("has a Gradient that gives ")
             << ofOperands->size() << " values, wanted one for each of its " << op->getNumOperands() << " operands";
    for (auto [i, gradient] : llvm::enumerate(*ofOperands)) {
      Value operand = op->getOperand(i);
      if (!gradient || !isActive(operand))
        continue;
      if (gradient.getType() != operand.getType())
        return op->emitOpError("has a Gradient of type ")
               << gradient.getType() << " for operand #" << i << " of type " << operand.getType();
      sums.add(b, operand, gradient);
    }
    return success();
  }

  LogicalResult backwardCall(func::CallOp call, ArrayRef<Value> ofResults, const DenseSet<Value> &active,
                             ImplicitLocOpBuilder &b, Sums &sums) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!callee || callee.isExternal())
      return call.emitOpError("has no gradient: the body of @") << call.getCallee() << " is not here";
    std::vector<int64_t> wrt;
    std::string name = (call.getCallee() + ".gradient").str();
    SmallVector<Value> operands(call.getOperands());
    for (auto [i, operand] : llvm::enumerate(call.getOperands()))
      if (active.contains(operand)) {
        wrt.push_back(i);
        name += "." + std::to_string(i);
      }
    for (auto [result, gradient] : llvm::zip_equal(call.getResults(), ofResults))
      if (isFloatTensor(result.getType()))
        operands.push_back(gradient ? gradient : tw::splat(b, 0.0, result));
    FailureOr<func::FuncOp> gradient = gradientOf(callee, wrt, name);
    if (failed(gradient))
      return failure();
    auto gradients = func::CallOp::create(b, *gradient, operands);
    for (auto [i, value] : llvm::zip_equal(wrt, gradients.getResults()))
      sums.add(b, call.getOperand(i), value);
    return success();
  }

  SymbolTable symbols;
  std::map<std::pair<Operation *, std::vector<int64_t>>, func::FuncOp> gradients; ///< by function and wrt
};

} // namespace

FailureOr<func::FuncOp> differentiate(func::FuncOp function, ArrayRef<int64_t> wrt) {
  if (function.isExternal())
    return function.emitOpError("cannot be differentiated: it has no body");
  for (auto [i, argument] : llvm::enumerate(wrt)) {
    if (argument < 0 || argument >= function.getNumArguments())
      return function.emitOpError("cannot be differentiated by argument ")
             << argument << ": it has " << function.getNumArguments();
    if (!isFloatTensor(function.getArgumentTypes()[argument]))
      return function.emitOpError("cannot be differentiated by argument ")
             << argument << " of type " << function.getArgumentTypes()[argument] << ", wanted a tensor of floats";
    if (i && wrt[i - 1] >= argument)
      return function.emitOpError("wants the arguments to differentiate by in increasing order, found ")
             << wrt[i - 1] << " before " << argument;
  }
  function.getContext()->loadDialect<tw::TwDialect>();
  Differentiator differentiator(function->getParentOfType<ModuleOp>());
  FailureOr<func::FuncOp> gradient =
      differentiator.gradientOf(function, wrt.vec(), function.getSymName() + ".gradient");
  if (failed(gradient))
    differentiator.eraseAll();
  return gradient;
}

} // namespace tilewright
