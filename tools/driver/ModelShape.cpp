// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/driver/ModelShape.h"

#include "ir/tw/StepResults.h"
#include "ir/tw/Tw.h"
#include "tools/driver/Diagnostics.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace mlir;

namespace tilewright::driver {

static void addResult(std::string &results, StringRef name, ArrayRef<int64_t> shape) {
  results += (results.empty() ? "" : ", ") + name.str();
  if (!shape.empty())
    results +=
        "[" + llvm::join(llvm::map_range(shape, [](int64_t extent) { return std::to_string(extent); }), ", ") + "]";
}

llvm::Expected<ModelShape> shapeOf(const graph::Graph &graph, ModuleOp module) {
  auto step = module.lookupSymbol<func::FuncOp>(graph.entry()->string_view());
  FailureOr<tw::StepResults> results = failure();
  if (step)
    results = tw::stepResults(step);
  if (failed(results))
    return llvm::createStringError("the graph's entry function is no step");
  ModelShape shape;
  shape.vocabulary = graph.vocab_size();
  shape.context = graph.context_length();
  const bool whole = llvm::any_of(step.getArgumentTypes(), [](Type type) {
    auto state = dyn_cast<tw::StateType>(type);
    return state && state.isTransient();
  });
  shape.kind = graph.encode_entry() ? "encoder-decoder" : whole ? "encoder" : "decoder";
  const auto rowOf = [&](unsigned result) {
    return cast<RankedTensorType>(step.getResultTypes()[result]).getShape().drop_front();
  };
  if (results->logits) {
    addResult(shape.results, "logits", {});
    if (shape.vocabulary == 0)
      shape.vocabulary = rowOf(*results->logits).back();
  }
  for (unsigned output : results->outputs)
    addResult(shape.results, tw::resultName(step, output), rowOf(output));
  return shape;
}

llvm::Expected<ModelShape> shapeOf(StringRef description) {
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(description);
  if (!json)
    return json.takeError();
  const llvm::json::Object *object = json->getAsObject();
  const llvm::json::Array *outputs = object ? object->getArray("outputs") : nullptr;
  if (!outputs)
    return llvm::createStringError("the compiled model's description has no outputs");
  ModelShape shape;
  shape.kind = object->getString("kind").value_or("").str();
  shape.vocabulary = object->getInteger("vocabulary").value_or(0);
  shape.context = object->getInteger("model_context").value_or(0);
  if (object->getBoolean("logits").value_or(false))
    addResult(shape.results, "logits", {});
  for (const llvm::json::Value &entry : *outputs) {
    const llvm::json::Object *output = entry.getAsObject();
    SmallVector<int64_t> extents;
    if (const llvm::json::Array *row = output ? output->getArray("shape") : nullptr)
      for (const llvm::json::Value &extent : *row)
        extents.push_back(extent.getAsInteger().value_or(0));
    addResult(shape.results, output ? output->getString("name").value_or("") : "", extents);
  }
  return shape;
}

llvm::Error checkShape(const ModelShape &compiled, const ModelShape &wanted, const std::string &place) {
  const auto differs = [&](const std::string &what, const std::string &found, const std::string &expected) {
    return llvm::make_error<CodedError>(Incompatible, place + ": was compiled from another model: its " + what +
                                                          " is " + found + ", the graph's " + expected);
  };
  if (compiled.kind != wanted.kind)
    return differs("kind", compiled.kind, wanted.kind);
  if (compiled.vocabulary != wanted.vocabulary)
    return differs("vocabulary", std::to_string(compiled.vocabulary), std::to_string(wanted.vocabulary));
  if (compiled.context != wanted.context)
    return differs("context", std::to_string(compiled.context), std::to_string(wanted.context));
  if (compiled.results != wanted.results)
    return differs("row of results", compiled.results, wanted.results);
  return llvm::Error::success();
}

} // namespace tilewright::driver
