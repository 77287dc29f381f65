// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/tokenize/TokenizerData.h"

#include "flatbuffers/flatbuffers.h"

namespace tilewright {

/// What the `Tokenizer` table of a graph or of a manifest holds; both schemas have the same fields.
template <typename Table> TokenizerData tokenizerData(const Table &from) {
  auto text = [](const flatbuffers::String *value) { return value ? value->str() : std::string(); };
  auto texts = [&](const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>> *values) {
    std::vector<std::string> result;
    for (uint32_t i = 0; values && i < values->size(); ++i)
      result.push_back(values->Get(i)->str());
    return result;
  };
  auto numbers = [](auto *values, auto &result) {
    if (values)
      result.assign(values->begin(), values->end());
  };
  TokenizerData data;
  data.kind = text(from.kind());
  data.pre = text(from.pre());
  data.tokens = texts(from.tokens());
  numbers(from.token_types(), data.tokenTypes);
  data.merges = texts(from.merges());
  numbers(from.scores(), data.scores);
  data.bosId = from.bos_id();
  data.eosId = from.eos_id();
  data.unkId = from.unk_id();
  data.padId = from.pad_id();
  numbers(from.eot_ids(), data.eotIds);
  data.addBos = from.add_bos();
  data.addSpacePrefix = from.add_space_prefix();
  data.chatTemplate = text(from.chat_template());
  return data;
}

} // namespace tilewright
