// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/driver/text/GraphText.h"

#include "frontend/graph/graph_generated.h"
#include "runtime/tokenize/Tokenizer.h"
#include "runtime/tokenize/TokenizerTable.h"

namespace tilewright {

GraphText::GraphText() = default;
GraphText::~GraphText() = default;

bool GraphText::open(const graph::Tokenizer *data, std::string &error) {
  if (!data) {
    error = "the graph has no tokenizer";
    return false;
  }
  try {
    tokenizer = std::make_unique<Tokenizer>(tokenizerData(*data));
    return true;
  } catch (const std::exception &failure) {
    error = failure.what();
    return false;
  }
}

bool GraphText::encode(const std::string &text, std::vector<int32_t> &ids, std::string &error) const {
  try {
    ids = tokenizer->encode(text, EncodeOptions{.parseSpecial = true, .addBegin = true});
    return true;
  } catch (const std::exception &failure) {
    error = failure.what();
    return false;
  }
}

std::string GraphText::decode(int32_t id) const {
  try {
    return std::string(tokenizer->tokenBytes(id));
  } catch (const std::exception &) {
    return "";
  }
}

bool GraphText::isEnd(int32_t id) const { return tokenizer->isEnd(id); }

} // namespace tilewright
