// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any bytes as text: encoding and decoding gives them back. The first byte chooses the pre-tokenizer rule.
#include "runtime/tokenize/Tokenizer.h"
#include "runtime/tokenize/SplitRules.h"
#include "tests/unit/support/TestVocabulary.h"

#include <cstdlib>
#include <memory>

using namespace tilewright;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const std::vector<std::unique_ptr<Tokenizer>> tokenizers = [] {
    std::vector<std::unique_ptr<Tokenizer>> all;
    for (std::string_view name : splitRuleNames())
      all.push_back(std::make_unique<Tokenizer>(test::testVocabulary(std::string(name))));
    return all;
  }();
  if (size == 0)
    return 0;
  const Tokenizer &tokenizer = *tokenizers[data[0] % tokenizers.size()];
  std::string_view text(reinterpret_cast<const char *>(data) + 1, size - 1);
  for (bool parseSpecial : {false, true})
    if (tokenizer.decode(tokenizer.encode(text, parseSpecial)) != text)
      std::abort();
  return 0;
}
