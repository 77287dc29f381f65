// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/graph/RequiredPlugins.h"

#include "frontend/graph/Types.h"

#include "llvm/ADT/StringSwitch.h"

#include <set>

using namespace llvm;

namespace tilewright {

namespace {

class Collector {
public:
  std::set<std::string, std::less<>> names;

  void addDialect(StringRef dialect) {
    bool core = StringSwitch<bool>(dialect).Cases({"", "tw", "arith", "math"}, true).Default(false);
    if (!core && names.find(std::string_view(dialect)) == names.end())
      names.insert(dialect.str());
  }

  void addTensor(const graph::TensorType *tensor) {
    if (tensor)
      addDialect(elementDialect(tensor->element()->string_view()));
  }

  void addOps(const flatbuffers::Vector<flatbuffers::Offset<graph::Op>> *ops) {
    if (!ops)
      return;
    for (const graph::Op *op : *ops) {
      addDialect(opDialect(op->name()->string_view()));
      if (op->regions())
        for (const graph::Region *region : *op->regions())
          addOps(region->body());
    }
  }
};

} // namespace

std::vector<std::string> computeRequiredPlugins(const graph::Graph &graph) {
  Collector collector;
  for (const graph::Function *function : *graph.functions()) {
    for (const graph::Value *value : *function->values()) {
      collector.addTensor(value->type_as_TensorType());
      if (const graph::StateType *state = value->type_as_StateType())
        for (const graph::TensorType *buffer : *state->buffers())
          collector.addTensor(buffer);
    }
    collector.addOps(function->body());
  }
  if (graph.weights())
    for (const graph::Weight *weight : *graph.weights())
      collector.addTensor(weight->type());
  return {collector.names.begin(), collector.names.end()};
}

} // namespace tilewright
