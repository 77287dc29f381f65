// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of layer functions. A model's layers are calls that follow one another and differ in numbers alone: which
// weights, which states, where in the arena. They become one loop over a constant table of those numbers, so that code
// does not grow with depth. Where layers differ in structure, each structure has its code in the loop.
#include "backends/cpu/EntryEmitter.h"

using namespace mlir;

namespace tilewright {

FailureOr<EntryEmitter::LayerCall> EntryEmitter::planCall(Frame &frame, func::CallOp op) {
  LayerCall call{op, symbols.lookup<func::FuncOp>(op.getCallee()), {}};
  ArgumentSlots slots(call.callee);
  call.slots.resize(slots.count);
  for (auto [index, operand] : llvm::enumerate(op.getOperands())) {
    if (isa<tw::StateType>(operand.getType())) {
      llvm::copy(frame.states.lookup(operand), call.slots.begin() + slots.first[index]);
      continue;
    }
    auto address = frame.addresses.find(operand);
    if (address == frame.addresses.end())
      return op.emitError("operand ") << index << " has no address";
    call.slots[slots.first[index]] = address->second;
  }
  for (OpResult result : op->getResults()) {
    int at = slots.results[result.getResultNumber()];
    if (at < 0) {
      // The callee returns the state it was given: find which argument its returned value came from.
      Value inner = call.callee.front().getTerminator()->getOperand(result.getResultNumber());
      while (auto *made = inner.getDefiningOp()) {
        Value before;
        for (Value operand : made->getOperands())
          if (isa<tw::StateType>(operand.getType()))
            before = operand;
        if (!before)
          return op.emitError("the callee makes a state without taking one");
        inner = before;
      }
      SmallVector<Address> state = frame.states.lookup(op.getOperand(cast<BlockArgument>(inner).getArgNumber()));
      frame.states[result] = state;
      continue;
    }
    FailureOr<Address> address = resultAddress(frame, result);
    if (failed(address))
      return failure();
    frame.addresses[result] = call.slots[static_cast<unsigned>(at)] = *address;
  }
  const FunctionPlan &own = plan.find(frame.source)->second;
  auto base = own.callBases.find(op);
  for (unsigned region = 0; region < numArenaRegions; ++region)
    call.slots[slots.regionBases + region] = {
        .kind = Address::Kind::Arena,
        .region = static_cast<ArenaRegion>(region),
        .number = base == own.callBases.end() ? 0 : static_cast<int64_t>(base->second.bytes[region])};
  return call;
}

void EntryEmitter::emitCalls(Frame &frame, ArrayRef<LayerCall> calls) {
  SmallVector<const LayerCall *> forms;
  for (const LayerCall &call : calls)
    if (llvm::none_of(forms, [&](const LayerCall *form) { return form->isLike(call); }))
      forms.push_back(&call);
  if (forms.size() < calls.size())
    return emitLoop(frame, calls, forms);
  for (const LayerCall &call : calls) {
    SmallVector<Value> numbers =
        llvm::map_to_vector(call.slots, [&](const Address &address) { return constant(address.number); });
    returnIfCancelled(frame, emitCall(frame, call, numbers));
  }
}

Value EntryEmitter::emitCall(Frame &frame, const LayerCall &form, ArrayRef<Value> numbers) {
  Value table = localArray(frame, std::max<unsigned>(form.slots.size(), 1u));
  for (auto [index, address] : llvm::enumerate(form.slots))
    LLVM::StoreOp::create(b, loc, pointerOf(frame, address, numbers[index]), slot(table, index));
  auto code = target.lookupSymbol<LLVM::LLVMFuncOp>(layerName(form.callee));
  return LLVM::CallOp::create(b, loc, code, ValueRange{frame.step, table}).getResult();
}

void EntryEmitter::emitLoop(Frame &frame, ArrayRef<LayerCall> calls, ArrayRef<const LayerCall *> forms) {
  // A call's row of the table: the number of its form, then the numbers that differ among the calls of that form.
  struct Column {
    int64_t at = -1; ///< in the row; -1: `same` in all calls
    int64_t same = 0;
  };
  SmallVector<SmallVector<Column>> columns(forms.size());
  auto formOf = [&](const LayerCall &call) {
    return llvm::find_if(forms, [&](const LayerCall *form) { return form->isLike(call); }) - forms.begin();
  };
  int64_t width = 1;
  for (auto [index, form] : llvm::enumerate(forms)) {
    int64_t next = 1;
    for (unsigned slot = 0; slot < form->slots.size(); ++slot) {
      Column column{-1, form->slots[slot].number};
      if (llvm::any_of(calls, [&](const LayerCall &call) {
            return form->isLike(call) && call.slots[slot].number != column.same;
          }))
        column.at = next++;
      columns[index].push_back(column);
    }
    width = std::max(width, next);
  }
  SmallVector<int64_t> numbers(calls.size() * width, 0);
  for (auto [row, call] : llvm::enumerate(calls)) {
    const auto form = formOf(call);
    numbers[row * width] = form;
    for (auto [slot, column] : llvm::enumerate(columns[form]))
      if (column.at >= 0)
        numbers[row * width + column.at] = call.slots[slot].number;
  }
  const std::string name = (frame.code.getSymName() + ".layers" + Twine(tablesMade++)).str();
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(frame.code);
    auto type = RankedTensorType::get({static_cast<int64_t>(numbers.size())}, i64);
    LLVM::GlobalOp::create(b, loc, LLVM::LLVMArrayType::get(i64, numbers.size()), /*isConstant=*/true,
                           LLVM::Linkage::Internal, name, DenseElementsAttr::get(type, ArrayRef(numbers)));
  }

  Value first = constant(0), end = constant(static_cast<int64_t>(calls.size()));
  Block *body = newBlock(frame), *latch = newBlock(frame), *exit = newBlock(frame);
  Value layer = body->addArgument(i64, loc), status = latch->addArgument(i32, loc);
  LLVM::BrOp::create(b, loc, ValueRange{first}, body);

  b.setInsertionPointToEnd(body);
  Value row =
      LLVM::GEPOp::create(b, loc, ptr, i64, LLVM::AddressOfOp::create(b, loc, ptr, name),
                          ArrayRef<LLVM::GEPArg>{LLVM::MulOp::create(b, loc, layer, constant(width)).getResult()});
  auto load = [&](int64_t at) -> Value {
    return LLVM::LoadOp::create(
        b, loc, i64, LLVM::GEPOp::create(b, loc, ptr, i64, row, ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(at)}));
  };
  for (auto [index, form] : llvm::enumerate(forms)) {
    Block *others = nullptr;
    if (index + 1 < forms.size()) {
      Value isThis =
          LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, load(0), constant(static_cast<int64_t>(index)));
      Block *own = newBlock(frame);
      others = newBlock(frame);
      LLVM::CondBrOp::create(b, loc, isThis, own, ValueRange{}, others, ValueRange{});
      b.setInsertionPointToEnd(own);
    }
    SmallVector<Value> given = llvm::map_to_vector(
        columns[index], [&](Column column) { return column.at < 0 ? constant(column.same) : load(column.at); });
    LLVM::BrOp::create(b, loc, ValueRange{emitCall(frame, *form, given)}, latch);
    if (others)
      b.setInsertionPointToEnd(others);
  }

  b.setInsertionPointToEnd(latch);
  returnIfCancelled(frame, status);
  Value next = LLVM::AddOp::create(b, loc, layer, constant(1));
  Value more = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::slt, next, end);
  LLVM::CondBrOp::create(b, loc, more, body, ValueRange{next}, exit, ValueRange{});
  b.setInsertionPointToEnd(exit);
}

} // namespace tilewright
