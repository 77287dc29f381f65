// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runtime's tokenizer over a graph's entries, for code without exceptions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tilewright {

namespace graph {
struct Tokenizer;
}
class Tokenizer;

class GraphText {
public:
  GraphText();
  ~GraphText();
  /// False with a message when the tokenizer's data is wrong or absent.
  bool open(const graph::Tokenizer *data, std::string &error);
  bool encode(const std::string &text, std::vector<int32_t> &ids, std::string &error) const;
  std::string decode(int32_t id) const;
  bool isEnd(int32_t id) const;

private:
  std::unique_ptr<Tokenizer> tokenizer;
};

} // namespace tilewright
