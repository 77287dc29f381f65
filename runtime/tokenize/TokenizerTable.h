// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/tokenize/TokenizerData.h"

#include "flatbuffers/flatbuffers.h"

#include <algorithm>
#include <memory>
#include <utility>

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
  if (from.exact_scores())
    numbers(from.exact_scores(), data.scores);
  else
    numbers(from.scores(), data.scores);
  data.bosId = from.bos_id();
  data.eosId = from.eos_id();
  data.unkId = from.unk_id();
  data.padId = from.pad_id();
  numbers(from.eot_ids(), data.eotIds);
  data.addBos = from.add_bos();
  data.addSpacePrefix = from.add_space_prefix();
  data.chatTemplate = text(from.chat_template());
  auto steps = [&](const auto *values) {
    std::vector<TokenizerStep> result;
    for (uint32_t i = 0; values && i < values->size(); ++i) {
      const auto &step = *values->Get(i);
      TokenizerStep &to = result.emplace_back(
          TokenizerStep{text(step.name()), text(step.text()), text(step.with()), step.number(), step.flag(), {}});
      if (step.bytes())
        to.bytes.assign(step.bytes()->begin(), step.bytes()->end());
    }
    return result;
  };
  data.normalizers = steps(from.normalizers());
  data.preTokenizers = steps(from.pre_tokenizers());
  data.decoders = steps(from.decoders());
  numbers(from.prefix_ids(), data.prefixIds);
  numbers(from.suffix_ids(), data.suffixIds);
  numbers(from.matching(), data.matching);
  data.byteLevel = from.byte_level();
  data.byteFallback = from.byte_fallback();
  data.fuseUnknown = from.fuse_unknown();
  data.wholeWordFirst = from.whole_word_first();
  data.continuation = text(from.continuation());
  data.mostCharacters = from.most_characters();
  return data;
}

/// The same data as a table of another schema: what `Table::UnPack` would give.
template <typename TableT, typename StepT> void fillTable(TokenizerData from, TableT &to) {
  to.kind = std::move(from.kind);
  to.pre = std::move(from.pre);
  to.tokens = std::move(from.tokens);
  to.token_types = std::move(from.tokenTypes);
  to.merges = std::move(from.merges);
  to.bos_id = from.bosId;
  to.eos_id = from.eosId;
  to.unk_id = from.unkId;
  to.pad_id = from.padId;
  to.eot_ids = std::move(from.eotIds);
  to.add_bos = from.addBos;
  to.add_space_prefix = from.addSpacePrefix;
  to.chat_template = std::move(from.chatTemplate);
  auto isFloat = [](double score) { return static_cast<double>(static_cast<float>(score)) == score; };
  if (std::all_of(from.scores.begin(), from.scores.end(), isFloat))
    for (double score : from.scores)
      to.scores.push_back(static_cast<float>(score));
  else
    to.exact_scores = std::move(from.scores);
  auto steps = [](std::vector<TokenizerStep> &values, auto &result) {
    for (TokenizerStep &step : values) {
      auto &made = *result.emplace_back(std::make_unique<StepT>());
      made.name = std::move(step.name);
      made.text = std::move(step.text);
      made.with = std::move(step.with);
      made.number = step.number;
      made.flag = step.flag;
      made.bytes.assign(step.bytes.begin(), step.bytes.end());
    }
  };
  steps(from.normalizers, to.normalizers);
  steps(from.preTokenizers, to.pre_tokenizers);
  steps(from.decoders, to.decoders);
  to.prefix_ids = std::move(from.prefixIds);
  to.suffix_ids = std::move(from.suffixIds);
  to.matching = std::move(from.matching);
  to.byte_level = from.byteLevel;
  to.byte_fallback = from.byteFallback;
  to.fuse_unknown = from.fuseUnknown;
  to.whole_word_first = from.wholeWordFirst;
  to.continuation = std::move(from.continuation);
  to.most_characters = from.mostCharacters;
}

} // namespace tilewright
