// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/driver/text/GraphText.h"

#include "frontend/graph/graph_generated.h"
#include "runtime/tokenize/Tokenizer.h"

namespace tilewright {

GraphText::GraphText() = default;
GraphText::~GraphText() = default;

static std::string text(const flatbuffers::String *value) { return value ? value->str() : std::string(); }

static TokenizerData dataOf(const graph::Tokenizer &from) {
  TokenizerData data;
  data.kind = text(from.kind());
  data.pre = text(from.pre());
  for (const flatbuffers::String *token : *from.tokens())
    data.tokens.push_back(token->str());
  if (from.merges())
    for (const flatbuffers::String *merge : *from.merges())
      data.merges.push_back(merge->str());
  if (from.token_types())
    data.tokenTypes.assign(from.token_types()->begin(), from.token_types()->end());
  if (from.scores())
    data.scores.assign(from.scores()->begin(), from.scores()->end());
  if (from.eot_ids())
    data.eotIds.assign(from.eot_ids()->begin(), from.eot_ids()->end());
  data.bosId = from.bos_id();
  data.eosId = from.eos_id();
  data.unkId = from.unk_id();
  data.padId = from.pad_id();
  data.addBos = from.add_bos();
  data.addSpacePrefix = from.add_space_prefix();
  data.chatTemplate = text(from.chat_template());
  return data;
}

bool GraphText::open(const graph::Tokenizer *data, std::string &error) {
  if (!data) {
    error = "the graph has no tokenizer";
    return false;
  }
  try {
    tokenizer = std::make_unique<Tokenizer>(dataOf(*data));
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
