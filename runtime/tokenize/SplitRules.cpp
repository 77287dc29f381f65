// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenize/SplitRules.h"

#include "runtime/api/Error.h"

#include <array>
#include <string>

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
constexpr std::string_view kGpt2[] = {"'(?:[stmd]|re|ve|ll)"
                                      "| ?+\\p{L}++"
                                      "| ?+\\p{N}++"
                                      "| ?+" TW_OTHER "++"
                                      "|[" TW_WS "]+(?![^" TW_WS "])"
                                      "|[" TW_WS "]+"};

// Digits one by one first, then GPT-2 on what lies between them: a space before a digit ends its stretch.
constexpr std::string_view kGpt2SingleDigits[] = {"'(?:[stmd]|re|ve|ll)"
                                                  "| ?+\\p{L}++"
                                                  "|\\p{N}"
                                                  "| ?+" TW_OTHER "++"
                                                  "|[" TW_WS "]+(?![^" TW_WS "\\p{N}])"
                                                  "|[" TW_WS "]+"};

// Llama 3 and Qwen 2: tokenizer.json of the published models.
#define TW_WORDS "(?i:'(?:[stmd]|re|ve|ll))|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++"
#define TW_REST                                                                                                        \
  "| ?+" TW_OTHER "++[\\r\\n]*+"                                                                                       \
  "|[" TW_WS "]*[\\r\\n]+"                                                                                             \
  "|[" TW_WS "]+(?![^" TW_WS "])"                                                                                      \
  "|[" TW_WS "]+"
constexpr std::string_view kLlama3[] = {TW_WORDS "|\\p{N}{1,3}+" TW_REST};
constexpr std::string_view kQwen2[] = {TW_WORDS "|\\p{N}" TW_REST};

// Mistral's Tekken and OpenAI's o200k (GPT-4o, gpt-oss): words end where a small letter is followed by a large one.
#define TW_UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define TW_LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
// Not possessive: a mark that stands in front may be the word itself.
#define TW_BEFORE "[^\\r\\n\\p{L}\\p{N}]?"
#define TW_SLASHES                                                                                                     \
  "| ?+" TW_OTHER "++[\\r\\n/]*+"                                                                                      \
  "|[" TW_WS "]*[\\r\\n]+"                                                                                             \
  "|[" TW_WS "]+(?![^" TW_WS "])"                                                                                      \
  "|[" TW_WS "]+"
constexpr std::string_view kTekken[] = {TW_BEFORE TW_UPPER "*" TW_LOWER "++|" TW_BEFORE TW_UPPER "+" TW_LOWER
                                                           "*+|\\p{N}" TW_SLASHES};
#define TW_SUFFIX "(?i:'(?:[stmd]|re|ve|ll))?+"
constexpr std::string_view kO200k[] = {TW_BEFORE TW_UPPER "*" TW_LOWER "++" TW_SUFFIX "|" TW_BEFORE TW_UPPER
                                                          "+" TW_LOWER "*+" TW_SUFFIX "|\\p{N}{1,3}+" TW_SLASHES};

// DeepSeek-V3: numbers, then Chinese and Japanese, then the rest.
constexpr std::string_view kDeepseek3[] = {"\\p{N}{1,3}+",
                                           "[\\x{4E00}-\\x{9FA5}\\x{3040}-\\x{309F}\\x{30A0}-\\x{30FF}]++",
                                           "[!-/:-@\\[-`{-~][A-Za-z]++"
                                           "|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]++"
                                           "| ?+[\\p{P}\\p{S}]++[\\r\\n]*+"
                                           "|[" TW_WS "]*[\\r\\n]+"
                                           "|[" TW_WS "]+(?![^" TW_WS "])"
                                           "|[" TW_WS "]+"};

constexpr SplitRule kRules[] = {
    {"default", kGpt2, false},
    {"gpt-2", kGpt2, false},
    {"gpt2", kGpt2, false},
    {"phi-2", kGpt2, false},
    {"mpt", kGpt2, false},
    {"olmo", kGpt2, false},
    {"jais", kGpt2, false},
    {"modern-bert", kGpt2, false},
    {"smollm", kGpt2SingleDigits, false},
    {"starcoder", kGpt2SingleDigits, false},
    {"refact", kGpt2SingleDigits, false},
    {"command-r", kGpt2SingleDigits, false},
    {"codeshell", kGpt2SingleDigits, false},
    {"llama-bpe", kLlama3, true},
    {"llama3", kLlama3, true},
    {"llama-v3", kLlama3, true},
    {"dbrx", kLlama3, false},
    {"smaug-bpe", kLlama3, false},
    {"qwen2", kQwen2, false},
    {"stablelm2", kQwen2, false},
    {"deepseek-r1-qwen", kQwen2, false},
    {"tekken", kTekken, true},
    {"gpt-4o", kO200k, false},
    {"deepseek-v3", kDeepseek3, false},
};

} // namespace

const SplitRule &findSplitRule(std::string_view name) {
  if (name.empty())
    name = "default";
  for (const SplitRule &rule : kRules)
    if (rule.name == name)
      return rule;
  std::string known;
  for (const SplitRule &rule : kRules)
    known += (known.empty() ? "" : ", ") + std::string(rule.name);
  throw Error(TW_UNSUPPORTED,
              "tokenizer: unknown pre-tokenizer rule '" + std::string(name) + "'; known rules: " + known);
}

std::vector<std::string_view> splitRuleNames() {
  std::vector<std::string_view> names;
  for (const SplitRule &rule : kRules)
    names.push_back(rule.name);
  return names;
}

} // namespace tilewright
