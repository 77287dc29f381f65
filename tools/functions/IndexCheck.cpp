// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/functions/IndexCheck.h"

#include "ir/tw/TableIds.h"
#include "ir/tw/Tw.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"

using namespace mlir;

namespace tilewright {

namespace {

/// Whether `value` follows from integer arguments and constants, and so costs little.
bool followsFromIntegers(Value value, llvm::DenseMap<Value, bool> &known) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  bool follows;
  if (auto argument = dyn_cast<BlockArgument>(value))
    follows = isa<IntegerType>(getElementTypeOrSelf(argument.getType()));
  else
    follows = !isa<ml_program::GlobalLoadConstOp>(value.getDefiningOp()) &&
              llvm::all_of(value.getDefiningOp()->getOperands(),
                           [&](Value operand) { return followsFromIntegers(operand, known); });
  return known[value] = follows;
}

Value zeros(OpBuilder &b, Location loc, ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, b.getF32Type());
  return tw::ConstantOp::create(b, loc, type, DenseElementsAttr::get(type, 0.0f));
}

/// A gather of the same ids from as many rows of one number each.
Value probe(tw::GatherOp gather) {
  OpBuilder b(gather);
  Value table = zeros(b, gather.getLoc(), gather.getTable().getType().getShape().take_front(gather.getBatchDims() + 1));
  RankedTensorType type = gather.getIds().getType();
  return tw::GatherOp::create(b, gather.getLoc(), type.clone(b.getF32Type()), table, gather.getIds(),
                              gather.getBatchDims());
}

/// An attention with the same segments, as many rows and keys, and one head of one number.
Value probe(tw::AttentionOp attention) {
  OpBuilder b(attention);
  tw::AttentionOp::Sizes sizes = attention.getSizes();
  Value rows = zeros(b, attention.getLoc(), {1, 1, sizes.queries, 1});
  Value keys = zeros(b, attention.getLoc(), {1, 1, sizes.keys, 1});
  auto probe = tw::AttentionOp::create(b, attention.getLoc(), rows.getType(), rows, keys, keys, /*scale=*/1.0);
  probe.getCuSeqlensQMutable().assign(attention.getCuSeqlensQ());
  probe.getCuSeqlensKvMutable().assign(attention.getCuSeqlensKv());
  return probe.getResult();
}

} // namespace

FailureOr<std::unique_ptr<IndexCheck>> IndexCheck::create(ModuleOp module, StringRef name) {
  FailureOr<OwningOpRef<ModuleOp>> open = tw::withIdsInTheOpen(module);
  if (failed(open) || failed(tw::tableIds(**open, name)))
    return failure();
  ModuleOp copy = **open;
  auto check = std::make_unique<IndexCheck>();
  auto function = copy.lookupSymbol<func::FuncOp>(name);
  llvm::DenseMap<Value, bool> known;
  SmallVector<Value> probes;
  for (Operation &op : llvm::make_early_inc_range(function.front())) {
    if (auto gather = dyn_cast<tw::GatherOp>(op); gather && followsFromIntegers(gather.getIds(), known))
      probes.push_back(probe(gather));
    else if (auto attention = dyn_cast<tw::AttentionOp>(op); attention && attention.getCuSeqlensQ() &&
                                                             followsFromIntegers(attention.getCuSeqlensQ(), known) &&
                                                             followsFromIntegers(attention.getCuSeqlensKv(), known))
      probes.push_back(probe(attention));
  }
  if (probes.empty())
    return check;

  Operation *end = function.front().getTerminator();
  end->setOperands(probes);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.front())))
    if (&op != end && op.use_empty())
      op.erase();
  llvm::BitVector unused(function.getNumArguments());
  for (BlockArgument argument : function.getArguments())
    if (argument.use_empty())
      unused.set(argument.getArgNumber());
    else
      check->arguments.push_back(argument.getArgNumber());
  if (failed(function.eraseArguments(unused)))
    return failure();
  function.setFunctionType(
      FunctionType::get(copy.getContext(), function.getArgumentTypes(), TypeRange(ValueRange(probes))));
  function.setResAttrsAttr(nullptr);
  check->name = name.str();
  auto made = reference::Interpreter::create(copy, check->none, reference::Precision::F32);
  if (failed(made))
    return failure();
  check->interpreter = std::move(*made);
  return check;
}

LogicalResult IndexCheck::run(ArrayRef<reference::Tensor> inputs) {
  if (!interpreter)
    return success();
  std::vector<reference::RunValue> read;
  for (unsigned argument : arguments)
    read.emplace_back(inputs[argument]);
  return interpreter->run(name, std::move(read));
}

} // namespace tilewright
