// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/cpu/EntryEmitter.h"

#include "ir/tw/RowCount.h"
#include "ir/tw/StepResults.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"

#include <map>

using namespace mlir;

namespace tilewright {

void EntryEmitter::openFunction(Frame &frame, StringRef name, LLVM::Linkage linkage, ArrayRef<Type> argumentTypes) {
  b.setInsertionPointToEnd(target.getBody());
  frame.code = LLVM::LLVMFuncOp::create(b, loc, name, LLVM::LLVMFunctionType::get(i32, argumentTypes), linkage);
  frame.code->setAttr("passthrough", b.getStrArrayAttr({"no-builtins"}));
  frame.allocas = frame.code.addEntryBlock(b);
  Block *body = new Block();
  frame.code.getBody().push_back(body);
  frame.cancelled = new Block();
  frame.code.getBody().push_back(frame.cancelled);
  frame.cancelled->addArgument(i32, loc);
  b.setInsertionPointToEnd(frame.cancelled);
  LLVM::ReturnOp::create(b, loc, ValueRange{frame.cancelled->getArgument(0)});
  b.setInsertionPointToEnd(frame.allocas);
  LLVM::BrOp::create(b, loc, ValueRange{}, body);
  b.setInsertionPointToEnd(body);
  frame.step = frame.allocas->getArgument(0);
}

void EntryEmitter::closeFunction(Frame &frame) {
  Value zero = LLVM::ConstantOp::create(b, loc, i32, b.getI32IntegerAttr(0));
  LLVM::ReturnOp::create(b, loc, ValueRange{zero});
}

void EntryEmitter::loadUnits(Frame &frame) {
  frame.regionUnit[0] = field(frame.step, offsetof(tw_abi_step, padded_rows), i64);
  frame.regionUnit[1] = field(frame.step, offsetof(tw_abi_step, padded_logit_rows), i64);
  frame.regionUnit[2] = constant(1);
}

Block *EntryEmitter::newBlock(Frame &frame) {
  auto *block = new Block();
  frame.code.getBody().getBlocks().insert(frame.cancelled->getIterator(), block);
  return block;
}

Value EntryEmitter::pointerOf(Frame &frame, const Address &form, Value number) {
  auto entryOf = [&](size_t table) -> Value {
    Value base = field(frame.step, table, ptr);
    return LLVM::LoadOp::create(
        b, loc, ptr, LLVM::GEPOp::create(b, loc, ptr, ptr, base, ArrayRef<LLVM::GEPArg>{number}).getResult());
  };
  switch (form.kind) {
  case Address::Kind::Pointer:
    break;
  case Address::Kind::Weight:
    return entryOf(offsetof(tw_abi_step, weights));
  case Address::Kind::State:
    return entryOf(offsetof(tw_abi_step, states));
  case Address::Kind::WindowPages:
    return entryOf(offsetof(tw_abi_step, window_pages));
  case Address::Kind::WindowRowSlots:
    return entryOf(offsetof(tw_abi_step, window_row_slots));
  case Address::Kind::Arena: {
    const auto region = static_cast<unsigned>(form.region);
    return byteOffset(frame.regionBase[region], LLVM::MulOp::create(b, loc, frame.regionUnit[region], number));
  }
  }
  return form.pointer;
}

void EntryEmitter::returnIfCancelled(Frame &frame, Value status) {
  Value zero = LLVM::ConstantOp::create(b, loc, i32, b.getI32IntegerAttr(0));
  Value stop = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ne, status, zero);
  Block *next = newBlock(frame);
  LLVM::CondBrOp::create(b, loc, stop, frame.cancelled, ValueRange{status}, next, ValueRange{});
  b.setInsertionPointToEnd(next);
}

LogicalResult EntryEmitter::emitEntry(func::FuncOp function) {
  // Layers first: a call needs its callee.
  for (auto call : function.getOps<func::CallOp>()) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!target.lookupSymbol(layerName(callee)) && failed(emitLayer(callee)))
      return failure();
  }

  Frame frame;
  frame.source = function;
  openFunction(frame, symbol, LLVM::Linkage::External, {ptr});
  loadUnits(frame);
  const FunctionPlan &own = plan.find(function)->second;
  Value base = field(frame.step, offsetof(tw_abi_step, arena), ptr);
  for (unsigned region = 0; region < numArenaRegions; ++region) {
    frame.regionBase[region] = base;
    Value bytes =
        LLVM::MulOp::create(b, loc, frame.regionUnit[region], constant(static_cast<int64_t>(own.size.bytes[region])));
    base = byteOffset(base, bytes);
  }

  static const std::pair<StringRef, size_t> inputs[] = {
      {"tokens", offsetof(tw_abi_step, tokens)},        {"positions", offsetof(tw_abi_step, positions)},
      {"row_start", offsetof(tw_abi_step, row_start)},  {"kv_len", offsetof(tw_abi_step, kv_len)},
      {"logit_rows", offsetof(tw_abi_step, logit_ids)}, {"source_len", offsetof(tw_abi_step, source_len)},
      {"lengths", offsetof(tw_abi_step, lengths)}};
  for (BlockArgument argument : function.getArguments()) {
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "tw.name");
    if (!name)
      return function.emitError("argument ") << argument.getArgNumber() << " of the entry has no tw.name";
    if (isa<tw::StateType>(argument.getType()))
      continue;
    const auto *input = llvm::find_if(inputs, [&](auto &entry) { return entry.first == name.getValue(); });
    if (input != std::end(inputs)) {
      frame.addresses[argument] = {.pointer = field(frame.step, input->second, ptr)};
      continue;
    }
    auto further = tables.inputs.find(name.getValue());
    if (further == tables.inputs.end())
      return function.emitError("the entry has an input '")
             << name.getValue() << "', which is not in the manifest's table";
    Value all = field(frame.step, offsetof(tw_abi_step, inputs), ptr);
    frame.addresses[argument] = {
        .pointer = LLVM::LoadOp::create(b, loc, ptr, slot(all, static_cast<unsigned>(further->second)))};
  }
  if (failed(placeStates(frame)) || failed(placeResults(frame)) || failed(emitBody(frame)))
    return failure();
  closeFunction(frame);
  return success();
}

LogicalResult EntryEmitter::placeStates(Frame &frame) {
  func::FuncOp function = frame.source;
  std::map<size_t, Value> stepTables; // each loaded once, so that calls of layers are alike
  for (BlockArgument argument : function.getArguments()) {
    auto state = dyn_cast<tw::StateType>(argument.getType());
    if (!state)
      continue;
    StringRef name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "tw.name").getValue();
    auto index = tables.states.find(name);
    if (index == tables.states.end())
      return function.emitError("state '") << name << "' is not in the manifest's table";
    SmallVector<Address> &pointers = frame.states[argument];
    for (unsigned i = 0, e = state.getBuffers().size(); i < e; ++i)
      pointers.push_back({.kind = Address::Kind::State, .number = index->second + i});
    if (auto window = tables.windows.find(name); window != tables.windows.end()) {
      pointers.push_back({.kind = Address::Kind::WindowPages, .number = window->second});
      pointers.push_back({.kind = Address::Kind::WindowRowSlots, .number = window->second});
      continue;
    }
    for (size_t offset :
         {state.isSource() ? offsetof(tw_abi_step, source_pages) : offsetof(tw_abi_step, pages),
          state.isSource() ? offsetof(tw_abi_step, source_row_slots) : offsetof(tw_abi_step, row_slots)}) {
      Value &table = stepTables[offset];
      if (!table)
        table = field(frame.step, offset, ptr);
      pointers.push_back({.pointer = table});
    }
  }
  return success();
}

LogicalResult EntryEmitter::placeResults(Frame &frame) {
  func::FuncOp function = frame.source;
  FailureOr<tw::StepResults> results = tw::stepResults(function);
  if (failed(results))
    return failure();
  Operation *terminator = function.front().getTerminator();
  if (results->logits)
    returnDestinations[storageOf(terminator->getOperand(*results->logits))] = {
        .pointer = field(frame.step, offsetof(tw_abi_step, logits), ptr)};
  if (results->outputs.empty())
    return success();

  Value table = field(frame.step, offsetof(tw_abi_step, outputs), ptr);
  SmallVector<uint64_t> served(terminator->getNumOperands(), always); // by result
  for (auto [i, number] : llvm::enumerate(results->outputs)) {
    Value value = storageOf(terminator->getOperand(number));
    if (returnDestinations.count(value))
      return function.emitError("output '")
             << tw::resultName(function, number) << "' is a value that is returned twice; wanted it under one name";
    Value given = LLVM::LoadOp::create(b, loc, ptr, slot(table, static_cast<unsigned>(i)));
    Value wanted =
        LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ne, given, LLVM::ZeroOp::create(b, loc, ptr).getResult());
    frame.outputWanted.push_back(wanted);
    served[number] = uint64_t(1) << i;
    // What is made for others as well has a place of its own for a caller who does not want it.
    const FunctionPlan &own = plan.find(function)->second;
    if (auto place = own.places.find(value); place != own.places.end()) {
      const Address inside = {.kind = Address::Kind::Arena,
                              .region = place->second.region,
                              .number = static_cast<int64_t>(place->second.offset)};
      given = LLVM::SelectOp::create(b, loc, wanted, given, pointerOf(frame, inside));
    }
    returnDestinations[value] = {.pointer = given};
  }
  for (Operation &op : llvm::drop_begin(llvm::reverse(function.front()))) {
    uint64_t word = 0;
    for (OpOperand &use : op.getUses())
      word |= use.getOwner() == terminator ? served[use.getOperandNumber()] : frame.servedOutputs[use.getOwner()];
    frame.servedOutputs[&op] = word ? word : always;
  }
  return success();
}

LogicalResult EntryEmitter::emitLayer(func::FuncOp function) {
  for (auto call : function.getOps<func::CallOp>()) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!target.lookupSymbol(layerName(callee)) && failed(emitLayer(callee)))
      return failure();
  }
  Frame frame;
  frame.source = function;
  openFunction(frame, layerName(function), LLVM::Linkage::Internal, {ptr, ptr});
  loadUnits(frame);
  Value table = frame.allocas->getArgument(1);
  ArgumentSlots slots(function);
  auto load = [&](unsigned index) -> Address {
    return {.pointer = LLVM::LoadOp::create(b, loc, ptr, slot(table, index))};
  };
  for (BlockArgument argument : function.getArguments()) {
    unsigned first = slots.first[argument.getArgNumber()];
    if (auto state = dyn_cast<tw::StateType>(argument.getType())) {
      for (unsigned i = 0, e = statePointers(state); i < e; ++i)
        frame.states[argument].push_back(load(first + i));
      continue;
    }
    frame.addresses[argument] = load(first);
  }
  for (auto [index, value] : llvm::enumerate(function.front().getTerminator()->getOperands()))
    if (slots.results[index] >= 0)
      returnDestinations[storageOf(value)] = load(static_cast<unsigned>(slots.results[index]));
  for (unsigned region = 0; region < numArenaRegions; ++region)
    frame.regionBase[region] = load(slots.regionBases + region).pointer;
  if (failed(emitBody(frame)))
    return failure();
  closeFunction(frame);
  return success();
}

/// The elements of a constant as they lie in a buffer.
static std::string bytesOf(DenseElementsAttr elements) {
  std::string bytes;
  if (elements.getElementType().isInteger(1)) { // a byte each
    for (bool element : elements.getValues<bool>())
      bytes.push_back(static_cast<char>(element));
    return bytes;
  }
  ArrayRef<char> raw = elements.getRawData();
  for (int64_t i = 0, count = elements.isSplat() ? elements.getNumElements() : 1; i < count; ++i)
    bytes.append(raw.begin(), raw.end());
  return bytes;
}

Value EntryEmitter::constantData(Frame &frame, tw::ConstantOp op) {
  const std::string bytes = bytesOf(cast<DenseElementsAttr>(op.getValue()));
  const std::string name = (symbol + ".constant." + Twine(constants++)).str();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(target.getBody());
  auto global = LLVM::GlobalOp::create(b, loc, LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size()),
                                       /*isConstant=*/true, LLVM::Linkage::Internal, name, b.getStringAttr(bytes));
  global.setAlignment(64);
  b.setInsertionPoint(frame.allocas->getTerminator());
  return LLVM::AddressOfOp::create(b, loc, ptr, name);
}

LogicalResult EntryEmitter::noteAddress(Frame &frame, Operation &op) {
  if (auto view = dyn_cast<tw::ReshapeOp>(op)) {
    frame.addresses[view.getResult()] = frame.addresses.lookup(view.getInput());
    return success();
  }
  if (auto data = dyn_cast<tw::ConstantOp>(op)) {
    if (!isa<DenseElementsAttr>(data.getValue()))
      return op.emitError("is no constant of numbers that are all there");
    frame.addresses[data.getResult()] = {.pointer = constantData(frame, data)};
    return success();
  }
  auto weight = cast<ml_program::GlobalLoadConstOp>(op);
  StringRef name = weight.getGlobal().getLeafReference().getValue();
  auto index = tables.weights.find(name);
  if (index == tables.weights.end())
    return op.emitError("weight '") << name << "' is not in the manifest's table";
  frame.addresses[weight.getResult()] = {.kind = Address::Kind::Weight, .number = index->second};
  return success();
}

LogicalResult EntryEmitter::emitBody(Frame &frame) {
  SmallVector<LayerCall> calls; // planned, not emitted yet
  auto flush = [&] {
    emitCalls(frame, calls);
    calls.clear();
  };
  // Ops that serve the same outputs are skipped together when none of those is wanted.
  uint64_t served = always;
  Block *behind = nullptr; // the skipped ones
  auto enter = [&](uint64_t word) {
    if (word == served)
      return;
    flush();
    if (behind) {
      LLVM::BrOp::create(b, loc, ValueRange{}, behind);
      b.setInsertionPointToEnd(std::exchange(behind, nullptr));
    }
    served = word;
    if (word == always)
      return;
    Value any;
    for (auto [i, wanted] : llvm::enumerate(frame.outputWanted))
      if (word >> i & 1)
        any = any ? LLVM::OrOp::create(b, loc, any, wanted).getResult() : wanted;
    Block *body = newBlock(frame);
    behind = newBlock(frame);
    LLVM::CondBrOp::create(b, loc, any, body, ValueRange{}, behind, ValueRange{});
    b.setInsertionPointToEnd(body);
  };
  for (Operation &op : frame.source.front().without_terminator()) {
    if (isa<tw::ReshapeOp, tw::ConstantOp, ml_program::GlobalLoadConstOp>(op)) {
      if (failed(noteAddress(frame, op)))
        return failure();
      continue;
    }
    auto found = frame.servedOutputs.find(&op);
    enter(found == frame.servedOutputs.end() ? always : found->second);
    if (auto call = dyn_cast<func::CallOp>(op)) {
      FailureOr<LayerCall> planned = planCall(frame, call);
      if (failed(planned))
        return failure();
      calls.push_back(std::move(*planned));
    } else if (auto dispatch = dyn_cast<tw::DispatchOp>(op)) {
      flush();
      if (failed(emitDispatch(frame, dispatch)))
        return failure();
    } else {
      return op.emitError("'")
             << op.getName()
             << "' is left in a program after the tile stage; wanted dispatches, calls and weight loads";
    }
  }
  flush();
  enter(always);
  for (Value value : frame.source.front().getTerminator()->getOperands())
    if (isa<RankedTensorType>(value.getType()) && !isa<OpResult>(storageOf(value)))
      return frame.source.emitError("returns one of its tensor arguments unchanged; a result must be made by a kernel");
  return success();
}

FailureOr<Address> EntryEmitter::resultAddress(Frame &frame, OpResult result) {
  if (auto it = returnDestinations.find(result); it != returnDestinations.end())
    return it->second;
  const FunctionPlan &own = plan.find(frame.source)->second;
  auto place = own.places.find(result);
  if (place == own.places.end())
    return result.getOwner()->emitError("result ") << result.getResultNumber() << " has no place in the memory plan";
  return Address{.kind = Address::Kind::Arena,
                 .region = place->second.region,
                 .number = static_cast<int64_t>(place->second.offset)};
}

FailureOr<Value> EntryEmitter::symbolValue(Frame &frame, func::FuncOp kernel, StringRef name) {
  static const std::pair<StringRef, size_t> counts[] = {
      {"N", offsetof(tw_abi_step, padded_rows)},  {"rows", offsetof(tw_abi_step, rows)},
      {"T", offsetof(tw_abi_step, tile_count)},   {"R", offsetof(tw_abi_step, padded_logit_rows)},
      {"P", offsetof(tw_abi_step, page_entries)}, {"SP", offsetof(tw_abi_step, source_page_entries)}};
  // The size of a pool is not part of the step; kernels index it by page number and never loop over it.
  if (name == "POOL")
    return constant(INT32_MAX);
  tw::RowCount rows = tw::RowCount::parse(name);
  const auto *count = llvm::find_if(counts, [&](auto &entry) { return entry.first == rows.base; });
  if (count == std::end(counts))
    return kernel.emitError("unknown symbol '")
           << name << "'; wanted N, rows, T, R, P, SP or POOL, or a multiple of one";
  Value value = field(frame.step, count->second, i64);
  return rows.factor == 1 ? value : LLVM::MulOp::create(b, loc, value, constant(rows.factor)).getResult();
}

FailureOr<Value> EntryEmitter::tableOfState(Frame &frame, tw::DispatchOp op, bool ofPages) {
  const Address *found = nullptr;
  for (Value input : op.getInputs()) {
    auto state = frame.states.find(input);
    if (state == frame.states.end())
      continue;
    const Address &own = state->second.end()[ofPages ? -2 : -1];
    if (found && (!found->isLike(own) || found->number != own.number))
      return op.emitError("has states of two windows; wanted those of one");
    found = &own;
  }
  if (!found)
    return op.emitError("reads a table of a state, but takes none");
  return pointerOf(frame, *found);
}

FailureOr<Value> EntryEmitter::kernelArgument(Frame &frame, tw::DispatchOp op, func::FuncOp kernel, unsigned index) {
  if (auto name = kernel.getArgAttrOfType<StringAttr>(index, "tw.symbol")) {
    FailureOr<Value> value = symbolValue(frame, kernel, name.getValue());
    if (failed(value))
      return failure();
    return LLVM::IntToPtrOp::create(b, loc, ptr, *value).getResult();
  }
  auto source = kernel.getArgAttrOfType<ArrayAttr>(index, "tw.source");
  auto bad = [&]() { return kernel.emitError("argument ") << index << " has no usable tw.source"; };
  if (!source || source.size() < 2)
    return bad();
  StringRef kind = cast<StringAttr>(source[0]).getValue();
  if (kind == "table") {
    StringRef name = cast<StringAttr>(source[1]).getValue(), table = name;
    const bool ofSource = table.consume_front("source_");
    if (table == "tiles")
      return field(frame.step, ofSource ? offsetof(tw_abi_step, source_tiles) : offsetof(tw_abi_step, tiles), ptr);
    if (table != "pages" && table != "row_slots")
      return kernel.emitError("unknown step table '")
             << name << "'; wanted tiles, pages or row_slots, or source_ and one";
    return tableOfState(frame, op, table == "pages");
  }
  unsigned which = static_cast<unsigned>(cast<IntegerAttr>(source[1]).getInt());
  if (kind == "operand" && which < op.getInputs().size())
    if (auto address = frame.addresses.find(op.getInputs()[which]); address != frame.addresses.end())
      return pointerOf(frame, address->second);
  if (kind == "result" && which < op.getNumResults())
    return pointerOf(frame, frame.addresses.lookup(op.getResult(which)));
  if (kind == "state" && source.size() == 3 && which < op.getInputs().size()) {
    unsigned buffer = static_cast<unsigned>(cast<IntegerAttr>(source[2]).getInt());
    auto state = frame.states.find(op.getInputs()[which]);
    if (state != frame.states.end() && buffer + 2 < state->second.size())
      return pointerOf(frame, state->second[buffer]);
  }
  return bad();
}

LogicalResult EntryEmitter::emitDispatch(Frame &frame, tw::DispatchOp op) {
  auto kernel = symbols.lookup<func::FuncOp>(op.getKernel());
  if (!kernel)
    return op.emitError("kernel '") << op.getKernel() << "' is not in the module";

  // Results: tensors get their place, a state is its operand updated in place.
  Value stateOperand;
  for (Value input : op.getInputs())
    if (isa<tw::StateType>(input.getType()))
      stateOperand = input;
  for (OpResult result : op->getResults()) {
    if (isa<tw::StateType>(result.getType())) {
      if (!stateOperand)
        return op.emitError("makes a state without taking one");
      SmallVector<Address> state = frame.states.lookup(stateOperand);
      frame.states[result] = state;
      continue;
    }
    FailureOr<Address> address = resultAddress(frame, result);
    if (failed(address))
      return failure();
    frame.addresses[result] = *address;
  }

  unsigned arguments = kernel.getNumArguments() - 2; // without the range of chunks
  Value table = localArray(frame, std::max(arguments, 1u));
  for (unsigned i = 0; i < arguments; ++i) {
    FailureOr<Value> value = kernelArgument(frame, op, kernel, i);
    if (failed(value))
      return failure();
    LLVM::StoreOp::create(b, loc, *value, slot(table, i));
  }

  SmallVector<Value> counts = {field(frame.step, offsetof(tw_abi_step, padded_rows), i64),
                               field(frame.step, offsetof(tw_abi_step, rows), i64),
                               field(frame.step, offsetof(tw_abi_step, tile_count), i64),
                               field(frame.step, offsetof(tw_abi_step, padded_logit_rows), i64)};
  std::function<Value(AffineExpr)> expand = [&](AffineExpr expr) -> Value {
    if (auto value = dyn_cast<AffineConstantExpr>(expr))
      return constant(value.getValue());
    if (auto value = dyn_cast<AffineSymbolExpr>(expr))
      return counts[value.getPosition()];
    auto binary = cast<AffineBinaryOpExpr>(expr);
    Value lhs = expand(binary.getLHS()), rhs = expand(binary.getRHS());
    switch (expr.getKind()) {
    case AffineExprKind::Add:
      return LLVM::AddOp::create(b, loc, lhs, rhs);
    case AffineExprKind::Mul:
      return LLVM::MulOp::create(b, loc, lhs, rhs);
    case AffineExprKind::FloorDiv:
      return LLVM::UDivOp::create(b, loc, lhs, rhs);
    case AffineExprKind::CeilDiv: {
      Value up = LLVM::SubOp::create(b, loc, LLVM::AddOp::create(b, loc, lhs, rhs), constant(1));
      return LLVM::UDivOp::create(b, loc, up, rhs);
    }
    default:
      return LLVM::URemOp::create(b, loc, lhs, rhs);
    }
  };
  Value chunks = expand(op.getChunks().getResult(0));

  std::string code = kernelSymbol(op.getKernel());
  if (!target.lookupSymbol(code)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(target.getBody());
    LLVM::LLVMFuncOp::create(b, loc, code,
                             LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {ptr, i64, i64}));
  }
  static_assert(sizeof(tw_abi_work) == 24, "a work is three 64-bit words");
  Value work = localArray(frame, 3);
  LLVM::StoreOp::create(b, loc, LLVM::AddressOfOp::create(b, loc, ptr, code), slot(work, 0));
  LLVM::StoreOp::create(b, loc, table, slot(work, 1));
  LLVM::StoreOp::create(b, loc, chunks, slot(work, 2));
  Value phase = field(frame.step, offsetof(tw_abi_step, phase), ptr);
  auto phaseType = LLVM::LLVMFunctionType::get(i32, {ptr, ptr, i64});
  auto call = LLVM::CallOp::create(b, loc, phaseType, ValueRange{phase, frame.step, work, constant(1)});
  returnIfCancelled(frame, call.getResult());
  return success();
}

LogicalResult emitStepEntry(ModuleOp program, StringRef entryName, const ProgramPlan &plan, const ProgramTables &tables,
                            StringRef symbol, llvm::function_ref<std::string(StringRef)> kernelSymbol,
                            ModuleOp target) {
  auto function = program.lookupSymbol<func::FuncOp>(entryName);
  if (!function)
    return program.emitError("no function '") << entryName << "' in the program";
  return EntryEmitter(program, plan, tables, symbol, kernelSymbol, target).emitEntry(function);
}

void emitEntryTable(ArrayRef<std::string> entries, ModuleOp target) {
  OpBuilder b = OpBuilder::atBlockEnd(target.getBody());
  Location loc = b.getUnknownLoc();
  Type ptr = LLVM::LLVMPointerType::get(b.getContext());
  auto entryType = LLVM::LLVMFunctionType::get(b.getI32Type(), {ptr});
  for (const std::string &entry : entries)
    LLVM::LLVMFuncOp::create(b, loc, entry, entryType);

  auto arrayType = LLVM::LLVMArrayType::get(ptr, entries.size());
  auto array = LLVM::GlobalOp::create(b, loc, arrayType, /*isConstant=*/true, LLVM::Linkage::Internal,
                                      "tilewright_entries", Attribute());
  {
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&array.getInitializerRegion());
    Value value = LLVM::UndefOp::create(b, loc, arrayType);
    for (auto [index, entry] : llvm::enumerate(entries))
      value = LLVM::InsertValueOp::create(b, loc, value, LLVM::AddressOfOp::create(b, loc, ptr, entry),
                                          static_cast<int64_t>(index));
    LLVM::ReturnOp::create(b, loc, ValueRange{value});
  }

  static_assert(offsetof(tw_abi_table, abi_version) == 8 && offsetof(tw_abi_table, entries) == 12 &&
                    offsetof(tw_abi_table, entry) == 16,
                "the table below is laid out so");
  auto tableType =
      LLVM::LLVMStructType::getLiteral(b.getContext(), {b.getI64Type(), b.getI32Type(), b.getI32Type(), ptr});
  auto table = LLVM::GlobalOp::create(b, loc, tableType, /*isConstant=*/true, LLVM::Linkage::External,
                                      TW_ABI_TABLE_SYMBOL, Attribute());
  b.createBlock(&table.getInitializerRegion());
  Value value = LLVM::UndefOp::create(b, loc, tableType);
  Value fields[] = {LLVM::ConstantOp::create(b, loc, b.getI64IntegerAttr(sizeof(tw_abi_table))),
                    LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(TW_ABI_VERSION)),
                    LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(static_cast<int32_t>(entries.size()))),
                    LLVM::AddressOfOp::create(b, loc, ptr, "tilewright_entries")};
  for (auto [index, field] : llvm::enumerate(fields))
    value = LLVM::InsertValueOp::create(b, loc, value, field, static_cast<int64_t>(index));
  LLVM::ReturnOp::create(b, loc, ValueRange{value});
}

} // namespace tilewright
