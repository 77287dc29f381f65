// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/graph/Types.h"
#include "frontend/import/tokenizer/JsonReader.h"

#include <algorithm>

using namespace llvm;

namespace tilewright::tokenizer {

namespace {

class Reader {
public:
  Reader(Fields &fields, Draft &draft, Problems &problems)
      : fields(fields), draft(draft), out(draft.out), problems(problems) {}

  void run() {
    std::string type = fields.string("type");
    if (type == "BPE") {
      bytePair();
    } else if (type == "WordPiece" || type == "WordLevel") {
      out.kind = type == "WordPiece" ? "wordpiece" : "wordlevel";
      vocabulary();
      unknownToken();
      if (type == "WordPiece") {
        out.continuation = fields.optionalString("continuing_subword_prefix").value_or("##");
        int64_t most = fields.optionalInteger("max_input_chars_per_word").value_or(100);
        if (most < 1 || most > UINT32_MAX)
          problems.bad(fields.place("max_input_chars_per_word"), "found " + Twine(most) + ", wanted 1 to 4294967295");
        else
          out.most_characters = static_cast<uint32_t>(most);
      }
    } else if (type == "Unigram") {
      unigram();
    } else {
      fields.ignoreRest();
      problems.unsupported("model", "type " + quoted(type) + " is not supported");
    }
  }

private:
  /// {"token": id, ...}
  void vocabulary() {
    const json::Object *vocab = fields.optionalObject("vocab");
    if (!vocab)
      return problems.bad(fields.place("vocab"), "wanted an object of tokens");
    // Holes are filled later; what is claimed must stand in proportion to what is there.
    const uint64_t most = 2 * static_cast<uint64_t>(vocab->size()) + 65536;
    for (const auto &[key, value] : *vocab) {
      StringRef token(key);
      std::optional<int64_t> id = value.getAsInteger();
      if (!id || *id < 0 || static_cast<uint64_t>(*id) >= most) {
        problems.bad(fields.place("vocab"), "token " + quoted(token) + ": wanted an id of 0 to " + Twine(most - 1));
        continue;
      }
      if (out.tokens.size() <= static_cast<size_t>(*id))
        out.tokens.resize(static_cast<size_t>(*id) + 1);
      if (token.empty())
        problems.bad(fields.place("vocab"), "token " + Twine(*id) + " is empty");
      else if (StringRef other = out.tokens[*id]; !other.empty())
        problems.bad(fields.place("vocab"), "tokens " + quoted(std::min(other, token)) + " and " +
                                                quoted(std::max(other, token)) + " both have the id " + Twine(*id));
      out.tokens[*id] = token.str();
      draft.ids[token] = static_cast<int32_t>(*id);
    }
  }

  void unknownToken() {
    std::optional<std::string> unknown = fields.optionalString("unk_token");
    if (!unknown)
      return;
    if (std::optional<int32_t> id = draft.find(*unknown))
      out.unk_id = *id;
    else
      problems.bad(fields.place("unk_token"), quoted(*unknown) + " is not in the vocabulary");
  }

  void byteFallback() {
    out.byte_fallback = fields.boolean("byte_fallback", false);
    if (!out.byte_fallback)
      return;
    out.token_types.assign(out.tokens.size(), kNormal);
    for (unsigned byte = 0; byte < 256; ++byte) {
      constexpr StringLiteral digits = "0123456789ABCDEF";
      std::string name = {'<', '0', 'x', digits[byte >> 4], digits[byte & 15], '>'};
      if (std::optional<int32_t> id = draft.find(name))
        out.token_types[*id] = kByte;
    }
  }

  void bytePair() {
    out.kind = "bpe";
    vocabulary();
    unknownToken();
    byteFallback();
    out.fuse_unknown = fields.boolean("fuse_unk", false);
    out.whole_word_first = fields.boolean("ignore_merges", false);
    if (const json::Value *dropout = fields.any("dropout"); dropout && dropout->getAsNumber() != 0.0)
      problems.unsupported(fields.place("dropout"), "leaving out merges at random is not supported");
    for (StringRef key : {"continuing_subword_prefix", "end_of_word_suffix"})
      if (std::string affix = fields.optionalString(key).value_or(""); !affix.empty())
        problems.unsupported(fields.place(key), quoted(affix) + " is not supported");
    const json::Array *merges = fields.array("merges");
    for (size_t i = 0; merges && i < merges->size(); ++i)
      merge((*merges)[i], i);
  }

  /// "left right", or ["left", "right"].
  void merge(const json::Value &value, size_t i) {
    if (std::optional<StringRef> text = value.getAsString()) {
      out.merges.push_back(text->str());
      return;
    }
    const json::Array *pair = value.getAsArray();
    std::optional<StringRef> left = pair && pair->size() == 2 ? (*pair)[0].getAsString() : std::nullopt;
    std::optional<StringRef> right = pair && pair->size() == 2 ? (*pair)[1].getAsString() : std::nullopt;
    if (!left || !right)
      return problems.bad(fields.place("merges"), "entry " + Twine(i) + ": wanted two tokens");
    if (left->contains(' ') || right->contains(' '))
      return problems.unsupported(fields.place("merges"), "entry " + Twine(i) + ": a space in a merge");
    out.merges.push_back((*left + " " + *right).str());
  }

  /// [["piece", score], ...]
  void unigram() {
    out.kind = "unigram";
    out.fuse_unknown = true;
    const json::Array *vocab = fields.array("vocab");
    for (size_t i = 0; vocab && i < vocab->size(); ++i) {
      const json::Array *pair = (*vocab)[i].getAsArray();
      std::optional<StringRef> piece = pair && pair->size() == 2 ? (*pair)[0].getAsString() : std::nullopt;
      std::optional<double> score = pair && pair->size() == 2 ? (*pair)[1].getAsNumber() : std::nullopt;
      if (!piece || piece->empty() || !score) {
        problems.bad(fields.place("vocab"), "entry " + Twine(i) + ": wanted a piece and its score");
        continue;
      }
      if (!draft.ids.try_emplace(*piece, static_cast<int32_t>(i)).second)
        problems.bad(fields.place("vocab"),
                     "entries " + Twine(draft.ids[*piece]) + " and " + Twine(i) + " are both " + quoted(*piece));
      out.tokens.push_back(piece->str());
      out.exact_scores.push_back(*score);
    }
    if (std::optional<int64_t> unknown = fields.optionalInteger("unk_id")) {
      if (*unknown < 0 || static_cast<uint64_t>(*unknown) >= out.tokens.size())
        problems.bad(fields.place("unk_id"),
                     "found " + Twine(*unknown) + ", wanted one of " + Twine(out.tokens.size()) + " tokens");
      else
        out.unk_id = static_cast<int32_t>(*unknown);
    }
    byteFallback();
  }

  Fields &fields;
  Draft &draft;
  graph::TokenizerT &out;
  Problems &problems;
};

} // namespace

void readAddedToken(const json::Object &entry, std::string place, int64_t id, Draft &draft, Problems &problems) {
  Fields fields(entry, place, problems);
  fields.ignore("id"); // the caller's
  fields.ignore("__type");
  std::string content = fields.string("content");
  bool special = fields.boolean("special", false);
  uint8_t matching = 0;
  for (auto [key, bit] : {std::pair("lstrip", 1), {"rstrip", 2}, {"single_word", 4}, {"normalized", 8}})
    if (fields.boolean(key, key == StringRef("normalized") && !special))
      matching |= static_cast<uint8_t>(bit);
  graph::TokenizerT &out = draft.out;
  // In proportion to the tokens that are named, not to the ids: or each token could double what the next may claim.
  const size_t most = 2 * static_cast<size_t>(draft.ids.size()) + 65536;
  if (id < 0 || static_cast<uint64_t>(id) >= most)
    return problems.bad(fields.place("id"), "found " + Twine(id) + ", wanted 0 to " + Twine(most - 1));
  if (content.empty())
    return problems.bad(fields.place("content"), "found no text");
  const size_t size = std::max(out.tokens.size(), static_cast<size_t>(id) + 1);
  out.tokens.resize(size);
  out.token_types.resize(size, kNormal);
  out.matching.resize(size, 0);
  constexpr uint8_t notInModel = 16;
  matching |= out.tokens[id].empty() ? notInModel : out.matching[id] & notInModel;
  if (!out.exact_scores.empty())
    out.exact_scores.resize(size, 0);
  if (!out.tokens[id].empty() && out.tokens[id] != content)
    return problems.bad(place, "token " + Twine(id) + " is " + quoted(content) + " here, and " +
                                   quoted(out.tokens[id]) + " elsewhere");
  if (auto [known, added] = draft.ids.try_emplace(content, static_cast<int32_t>(id)); !added && known->second != id)
    return problems.bad(place, quoted(content) + " has the id " + Twine(id) + " here, and " + Twine(known->second) +
                                   " elsewhere");
  out.tokens[id] = std::move(content);
  out.token_types[id] = special ? kControl : kUserDefined;
  out.matching[id] = matching;
}

void closeVocabulary(Draft &draft) {
  graph::TokenizerT &out = draft.out;
  out.token_types.resize(out.tokens.size(), kNormal);
  for (size_t id = 0; id < out.tokens.size(); ++id)
    if (out.tokens[id].empty()) {
      std::string name = "<unused " + std::to_string(id) + ">";
      while (draft.find(name))
        name += '>';
      out.tokens[id] = name;
      out.token_types[id] = kUnused;
    }
  if (llvm::all_of(out.matching, [](uint8_t matching) { return matching == 0; }))
    out.matching.clear();
  else
    out.matching.resize(out.tokens.size(), 0);
}

void readModel(Fields &root, Draft &draft, Problems &problems) {
  const json::Object *model = root.optionalObject("model");
  const json::Array *added = root.optionalArray("added_tokens");
  if (!model)
    return problems.bad("model", "not found, wanted an object");
  {
    Fields fields(*model, "model", problems);
    Reader(fields, draft, problems).run();
  }
  for (size_t i = 0; added && i < added->size(); ++i) {
    std::string place = "added_tokens[" + std::to_string(i) + "]";
    const json::Object *entry = (*added)[i].getAsObject();
    std::optional<int64_t> id = entry ? entry->getInteger("id") : std::nullopt;
    if (!id)
      problems.bad(place, "wanted an object with an integer 'id'");
    else
      readAddedToken(*entry, place, *id, draft, problems);
  }
}

} // namespace tilewright::tokenizer
