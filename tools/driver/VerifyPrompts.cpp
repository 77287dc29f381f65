// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/driver/VerifyPrompts.h"

#include "tools/driver/text/GraphText.h"

namespace tilewright::driver {

/// Ids of one row: the top bits of a linear congruential generator (Knuth, TAOCP 2, 3.3.4), below `vocab`.
static PromptIds drawnIds(size_t row, uint64_t vocab, uint64_t context) {
  constexpr uint64_t kLength = 24;
  PromptIds prompt;
  prompt.text = "seed " + std::to_string(row);
  uint64_t state = row + 1;
  for (uint64_t i = 0; i < std::min(kLength, context); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    prompt.ids.push_back(static_cast<int32_t>((state >> 33) % vocab));
  }
  return prompt;
}

llvm::Expected<std::vector<PromptIds>> promptIds(Session &session, const std::vector<std::string> &prompts,
                                                 const std::vector<std::string> &defaults) {
  const graph::Graph &graph = session.graph().graph();
  std::vector<PromptIds> result;
  GraphText text;
  std::string message;
  if (!text.open(graph.tokenizer(), message)) {
    if (!prompts.empty())
      return llvm::createStringError(session.graph().path() + ": " + message);
    if (graph.vocab_size() == 0 || graph.context_length() == 0)
      return llvm::createStringError(session.graph().path() + ": the graph has no vocabulary or no context");
    for (size_t row = 0; row < defaults.size(); ++row)
      result.push_back(drawnIds(row, graph.vocab_size(), graph.context_length()));
    return result;
  }
  for (const std::string &prompt : prompts.empty() ? defaults : prompts) {
    PromptIds entry;
    entry.text = prompt;
    if (!text.encode(prompt, entry.ids, message))
      return llvm::createStringError(message);
    if (entry.ids.empty())
      return llvm::createStringError("a prompt is empty and the model has no begin token");
    result.push_back(std::move(entry));
  }
  return result;
}

} // namespace tilewright::driver
