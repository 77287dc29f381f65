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
  return graph.weights().bytes(static_cast<size_t>(index.getInt()));
}

ReferenceModel::ReferenceModel(const GraphFile &graph, reference::Precision precision)
    : weights(graph), entry(graph.graph().entry()->str()), vocabulary(graph.graph().vocab_size()),
      precision(precision) {}

llvm::Expected<std::unique_ptr<ReferenceModel>> ReferenceModel::create(Session &session, ModuleOp module,
                                                                       reference::Precision precision) {
  std::unique_ptr<ReferenceModel> model(new ReferenceModel(session.graph(), precision));
  auto created = reference::Interpreter::create(module, model->weights, precision);
  if (failed(created))
    return llvm::createStringError("the model has no reference form (see above)");
  model->interpreter = std::move(*created);
  model->function = model->interpreter->module().lookupSymbol<func::FuncOp>(model->entry);
  FailureOr<tw::StepResults> results = tw::stepResults(model->function);
  if (failed(results))
    return llvm::createStringError("the entry function is no step (see above)");
  model->logitsResult = results->logits;
  if (llvm::Error error = model->reset())
    return std::move(error);
  return model;
}

llvm::Error ReferenceModel::reset() {
  states.assign(static_cast<size_t>(
                    llvm::count_if(function.getArgumentTypes(), [](Type type) { return isa<tw::StateType>(type); })),
                {});
  length = 0;
  return llvm::Error::success();
}

static reference::Tensor numbers(ArrayRef<int64_t> values) {
  reference::Tensor tensor = reference::Tensor::ints({static_cast<int64_t>(values.size())});
  tensor.integers.assign(values.begin(), values.end());
  return tensor;
}

llvm::Expected<std::vector<double>> ReferenceModel::step(ArrayRef<int32_t> tokens, bool lastOnly) {
  const int64_t count = static_cast<int64_t>(tokens.size());
  SmallVector<int64_t> ids(tokens.begin(), tokens.end()), positions, rows;
  for (int64_t i = 0; i < count; ++i) {
    positions.push_back(length + i);
    if (!lastOnly || i + 1 == count)
      rows.push_back(i);
  }
  std::vector<reference::RunValue> inputs;
  size_t state = 0;
  for (BlockArgument argument : function.getArguments()) {
    if (isa<tw::StateType>(argument.getType())) {
      inputs.push_back(states[state++]);
      continue;
    }
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "tw.name");
    StringRef known = name ? name.getValue() : "";
    if (known == "tokens")
      inputs.push_back(numbers(ids));
    else if (known == "positions")
      inputs.push_back(numbers(positions));
    else if (known == "row_start")
      inputs.push_back(numbers({0, count}));
    else if (known == "kv_len")
      inputs.push_back(numbers({length + count}));
    else if (known == "logit_rows")
      inputs.push_back(numbers(rows));
    else
      return llvm::createStringError("the entry function has an input '" + known + "' that is not part of a step");
  }
  auto outputs = interpreter->run(entry, std::move(inputs));
  if (failed(outputs))
    return llvm::createStringError("the reference interpreter failed (see above)");
  std::vector<double> logits;
  state = 0;
  for (auto [number, value] : llvm::enumerate(*outputs)) {
    if (auto *handle = std::get_if<reference::StateHandle>(&value))
      states[state++] = std::move(*handle);
    else if (number == logitsResult)
      logits = std::move(std::get<reference::Tensor>(value).reals);
  }
  length += count;
  return logits;
}

} // namespace tilewright::driver
