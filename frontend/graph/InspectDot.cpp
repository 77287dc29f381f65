// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/graph/Access.h"
#include "frontend/graph/Inspect.h"
#include "frontend/graph/Types.h"

#include "llvm/ADT/DenseMap.h"

using namespace llvm;

namespace tilewright {

/// Text inside a double-quoted DOT string.
static std::string escaped(StringRef text) {
  std::string out;
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += '\\';
    out += c;
  }
  return out;
}

namespace {

class FunctionDrawer {
public:
  FunctionDrawer(const graph::Function &function, uint32_t number, raw_ostream &os)
      : function(function), prefix("f" + std::to_string(number) + "_"), os(os) {}

  void run() {
    os << "  subgraph cluster_" << prefix << " {\n    label=\"" << escaped(text(function.name())) << "\";\n";
    for (uint32_t index : elements(function.arguments())) {
      sources[index] = "v" + std::to_string(index);
      os << "    " << prefix << sources[index] << " [shape=ellipse, label=\"" << label(index) << "\"];\n";
    }
    drawOps(function.body());
    for (auto [i, index] : enumerate(elements(function.results()))) {
      StringRef name = i < sizeOf(function.result_names()) ? text(function.result_names()->Get(i)) : "";
      os << "    " << prefix << "r" << i << " [shape=ellipse, style=bold, label=\"" << escaped(name) << "\"];\n";
      drawEdge(index, "r" + std::to_string(i));
    }
    os << "  }\n";
  }

private:
  /// "x\nf32[N, 64]"
  std::string label(uint32_t index) const {
    return escaped(valueName(function, index)) + "\\n" + escaped(spellType(*function.values()->Get(index)));
  }

  void drawEdge(uint32_t value, const std::string &target) {
    if (auto source = sources.find(value); source != sources.end())
      os << "    " << prefix << source->second << " -> " << prefix << target << ";\n";
  }

  void drawOps(const flatbuffers::Vector<flatbuffers::Offset<graph::Op>> *body) {
    for (const graph::Op *op : elements(body)) {
      if (text(op->name()) == "weight") {
        weights[op->results()->Get(0)] = stringAttribute(*op, "name");
        continue;
      }
      std::string node = "o" + std::to_string(nextOp++);
      bool isCall = text(op->name()) == "call";
      std::string lines = escaped(text(op->name()));
      if (isCall)
        lines += " " + escaped(stringAttribute(*op, "callee"));
      SmallVector<StringRef, 4> used;
      for (uint32_t operand : elements(op->operands()))
        if (auto weight = weights.find(operand); weight != weights.end())
          used.push_back(weight->second);
      constexpr size_t maxShown = 3;
      if (used.size() > maxShown)
        lines += "\\n" + std::to_string(used.size()) + " weights";
      else
        for (StringRef weight : used)
          lines += "\\n" + escaped(weight);
      for (uint32_t result : elements(op->results())) {
        sources[result] = node;
        lines +=
            "\\n" + escaped(valueName(function, result)) + ": " + escaped(spellType(*function.values()->Get(result)));
      }
      os << "    " << prefix << node << " [shape=box" << (isCall ? ", peripheries=2" : "") << ", label=\"" << lines
         << "\"];\n";
      for (uint32_t operand : elements(op->operands()))
        drawEdge(operand, node);
      for (const graph::Region *region : elements(op->regions())) {
        for (uint32_t argument : elements(region->arguments()))
          sources[argument] = node;
        drawOps(region->body());
        for (uint32_t yielded : elements(region->yields()))
          drawEdge(yielded, node);
      }
    }
  }

  const graph::Function &function;
  std::string prefix;
  raw_ostream &os;
  uint64_t nextOp = 0;
  DenseMap<uint32_t, std::string> sources; ///< value to the node that makes it
  DenseMap<uint32_t, StringRef> weights;   ///< value to the weight's name
};

} // namespace

void inspectDot(const GraphFile &file, raw_ostream &os) {
  os << "digraph graph_file {\n  node [fontname=\"monospace\", fontsize=10];\n";
  for (uint32_t i = 0; i < file.graph().functions()->size(); ++i)
    FunctionDrawer(*file.graph().functions()->Get(i), i, os).run();
  os << "}\n";
}

} // namespace tilewright
