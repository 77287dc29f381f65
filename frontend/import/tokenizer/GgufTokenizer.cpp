// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/import/tokenizer/GgufTokenizer.h"

#include "frontend/graph/Errors.h"
#include "frontend/graph/Types.h"
#include "frontend/import/tokenizer/JsonReader.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tilewright {

using namespace tokenizer;

namespace {

/// Control tokens that end a text wherever a vocabulary has them.
constexpr StringRef kEndTokens[] = {"<|endoftext|>", "<|im_end|>",      "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>",
                                    "<end_of_turn>", "<|end_of_turn|>", "<|end|>",    "<|return|>", "<|call|>"};
/// SentencePiece's sign for a space: U+2581.
constexpr StringLiteral kSpaceSign = "\xE2\x96\x81";

class Reader {
public:
  explicit Reader(const gguf::GgufFile &file) : file(file) {}

  Expected<graph::TokenizerT> run() {
    for (Error (Reader::*step)() : {&Reader::readLists, &Reader::readIds, &Reader::readKind})
      if (Error error = (this->*step)())
        return error;
    return std::move(out);
  }

private:
  static std::string key(StringRef name) { return ("tokenizer.ggml." + name).str(); }

  Error readStrings(StringRef key, std::vector<std::string> &texts) {
    Expected<std::vector<StringRef>> values = file.getStrings(key);
    if (!values)
      return values.takeError();
    texts.assign(values->begin(), values->end());
    return Error::success();
  }

  Error readText(StringRef key, std::string &text) {
    Expected<StringRef> value = file.getString(key);
    if (!value)
      return value.takeError();
    text = value->str();
    return Error::success();
  }

  /// One value for each token, if there are any.
  template <typename T>
  Error readPerToken(StringRef name, Expected<std::vector<T>> (gguf::GgufFile::*get)(StringRef) const,
                     std::vector<T> &values) {
    if (!file.has(key(name)))
      return Error::success();
    Expected<std::vector<T>> found = (file.*get)(key(name));
    if (!found)
      return found.takeError();
    values = std::move(*found);
    if (values.size() == out.tokens.size())
      return Error::success();
    return badInput(file.name() + ": metadata key " + quoted(key(name)) + ": found " + Twine(values.size()) +
                    " entries, wanted " + Twine(out.tokens.size()) + ", one for each of 'tokenizer.ggml.tokens'");
  }

  Error readLists() {
    if (Error error = readText(key("model"), out.kind))
      return error;
    if (Error error = readStrings(key("tokens"), out.tokens))
      return error;
    if (file.has(key("pre")))
      if (Error error = readText(key("pre"), out.pre))
        return error;
    if (file.has("tokenizer.chat_template"))
      if (Error error = readText("tokenizer.chat_template", out.chat_template))
        return error;
    if (file.has(key("merges")))
      if (Error error = readStrings(key("merges"), out.merges))
        return error;
    if (Error error = readPerToken("token_type", &gguf::GgufFile::getIntegers, out.token_types))
      return error;
    return readPerToken("scores", &gguf::GgufFile::getFloats, out.scores);
  }

  Error readId(StringRef name, int32_t &id) {
    if (!file.has(key(name)))
      return Error::success();
    Expected<int64_t> value = file.getInteger(key(name));
    if (!value)
      return value.takeError();
    if (*value < 0 || *value >= static_cast<int64_t>(out.tokens.size()))
      return badInput(file.name() + ": metadata key " + quoted(key(name)) + ": found " + Twine(*value) +
                      ", wanted 0 to " + Twine(out.tokens.size() - 1) + ", a token of 'tokenizer.ggml.tokens'");
    id = static_cast<int32_t>(*value);
    return Error::success();
  }

  Error readIds() {
    std::pair<StringRef, int32_t *> ids[] = {
        {"bos_token_id", &out.bos_id},     {"eos_token_id", &out.eos_id}, {"unknown_token_id", &out.unk_id},
        {"padding_token_id", &out.pad_id}, {"cls_token_id", &cls},        {"seperator_token_id", &separator}}; // sic
    for (auto [name, id] : ids)
      if (Error error = readId(name, *id))
        return error;
    for (StringRef name : {"eot_token_id", "eom_token_id"}) {
      int32_t id = -1;
      if (Error error = readId(name, id))
        return error;
      addEndToken(id);
    }
    for (auto [i, type] : enumerate(out.token_types))
      if (type == kControl && is_contained(kEndTokens, out.tokens[i]))
        addEndToken(static_cast<int32_t>(i));
    return Error::success();
  }

  void addEndToken(int32_t id) {
    if (id >= 0 && id != out.eos_id && !is_contained(out.eot_ids, id))
      out.eot_ids.push_back(id);
  }

  Error readFlag(StringRef name, bool byDefault, bool &value) {
    value = byDefault;
    if (!file.has(key(name)))
      return Error::success();
    Expected<bool> found = file.getBool(key(name));
    if (!found)
      return found.takeError();
    value = *found;
    return Error::success();
  }

  Error readKind() {
    const bool pieces = out.kind == "llama" || out.kind == "t5", bert = out.kind == "bert";
    bool addEnd = false, squeeze = false;
    std::tuple<StringRef, bool, bool *> flags[] = {{"add_bos_token", out.kind == "llama" || bert, &out.add_bos},
                                                   {"add_eos_token", out.kind == "t5" || bert, &addEnd},
                                                   {"add_space_prefix", pieces, &out.add_space_prefix},
                                                   {"remove_extra_whitespaces", false, &squeeze}};
    for (auto [name, byDefault, value] : flags)
      if (Error error = readFlag(name, byDefault, *value))
        return error;
    if (bert)
      readBert();
    if (pieces)
      if (Error error = readSentencePiece(squeeze))
        return error;
    if (out.add_bos && out.bos_id < 0 && pieces)
      out.add_bos = false;
    if (addEnd && out.eos_id >= 0)
      out.suffix_ids = {out.eos_id};
    return Error::success();
  }

  /// Source: normalizer.cc and bpe_model.cc, unigram_model.cc of github.com/google/sentencepiece.
  Error readSentencePiece(bool squeeze) {
    out.kind = out.kind == "llama" ? "bpe_scores" : "unigram";
    out.merges.clear(); // what scores say
    out.byte_fallback = is_contained(out.token_types, kByte);
    out.fuse_unknown = true;
    if (file.has(key("precompiled_charsmap"))) {
      Expected<std::vector<int32_t>> bytes = file.getIntegers(key("precompiled_charsmap"));
      if (!bytes)
        return bytes.takeError();
      if (!bytes->empty())
        addStep(out.normalizers, "charsmap").bytes.assign(bytes->begin(), bytes->end());
    }
    if (squeeze)
      addStep(out.normalizers, "squeeze_spaces");
    if (out.add_space_prefix)
      addStep(out.normalizers, "prepend").text = " ";
    replaceText(addStep(out.normalizers, "replace"), " ", kSpaceSign);
    replaceText(addStep(out.decoders, "replace"), kSpaceSign, " ");
    if (out.add_space_prefix) {
      graph::TokenizerStepT &strip = addStep(out.decoders, "strip_first");
      strip.text = " ";
      strip.number = 1;
    }
    // These are looked for in the text as it is.
    for (auto [token, type] : zip(out.tokens, out.token_types))
      for (size_t at = 0; type == kUserDefined && (at = token.find(kSpaceSign, at)) != std::string::npos;)
        token.replace(at, kSpaceSign.size(), " ");
    return Error::success();
  }

  static void replaceText(graph::TokenizerStepT &step, StringRef text, StringRef with) {
    step.text = text.str();
    step.with = with.str();
  }

  /// Converters mark the begin of words by U+2581 and leave out the "##" of what continues them; bracketed tokens stay.
  void readBert() {
    out.kind = "wordpiece";
    out.continuation = "##";
    out.most_characters = 100;
    const bool marked = any_of(out.tokens, [](StringRef token) { return token.starts_with(kSpaceSign); });
    bool cased = false;
    for (size_t id = 0; id < out.tokens.size(); ++id) {
      std::string &token = out.tokens[id];
      const bool bracketed = token.size() > 2 && token.front() == '[' && token.back() == ']';
      if (bracketed || (!out.token_types.empty() && out.token_types[id] != kNormal))
        continue;
      // No text could ever become such a token if the model had no capitals.
      cased |= any_of(token, isUpper);
      if (marked)
        token = StringRef(token).starts_with(kSpaceSign) ? token.substr(kSpaceSign.size()) : "##" + token;
    }
    addStep(out.normalizers, "bert_clean");
    addStep(out.normalizers, "bert_cjk");
    if (!cased) {
      addStep(out.normalizers, "bert_accents");
      addStep(out.normalizers, "lowercase");
    }
    addStep(out.pre_tokenizers, "split_bert");
    graph::TokenizerStepT &decoder = addStep(out.decoders, "word_piece");
    decoder.text = "##";
    decoder.flag = true;
    if (cls >= 0)
      out.bos_id = cls;
    if (separator >= 0)
      out.eos_id = separator;
    if (out.bos_id < 0)
      out.add_bos = false;
  }

  const gguf::GgufFile &file;
  graph::TokenizerT out;
  int32_t cls = -1, separator = -1;
};

} // namespace

Expected<graph::TokenizerT> readTokenizer(const gguf::GgufFile &file) { return Reader(file).run(); }

} // namespace tilewright
