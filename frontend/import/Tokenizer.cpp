// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/import/Tokenizer.h"

#include "frontend/graph/Errors.h"
#include "frontend/graph/Types.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace tilewright {

namespace {

class Reader {
public:
  Reader(const TokenizerRule &rule, const gguf::GgufFile &file) : rule(rule), file(file) {}

  Expected<graph::TokenizerT> run() {
    if (Error error = readRequired())
      return error;
    if (Error error = readLists())
      return error;
    std::pair<const std::string &, int32_t &> ids[] = {
        {rule.bosId, out.bos_id}, {rule.eosId, out.eos_id}, {rule.unkId, out.unk_id}, {rule.padId, out.pad_id}};
    for (auto &[key, id] : ids)
      if (Error error = readId(key, id))
        return error;
    if (Error error = readEndTokens())
      return error;
    if (Error error = readFlag(rule.addBos, out.add_bos))
      return error;
    if (Error error = readFlag(rule.addSpacePrefix, out.add_space_prefix))
      return error;
    return std::move(out);
  }

private:
  bool has(StringRef key) const { return !key.empty() && file.has(key); }

  Error readText(StringRef key, std::string &text) {
    Expected<StringRef> value = file.getString(key);
    if (!value)
      return value.takeError();
    text = value->str();
    return Error::success();
  }

  Error readStrings(StringRef key, std::vector<std::string> &texts) {
    Expected<std::vector<StringRef>> values = file.getStrings(key);
    if (!values)
      return values.takeError();
    texts.assign(values->begin(), values->end());
    return Error::success();
  }

  Error readRequired() {
    if (Error error = readText(rule.kind, out.kind))
      return error;
    return readStrings(rule.tokens, out.tokens);
  }

  Error sameCount(StringRef key, size_t found) const {
    if (found == out.tokens.size())
      return Error::success();
    return badInput(file.name() + ": metadata key " + quoted(key) + ": found " + Twine(found) + " entries, wanted " +
                    Twine(out.tokens.size()) + ", one for each of " + quoted(rule.tokens));
  }

  Error readLists() {
    if (has(rule.pre))
      if (Error error = readText(rule.pre, out.pre))
        return error;
    if (has(rule.chatTemplate))
      if (Error error = readText(rule.chatTemplate, out.chat_template))
        return error;
    if (has(rule.merges))
      if (Error error = readStrings(rule.merges, out.merges))
        return error;
    if (has(rule.tokenTypes)) {
      Expected<std::vector<int32_t>> types = file.getIntegers(rule.tokenTypes);
      if (!types)
        return types.takeError();
      out.token_types = std::move(*types);
      if (Error error = sameCount(rule.tokenTypes, out.token_types.size()))
        return error;
    }
    if (has(rule.scores)) {
      Expected<std::vector<float>> scores = file.getFloats(rule.scores);
      if (!scores)
        return scores.takeError();
      out.scores = std::move(*scores);
      if (Error error = sameCount(rule.scores, out.scores.size()))
        return error;
    }
    return Error::success();
  }

  Error readId(StringRef key, int32_t &id) {
    if (!has(key))
      return Error::success();
    Expected<int64_t> value = file.getInteger(key);
    if (!value)
      return value.takeError();
    if (*value < 0 || *value >= static_cast<int64_t>(out.tokens.size()))
      return badInput(file.name() + ": metadata key " + quoted(key) + ": found " + Twine(*value) + ", wanted 0 to " +
                      Twine(out.tokens.size() - 1) + ", a token of " + quoted(rule.tokens));
    id = static_cast<int32_t>(*value);
    return Error::success();
  }

  Error readEndTokens() {
    for (const std::string &key : rule.eotIds) {
      int32_t id = -1;
      if (Error error = readId(key, id))
        return error;
      addEndToken(id);
    }
    constexpr int32_t controlType = 3;
    for (auto [i, type] : enumerate(out.token_types))
      if (type == controlType && is_contained(rule.eotTokens, out.tokens[i]))
        addEndToken(static_cast<int32_t>(i));
    return Error::success();
  }

  void addEndToken(int32_t id) {
    if (id >= 0 && id != out.eos_id && !is_contained(out.eot_ids, id))
      out.eot_ids.push_back(id);
  }

  Error readFlag(const TokenizerFlag &flag, bool &value) {
    if (!has(flag.key)) {
      value = is_contained(flag.defaultFor, out.kind);
      return Error::success();
    }
    Expected<bool> found = file.getBool(flag.key);
    if (!found)
      return found.takeError();
    value = *found;
    return Error::success();
  }

  const TokenizerRule &rule;
  const gguf::GgufFile &file;
  graph::TokenizerT out;
};

} // namespace

Expected<graph::TokenizerT> readTokenizer(const TokenizerRule &rule, const gguf::GgufFile &file) {
  return Reader(rule, file).run();
}

} // namespace tilewright
