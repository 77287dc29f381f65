// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenize/ChatTemplate.h"

#include "runtime/api/Error.h"
#include "runtime/tokenize/JinjaEvaluator.h"
#include "runtime/tokenize/JinjaParser.h"

namespace tilewright {

using namespace jinja;

struct ChatTemplate::Program {
  TemplateLimits limits;
  Body body;
};

std::tm localTime() {
  const std::time_t now = std::time(nullptr);
  std::tm fields{};
  if (!localtime_r(&now, &fields))
    throw Error(TW_INVALID, "the clock: " + std::to_string(now) + " seconds since 1970 are no date");
  return fields;
}

ChatTemplate::ChatTemplate(std::string_view source, const TemplateLimits &limits) {
  if (source.size() > limits.sourceBytes)
    throw Error(TW_EXHAUSTED, "chat template: " + std::to_string(source.size()) + " bytes, at most " +
                                  std::to_string(limits.sourceBytes) + " are allowed");
  program = std::make_unique<const Program>(Program{limits, parse(source, limits.depth)});
}

ChatTemplate::~ChatTemplate() = default;
ChatTemplate::ChatTemplate(ChatTemplate &&) noexcept = default;
ChatTemplate &ChatTemplate::operator=(ChatTemplate &&) noexcept = default;

std::vector<TextSegment> ChatTemplate::render(const ChatInput &input) const {
  Evaluator evaluator(program->limits);
  Runtime &runtime = evaluator.runtime;
  runtime.clock = input.clock;
  std::vector<Value> messages;
  for (const ChatMessage &message : input.messages)
    messages.push_back(runtime.dict({{runtime.templateText("role"), runtime.text(Text::ofUser(message.role))},
                                     {runtime.templateText("content"), runtime.text(Text::ofUser(message.content))}}));
  evaluator.define("messages", runtime.list(std::move(messages)));
  evaluator.define("add_generation_prompt", Value(input.addGenerationPrompt));
  evaluator.define("bos_token", runtime.templateText(input.bosToken));
  evaluator.define("eos_token", runtime.templateText(input.eosToken));
  evaluator.define("tools", Value(None{}));
  evaluator.define("documents", Value(None{}));
  const Text text = evaluator.run(program->body);

  std::vector<TextSegment> segments;
  for (size_t begin = 0; begin < text.bytes.size();) {
    const bool user = text.isUserAt(begin);
    size_t end = begin + 1;
    while (end < text.bytes.size() && text.isUserAt(end) == user)
      ++end;
    segments.push_back({text.bytes.substr(begin, end - begin), !user});
    begin = end;
  }
  return segments;
}

} // namespace tilewright
