// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A model's own chat template: messages in, text for the tokenizer out.
#pragma once

#include "runtime/tokenize/TextSegment.h"

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

struct ChatMessage {
  std::string role;
  std::string content;
};

/// This moment in the time zone of the process.
std::tm localTime();

struct ChatInput {
  std::vector<ChatMessage> messages = {};
  bool addGenerationPrompt = true;
  std::string bosToken = {}; ///< text of the begin token, empty if there is none
  std::string eosToken = {};
  /// The time that `strftime_now` writes; asked once, when a template calls it first. All fields have to be set.
  std::function<std::tm()> clock = localTime;
};

/// What one rendering may cost; a template is untrusted input.
struct TemplateLimits {
  uint32_t depth = 100;           ///< nesting of statements, expressions, macro calls and lists
  uint64_t steps = 2'000'000;     ///< expressions and statements evaluated, and bytes moved / 64
  size_t outputBytes = 64u << 20; ///< of the output and of any string on the way
  size_t sourceBytes = 1u << 20;  ///< of the template
};

/// A template in the strict subset of Jinja that chat templates are written in, with the settings of Transformers
/// (`trim_blocks` and `lstrip_blocks` on). Anything the subset lacks is an error that names it and its line.
///
/// Statements: if, for (with `if`, else, break, continue, the variable loop), set (also of a namespace's attribute, and
/// as a block), macro, raw, generation. Variables: messages, add_generation_prompt, bos_token, eos_token, tools and
/// documents (both none). Functions: range, namespace, dict, raise_exception, strftime_now.
///
/// Text that comes from a message (role or content) is marked as it enters and stays marked through every operation:
/// concatenation, slices, strip, split, replace, join, tojson and so on. The result is cut into segments, and only
/// those of unmarked text have `parseSpecial` set. So no message can spell a control token, not even with the help of
/// neighbouring template text (see TextSegment). Immutable, safe to share between threads.
class ChatTemplate {
public:
  /// Throws CORRUPT for what is not Jinja, UNSUPPORTED for what this subset lacks, EXHAUSTED beyond the limits.
  explicit ChatTemplate(std::string_view source, const TemplateLimits &limits = {});
  ~ChatTemplate();
  ChatTemplate(ChatTemplate &&) noexcept;
  ChatTemplate &operator=(ChatTemplate &&) noexcept;

  /// The chat as text. Neighbouring segments differ in `parseSpecial`; none is empty. Throws INVALID for what the
  /// template itself refuses (raise_exception) or gets wrong, UNSUPPORTED and EXHAUSTED as above.
  std::vector<TextSegment> render(const ChatInput &input) const;

private:
  struct Program;
  std::unique_ptr<const Program> program;
};

} // namespace tilewright
