// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expressions of published tokenizers for which the runtime has a rule: the same words, found faster.
#include "frontend/import/tokenizer/JsonReader.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace tilewright::tokenizer {

namespace {

#define TW_CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define TW_WORDS TW_CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|"
#define TW_REST "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define TW_UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define TW_LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define TW_CASED(suffix)                                                                                               \
  "[^\\r\\n\\p{L}\\p{N}]?" TW_UPPER "*" TW_LOWER "+" suffix "|[^\\r\\n\\p{L}\\p{N}]?" TW_UPPER "+" TW_LOWER "*" suffix \
  "|"
#define TW_SLASHES "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

constexpr StringLiteral kGpt2[] = {
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"};
constexpr StringLiteral kLlama3[] = {TW_WORDS "\\p{N}{1,3}" TW_REST};
constexpr StringLiteral kQwen2[] = {TW_WORDS "\\p{N}" TW_REST};
constexpr StringLiteral kO200k[] = {TW_CASED(TW_CONTRACTIONS "?") "\\p{N}{1,3}" TW_SLASHES};
constexpr StringLiteral kTekken[] = {TW_CASED("") "\\p{N}" TW_SLASHES};
constexpr StringLiteral kDeepseek3[] = {
    "\\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+",
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| "
    "?[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"};

struct Published {
  StringLiteral rule;
  ArrayRef<StringLiteral> patterns;
};

} // namespace

void usePublishedRules(StepList &steps) {
  const Published all[] = {{"gpt-2", kGpt2},   {"llama3", kLlama3}, {"qwen2", kQwen2},
                           {"gpt-4o", kO200k}, {"tekken", kTekken}, {"deepseek-v3", kDeepseek3}};
  auto matches = [](const std::unique_ptr<graph::TokenizerStepT> &step, StringRef pattern) {
    return step->name == "split_regex" && step->number == kIsolated && !step->flag && step->text == pattern;
  };
  for (size_t at = 0; at < steps.size(); ++at)
    for (const Published &published : all) {
      size_t count = published.patterns.size();
      if (at + count > steps.size() ||
          !std::equal(published.patterns.begin(), published.patterns.end(), steps.begin() + at,
                      [&](StringRef pattern, const auto &step) { return matches(step, pattern); }))
        continue;
      steps.erase(steps.begin() + at + 1, steps.begin() + at + count);
      *steps[at] = graph::TokenizerStepT();
      steps[at]->name = "rule";
      steps[at]->text = published.rule.str();
      break;
    }
}

} // namespace tilewright::tokenizer
