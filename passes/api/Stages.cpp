// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/api/Stages.h"

#include "passes/api/Order.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

namespace tilewright {

llvm::ArrayRef<llvm::StringLiteral> stageNames() {
  static constexpr llvm::StringLiteral names[] = {"import",        "simplify",   "recognise", "share",
                                                  "differentiate", "distribute", "fuse",      "tile",
                                                  "bufferize",     "lower",      "emit"};
  return names;
}

llvm::Expected<std::vector<const StagePass *>> orderStage(const StageRegistry &registry, llvm::StringRef stage) {
  if (!llvm::is_contained(stageNames(), stage))
    return llvm::createStringError(
        "unknown stage '" + stage + "', wanted one of " +
        llvm::join(llvm::map_range(stageNames(), [](llvm::StringRef s) { return s; }), ", "));
  std::vector<const StagePass *> passes;
  llvm::StringMap<size_t> numbers;
  for (const StagePass &pass : registry.all()) {
    if (pass.stage != stage)
      continue;
    numbers[pass.name] = passes.size();
    passes.push_back(&pass);
  }

  std::vector<std::pair<size_t, size_t>> edges;
  for (size_t i = 0; i < passes.size(); ++i) {
    for (const std::string &other : passes[i]->before)
      if (auto it = numbers.find(other); it != numbers.end())
        edges.emplace_back(i, it->second);
    for (const std::string &other : passes[i]->after)
      if (auto it = numbers.find(other); it != numbers.end())
        edges.emplace_back(it->second, i);
  }

  OrderResult result = topologicalOrder(passes.size(), edges);
  if (!result.cycle.empty()) {
    std::string cycle;
    for (size_t i : result.cycle)
      cycle += passes[i]->name + " -> ";
    cycle += passes[result.cycle.front()]->name;
    return llvm::createStringError("the passes of stage '" + stage + "' cannot be ordered: " + cycle);
  }
  std::vector<const StagePass *> ordered;
  for (size_t i : result.order)
    ordered.push_back(passes[i]);
  return ordered;
}

} // namespace tilewright
