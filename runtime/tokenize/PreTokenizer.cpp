// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenize/PreTokenizer.h"

#include "runtime/api/Error.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

namespace tilewright {

namespace {

// White space is Unicode's White_Space property, spelled out: PCRE2's own \s adds U+180E.
#define TW_WS                                                                                                          \
  "\\x{09}-\\x{0D}\\x{20}\\x{85}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}"
#define TW_OTHER "[^" TW_WS "\\p{L}\\p{N}]"

// The published expressions, with possessive repeats wherever giving back a character could never help. What still
// backs off is a repeat of one class, which PCRE2 does in constant space: `\s+(?!\S)` by one character, `\s*[\r\n]+`
// over the white space after the last line break, which the alternatives behind it then consume whole. So each
// character is looked at a bounded number of times.

// GPT-2: Radford et al. (2019), encoder.py of the published code.
constexpr std::string_view kGpt2 = "'(?:[stmd]|re|ve|ll)"
                                   "| ?+\\p{L}++"
                                   "| ?+\\p{N}++"
                                   "| ?+" TW_OTHER "++"
                                   "|[" TW_WS "]+(?![^" TW_WS "])"
                                   "|[" TW_WS "]+";

// Digits one by one first, then GPT-2 on what lies between them: a space before a digit ends its stretch.
constexpr std::string_view kGpt2SingleDigits = "'(?:[stmd]|re|ve|ll)"
                                               "| ?+\\p{L}++"
                                               "|\\p{N}"
                                               "| ?+" TW_OTHER "++"
                                               "|[" TW_WS "]+(?![^" TW_WS "\\p{N}])"
                                               "|[" TW_WS "]+";

// Llama 3 and Qwen 2: tokenizer.json of the published models.
#define TW_WORDS "(?i:'(?:[stmd]|re|ve|ll))|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++"
#define TW_REST                                                                                                        \
  "| ?+" TW_OTHER "++[\\r\\n]*+"                                                                                       \
  "|[" TW_WS "]*[\\r\\n]+"                                                                                             \
  "|[" TW_WS "]+(?![^" TW_WS "])"                                                                                      \
  "|[" TW_WS "]+"
constexpr std::string_view kLlama3 = TW_WORDS "|\\p{N}{1,3}+" TW_REST;
constexpr std::string_view kQwen2 = TW_WORDS "|\\p{N}" TW_REST;

constexpr std::array<PreTokenizerRule, 9> kRules{{
    {"default", kGpt2, false},
    {"gpt-2", kGpt2, false},
    {"gpt2", kGpt2, false},
    {"smollm", kGpt2SingleDigits, false},
    {"starcoder", kGpt2SingleDigits, false},
    {"llama-bpe", kLlama3, true},
    {"llama3", kLlama3, true},
    {"llama-v3", kLlama3, true},
    {"qwen2", kQwen2, false},
}};

std::string pcreMessage(int error) {
  std::array<PCRE2_UCHAR, 256> buffer{};
  pcre2_get_error_message(error, buffer.data(), buffer.size());
  return reinterpret_cast<const char *>(buffer.data());
}

struct MatchDataFree {
  void operator()(pcre2_match_data *data) const { pcre2_match_data_free(data); }
};
struct MatchContextFree {
  void operator()(pcre2_match_context *context) const { pcre2_match_context_free(context); }
};

} // namespace

const PreTokenizerRule &findPreTokenizerRule(std::string_view name) {
  if (name.empty())
    name = "default";
  for (const PreTokenizerRule &rule : kRules)
    if (rule.name == name)
      return rule;
  std::string known;
  for (const PreTokenizerRule &rule : kRules)
    known += (known.empty() ? "" : ", ") + std::string(rule.name);
  throw Error(TW_UNSUPPORTED,
              "tokenizer: unknown pre-tokenizer rule '" + std::string(name) + "'; known rules: " + known);
}

std::vector<std::string_view> preTokenizerNames() {
  std::vector<std::string_view> names;
  for (const PreTokenizerRule &rule : kRules)
    names.push_back(rule.name);
  return names;
}

struct PreTokenizer::Code {
  pcre2_code *code = nullptr;
  bool jit = false;

  ~Code() { pcre2_code_free(code); }
};

PreTokenizer::PreTokenizer(const PreTokenizerRule &rule, Engine engine) : code(std::make_unique<Code>()) {
  int error = 0;
  PCRE2_SIZE place = 0;
  code->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(rule.pattern.data()), rule.pattern.size(),
                             PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C, &error, &place, nullptr);
  if (!code->code)
    throw Error(TW_INTERNAL, "pre-tokenizer rule '" + std::string(rule.name) + "': " + pcreMessage(error) +
                                 " at offset " + std::to_string(place));
  code->jit = engine == Engine::Jit && pcre2_jit_compile(code->code, PCRE2_JIT_COMPLETE) == 0;
}

PreTokenizer::~PreTokenizer() = default;
PreTokenizer::PreTokenizer(PreTokenizer &&) noexcept = default;
PreTokenizer &PreTokenizer::operator=(PreTokenizer &&) noexcept = default;

void PreTokenizer::split(std::string_view text, std::vector<size_t> &ends) const {
  std::unique_ptr<pcre2_match_data, MatchDataFree> data(pcre2_match_data_create(1, nullptr));
  std::unique_ptr<pcre2_match_context, MatchContextFree> context(pcre2_match_context_create(nullptr));
  if (!data || !context)
    throw Error(TW_EXHAUSTED, "pre-tokenizer: no memory for a match of " + std::to_string(text.size()) + " bytes");
  // A match visits each character a few times at most, so a limit linear in the text never stops an honest one.
  const uint64_t limit = 4 * static_cast<uint64_t>(text.size()) + 1000;
  pcre2_set_match_limit(context.get(), static_cast<uint32_t>(std::min<uint64_t>(limit, UINT32_MAX)));

  const auto subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  for (size_t at = 0; at < text.size();) {
    // The caller vouches for the UTF-8; checking it again at every word would be quadratic.
    constexpr uint32_t options = PCRE2_ANCHORED | PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY;
    int rc = pcre2_match(code->code, subject, text.size(), at, code->jit ? options : options | PCRE2_NO_JIT, data.get(),
                         context.get());
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT)
      rc = pcre2_match(code->code, subject, text.size(), at, options | PCRE2_NO_JIT, data.get(), context.get());
    if (rc < 0)
      throw Error(TW_INTERNAL,
                  "pre-tokenizer: no word at byte " + std::to_string(at) + " of the text: " + pcreMessage(rc));
    at = pcre2_get_ovector_pointer(data.get())[1];
    ends.push_back(at);
  }
}

} // namespace tilewright
