// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any bytes as a chat template: an error or a text, within the limits, whose segments alternate.
#include "runtime/api/Error.h"
#include "runtime/tokenize/ChatTemplate.h"

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>

using namespace tilewright;

extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  const char *folder = std::getenv("TILEWRIGHT_FUZZ_SEEDS");
  if (!folder)
    return 0;
  for (const auto &entry : std::filesystem::directory_iterator(TILEWRIGHT_TEST_DATA "/golden/chat"))
    if (entry.path().extension() == ".jinja")
      std::filesystem::copy_file(entry.path(), std::filesystem::path(folder) / entry.path().filename(),
                                 std::filesystem::copy_options::overwrite_existing);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const TemplateLimits limits = {.steps = 100'000, .outputBytes = 1u << 20};
  const ChatInput input = {
      .messages = {{"system", " Be brief. "}, {"user", "h\xC3\xA9llo\n"}, {"assistant", "a,b\xFF"}, {"user", ""}},
      .bosToken = "<s>",
      .eosToken = "</s>",
      .clock = [] { return std::tm{}; }}; // the same input renders the same text
  try {
    const ChatTemplate chat(std::string_view(reinterpret_cast<const char *>(data), size), limits);
    size_t bytes = 0;
    const TextSegment *previous = nullptr;
    const auto segments = chat.render(input);
    for (const TextSegment &segment : segments) {
      bytes += segment.text.size();
      if (segment.text.empty() || (previous && previous->parseSpecial == segment.parseSpecial))
        std::abort();
      previous = &segment;
    }
    if (bytes > limits.outputBytes)
      std::abort();
  } catch (const Error &) {
  }
  return 0;
}
