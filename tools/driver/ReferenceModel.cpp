// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference interpreter as a LogitsModel: one sequence, step by step.
#include "tools/driver/LogitsModel.h"

#include "ir/tw/Tw.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace tilewright::driver {
namespace {

/// Bytes of the graph's weights for the interpreter.
class GraphWeights : public reference::WeightProvider {
public:
  explicit GraphWeights(const GraphFile &graph) : graph(graph) {}
  llvm::Expected<ArrayRef<uint8_t>> bytes(ml_program::GlobalOp global) override {
    auto index = global->getAttrOfType<IntegerAttr>("tw.weight_index");
    if (!index)
      return llvm::createStringError("weight '" + global.getSymName() + "' is not one of the graph's");
    return graph.weights().bytes(static_cast<size_t>(index.getInt()));
  }

private:
  const GraphFile &graph;
};

class ReferenceModel : public LogitsModel {
public:
  ReferenceModel(const GraphFile &graph, reference::Precision precision)
      : weights(graph), entry(graph.graph().entry()->str()), vocabulary(graph.graph().vocab_size()),
        precision(precision) {}

  llvm::Error open(ModuleOp module) {
    auto created = reference::Interpreter::create(module, weights, precision);
    if (failed(created))
      return llvm::createStringError("the model has no reference form (see above)");
    interpreter = std::move(*created);
    function = interpreter->module().lookupSymbol<func::FuncOp>(entry);
    return reset();
  }

  llvm::Error reset() override {
    states.assign(static_cast<size_t>(
                      llvm::count_if(function.getArgumentTypes(), [](Type type) { return isa<tw::StateType>(type); })),
                  {});
    length = 0;
    return llvm::Error::success();
  }

  llvm::Expected<std::vector<double>> step(ArrayRef<int32_t> tokens, bool lastOnly) override;
  int64_t vocab() const override { return vocabulary; }
  std::string numerics() const override { return precision == reference::Precision::F64 ? "f64" : "f32"; }

private:
  static reference::Tensor numbers(ArrayRef<int64_t> values) {
    reference::Tensor tensor = reference::Tensor::ints({static_cast<int64_t>(values.size())});
    tensor.integers.assign(values.begin(), values.end());
    return tensor;
  }

  GraphWeights weights;
  std::string entry;
  int64_t vocabulary;
  reference::Precision precision;
  std::unique_ptr<reference::Interpreter> interpreter;
  func::FuncOp function;
  std::vector<reference::StateHandle> states;
  int64_t length = 0;
};

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
  for (reference::RunValue &value : *outputs) {
    if (auto *handle = std::get_if<reference::StateHandle>(&value))
      states[state++] = std::move(*handle);
    else
      logits = std::move(std::get<reference::Tensor>(value).reals);
  }
  length += count;
  return logits;
}

} // namespace

llvm::Expected<std::unique_ptr<LogitsModel>> referenceModel(Session &session, ModuleOp module,
                                                            reference::Precision precision) {
  auto model = std::make_unique<ReferenceModel>(session.graph(), precision);
  if (llvm::Error error = model->open(module))
    return std::move(error);
  return model;
}

} // namespace tilewright::driver
