// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/driver/ReferenceModel.h"

#include "ir/tw/StepResults.h"
#include "ir/tw/Tw.h"

using namespace mlir;

namespace tilewright::driver {

llvm::Expected<ArrayRef<uint8_t>> GraphWeights::bytes(ml_program::GlobalOp global) {
  auto index = global->getAttrOfType<IntegerAttr>("tw.weight_index");
  if (!index)
    return llvm::createStringError("weight '" + global.getSymName() + "' is not one of the graph's");
  auto place = held.find(index.getInt());
  if (place == held.end())
    place = held.emplace(index.getInt(), graph.weights().bytes(static_cast<size_t>(index.getInt()))).first;
  return ArrayRef<uint8_t>(place->second);
}

ReferenceModel::ReferenceModel(const GraphFile &graph, reference::Precision precision)
    : weights(graph), width(graph.graph().vocab_size()), precision(precision),
      rereadLength(graph.graph().reread_length()) {
  stepEntry.name = graph.graph().entry()->str();
  if (graph.graph().encode_entry())
    encodeEntry.name = graph.graph().encode_entry()->str();
}

llvm::Expected<std::unique_ptr<ReferenceModel>> ReferenceModel::create(Session &session, ModuleOp module,
                                                                       reference::Precision precision) {
  std::unique_ptr<ReferenceModel> model(new ReferenceModel(session.graph(), precision));
  auto created = reference::Interpreter::create(module, model->weights, precision);
  if (failed(created))
    return llvm::createStringError("the model has no reference form (see above)");
  model->interpreter = std::move(*created);
  for (Entry *entry : {&model->stepEntry, &model->encodeEntry})
    if (!entry->name.empty())
      entry->function = model->interpreter->module().lookupSymbol<func::FuncOp>(entry->name);
  FailureOr<tw::StepResults> results = tw::stepResults(model->stepEntry.function);
  if (failed(results) || (!results->logits && results->outputs.empty()))
    return llvm::createStringError("the entry function is no step (see above)");
  model->logits = results->logits.has_value();
  model->outputNumbers = results->outputs;
  model->resultNumber = results->logits ? *results->logits : results->outputs.front();
  if (!model->logits) {
    auto output = cast<RankedTensorType>(model->stepEntry.function.getResultTypes()[model->resultNumber]);
    model->width = ShapedType::getNumElements(output.getShape().drop_front());
  }
  if (llvm::Error error = model->reset())
    return std::move(error);
  return model;
}

bool ReferenceModel::isWhole() {
  return llvm::any_of(stepEntry.function.getArgumentTypes(), [](Type type) {
    auto state = dyn_cast<tw::StateType>(type);
    return state && state.isTransient();
  });
}

llvm::Error ReferenceModel::reset() {
  states.clear();
  sources.clear();
  length = sourceLength = 0;
  history.clear();
  historyInputs.clear();
  return llvm::Error::success();
}

static reference::Tensor numbers(ArrayRef<int64_t> values) {
  reference::Tensor tensor = reference::Tensor::ints({static_cast<int64_t>(values.size())});
  tensor.integers.assign(values.begin(), values.end());
  return tensor;
}

llvm::Expected<std::vector<reference::RunValue>> ReferenceModel::run(Entry &entry, ArrayRef<int32_t> tokens,
                                                                     int64_t wanted, const RowInputs &inputs) {
  const int64_t count = static_cast<int64_t>(tokens.size());
  SmallVector<int64_t> positions, rows;
  for (int64_t i = 0; i < count; ++i) {
    positions.push_back(length + i);
    if (i + wanted >= count)
      rows.push_back(i);
  }
  const std::pair<StringRef, SmallVector<int64_t>> known[] = {
      {"tokens", SmallVector<int64_t>(tokens.begin(), tokens.end())},
      {"positions", positions},
      {"row_start", {0, count}},
      {"kv_len", {length + count}},
      {"logit_rows", rows},
      {"source_len", {sourceLength}},
      {"lengths", SmallVector<int64_t>(tokens.size(), length + count)}};
  std::vector<reference::RunValue> arguments;
  SmallVector<StringRef> changed; // states that the entry may return
  const bool encodes = entry.name == encodeEntry.name;
  for (BlockArgument argument : entry.function.getArguments()) {
    auto named = entry.function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "tw.name");
    StringRef name = named ? named.getValue() : "";
    if (auto type = dyn_cast<tw::StateType>(argument.getType())) {
      arguments.push_back((type.isSource() ? sources : states)[name]);
      if (encodes || !type.isSource())
        changed.push_back(name);
      continue;
    }
    const auto *own = llvm::find_if(known, [&](const auto &entry) { return entry.first == name; });
    SmallVector<int64_t> values(tokens.size(), 0); // of a further input
    if (own != std::end(known))
      values = own->second;
    else if (auto given = inputs.find(name); given != inputs.end())
      values.assign(given->second.begin(), given->second.end());
    arguments.push_back(numbers(values));
  }
  auto results = interpreter->run(entry.name, std::move(arguments));
  if (failed(results))
    return llvm::createStringError("the reference interpreter failed (see above)");
  size_t next = 0;
  for (auto [type, value] : llvm::zip_equal(entry.function.getResultTypes(), *results)) {
    auto state = dyn_cast<tw::StateType>(type);
    if (state && (encodes || !state.isSource()) && next < changed.size())
      (state.isSource() ? sources : states)[changed[next++]] = std::move(std::get<reference::StateHandle>(value));
  }
  return std::move(*results);
}

llvm::Error ReferenceModel::encode(ArrayRef<int32_t> tokens, const RowInputs &inputs) {
  if (!encodeEntry.function)
    return llvm::createStringError("the graph has no encode entry that could read a source");
  if (llvm::Error error = reset())
    return error;
  auto results = run(encodeEntry, tokens, static_cast<int64_t>(tokens.size()), inputs);
  if (!results)
    return results.takeError();
  sourceLength = static_cast<int64_t>(tokens.size());
  return llvm::Error::success();
}

llvm::Expected<std::vector<double>> ReferenceModel::step(ArrayRef<int32_t> tokens, bool lastOnly,
                                                         const RowInputs &inputs, OutputRows *outputs) {
  if (encodeEntry.function && sourceLength == 0)
    if (llvm::Error error = encode(tokens))
      return std::move(error);
  const int64_t count = static_cast<int64_t>(tokens.size()), wanted = lastOnly ? 1 : count;
  if (rereadLength == 0)
    return extend(tokens, wanted, inputs, outputs);
  history.insert(history.end(), tokens.begin(), tokens.end());
  for (const auto &input : inputs)
    historyInputs.try_emplace(input.getKey(), length); // zeros before
  for (auto &column : historyInputs) {
    if (auto given = inputs.find(column.getKey()); given != inputs.end())
      llvm::append_range(column.second, given->second);
    column.second.resize(history.size());
  }
  if (length == 0 || length > rereadLength || length + count <= rereadLength)
    return extend(tokens, wanted, inputs, outputs);
  states.clear();
  length = 0;
  return extend(history, wanted, historyInputs, outputs);
}

llvm::Expected<std::vector<double>> ReferenceModel::extend(ArrayRef<int32_t> tokens, int64_t wanted,
                                                           const RowInputs &inputs, OutputRows *outputs) {
  if (isWhole())
    length = 0;
  auto results = run(stepEntry, tokens, wanted, inputs);
  if (!results)
    return results.takeError();
  length += static_cast<int64_t>(tokens.size());
  if (outputs)
    for (unsigned number : outputNumbers)
      (*outputs)[tw::resultName(stepEntry.function, number).str()] =
          std::get<reference::Tensor>((*results)[number]).reals;
  return std::move(std::get<reference::Tensor>((*results)[resultNumber]).reals);
}

} // namespace tilewright::driver
