// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/import/tokenizer/ConfigReader.h"

#include "frontend/graph/Types.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tilewright::tokenizer {

/// Members of tokenizer_config.json that do not change what one text's ids are, or that repeat tokenizer.json.
static constexpr StringRef kWithoutInfluence[] = {"auto_map",
                                                  "backend",
                                                  "clean_up_tokenization_spaces",
                                                  "cls_token",
                                                  "do_basic_tokenize",
                                                  "errors",
                                                  "extra_ids",
                                                  "fix_mistral_regex",
                                                  "from_slow",
                                                  "image_token",
                                                  "is_local",
                                                  "legacy",
                                                  "local_files_only",
                                                  "mask_token",
                                                  "max_length",
                                                  "max_lower_length",
                                                  "model_input_names",
                                                  "model_max_length",
                                                  "model_specific_special_tokens",
                                                  "name_or_path",
                                                  "never_split",
                                                  "pad_to_multiple_of",
                                                  "pad_token_type_id",
                                                  "padding",
                                                  "padding_side",
                                                  "processor_class",
                                                  "return_token_type_ids",
                                                  "sep_token",
                                                  "sp_model_kwargs",
                                                  "spaces_between_special_tokens",
                                                  "special_tokens_map_file",
                                                  "split_special_tokens",
                                                  "stride",
                                                  "tokenizer_class",
                                                  "tokenizer_file",
                                                  "tokenizer_type",
                                                  "tokenizer_version",
                                                  "transformers_version",
                                                  "trim_offsets",
                                                  "truncation",
                                                  "truncation_side",
                                                  "truncation_strategy",
                                                  "use_default_system_prompt",
                                                  "use_fast",
                                                  "vocab_file",
                                                  "vocab_size"};

/// A token as its text, or as an object with its "content".
static std::optional<StringRef> tokenText(const json::Value &value) {
  const json::Object *entry = value.getAsObject();
  return entry ? entry->getString("content") : value.getAsString();
}

void ConfigReader::readName(Fields &fields, StringRef key, int32_t &id, Problems &problems) {
  const json::Value *value = fields.any(key);
  if (!value)
    return;
  std::optional<StringRef> text = tokenText(*value);
  if (!text)
    return problems.bad(fields.place(key), "wanted a token's text");
  std::optional<int32_t> found = draft.find(*text);
  if (!found)
    return problems.bad(fields.place(key), quoted(*text) + " is not in the vocabulary");
  if (id < 0)
    id = *found;
}

void ConfigReader::readNames(Fields &fields, Problems &problems) {
  readName(fields, "bos_token", out.bos_id, problems);
  readName(fields, "eos_token", out.eos_id, problems);
  int32_t unknown = -1; // what has no token is the model's affair, in tokenizer.json
  readName(fields, "unk_token", unknown, problems);
  readName(fields, "pad_token", out.pad_id, problems);
  for (StringRef key : {"additional_special_tokens", "extra_special_tokens"})
    readFurtherSpecials(fields, key, problems);
}

void ConfigReader::readFurtherSpecials(Fields &fields, StringRef key, Problems &problems) {
  const json::Value *value = fields.any(key);
  if (!value)
    return;
  auto check = [&](const json::Value &entry) {
    std::optional<StringRef> text = tokenText(entry);
    std::optional<int32_t> id = text ? draft.find(*text) : std::nullopt;
    if (!id)
      problems.bad(fields.place(key), "found a token that is not in the vocabulary" + (text ? ": " + text->str() : ""));
    else if (static_cast<size_t>(*id) >= out.token_types.size() || out.token_types[*id] != kControl)
      problems.unsupported(fields.place(key), quoted(*text) + " is no special token in tokenizer.json's added_tokens");
  };
  if (const json::Array *list = value->getAsArray()) {
    for (const json::Value &entry : *list)
      check(entry);
  } else if (const json::Object *named = value->getAsObject()) {
    for (const auto &[name, entry] : *named)
      check(entry);
  } else {
    problems.bad(fields.place(key), "wanted a list of tokens");
  }
}

void ConfigReader::readAddedTokens(Fields &fields, Problems &problems) {
  const json::Object *added = fields.optionalObject("added_tokens_decoder");
  if (!added)
    return;
  for (const auto &[key, value] : *added) {
    StringRef number(key);
    int64_t id = 0;
    std::string place = fields.place("added_tokens_decoder") + "." + number.str();
    const json::Object *entry = value.getAsObject();
    if (number.getAsInteger(10, id) || !entry)
      problems.bad(place, "wanted an id, and an object that describes its token");
    else
      readAddedToken(*entry, place, id, draft, problems);
  }
}

/// Switches that Transformers lets override tokenizer.json: they have to agree with it.
void ConfigReader::checkSwitches(Fields &fields, Problems &problems) {
  auto has = [](const StepList &steps, StringRef name) {
    return any_of(steps, [&](const auto &step) { return step->name == name; });
  };
  auto same = [&](StringRef key, bool found) {
    if (std::optional<bool> wanted = fields.optionalBool(key); wanted && *wanted != found)
      problems.unsupported(fields.place(key),
                           "found " + StringRef(*wanted ? "true" : "false") + ", tokenizer.json does the opposite");
  };
  if (has(out.pre_tokenizers, "split_bert")) {
    same("do_lower_case", has(out.normalizers, "lowercase"));
    same("strip_accents", has(out.normalizers, "bert_accents"));
    same("tokenize_chinese_chars", has(out.normalizers, "bert_cjk"));
  } else {
    for (StringRef key : {"do_lower_case", "strip_accents", "tokenize_chinese_chars"})
      fields.ignore(key);
  }
  if (out.byte_level)
    same("add_prefix_space", has(out.pre_tokenizers, "prefix_space"));
  else
    fields.ignore("add_prefix_space");
}

void ConfigReader::readConfig(const json::Object &root, Problems &problems) {
  Fields fields(root, "", problems);
  for (StringRef key : kWithoutInfluence)
    fields.ignore(key);
  for (const auto &[key, value] : root) // further named tokens: "image_token", "boi_token"; they repeat the vocabulary
    if (StringRef(key).ends_with("_token") && value.getAsString() &&
        !is_contained({"bos_token", "eos_token", "unk_token", "pad_token", "add_bos_token", "add_eos_token"},
                      StringRef(key)))
      fields.ignore(StringRef(key));
  readAddedTokens(fields, problems);
  readNames(fields, problems);
  checkSwitches(fields, problems);
  addBegin = fields.optionalBool("add_bos_token");
  addEnd = fields.optionalBool("add_eos_token");
  const json::Value *chat = fields.any("chat_template");
  if (!chat)
    return;
  if (std::optional<StringRef> text = chat->getAsString())
    out.chat_template = text->str();
  else if (const json::Array *list = chat->getAsArray())
    for (const json::Value &entry : *list)
      if (const json::Object *named = entry.getAsObject(); named && named->getString("name") == "default")
        out.chat_template = named->getString("template").value_or("").str();
  if (out.chat_template.empty())
    problems.bad("chat_template", "wanted a text, or a list with an entry named 'default'");
}

void ConfigReader::readMap(const json::Object &root, Problems &problems) {
  Fields fields(root, "", problems);
  fields.ignoreRest();
  readNames(fields, problems);
}

void ConfigReader::readTemplate(const json::Object &root, Problems &problems) {
  Fields fields(root, "", problems);
  out.chat_template = fields.string("chat_template");
}

void ConfigReader::readEndTokens(const json::Object &root, Problems &problems) {
  Fields fields(root, "", problems);
  fields.ignoreRest();
  auto checked = [&](StringRef key, const json::Value &value) -> int32_t {
    std::optional<int64_t> id = value.getAsInteger();
    if (id && *id >= 0 && static_cast<uint64_t>(*id) < out.tokens.size())
      return static_cast<int32_t>(*id);
    if (!id || *id != -1) // "none" in older files
      problems.bad(fields.place(key), "wanted the id of one of " + Twine(out.tokens.size()) + " tokens");
    return -1;
  };
  if (const json::Value *ends = fields.any("eos_token_id")) {
    auto add = [&](const json::Value &value) {
      int32_t id = checked("eos_token_id", value);
      if (id >= 0 && out.eos_id < 0)
        out.eos_id = id;
      else if (id >= 0 && id != out.eos_id && !is_contained(out.eot_ids, id))
        out.eot_ids.push_back(id);
    };
    if (const json::Array *list = ends->getAsArray())
      for (const json::Value &value : *list)
        add(value);
    else
      add(*ends);
  }
  if (const json::Value *pad = fields.any("pad_token_id"); pad && out.pad_id < 0)
    out.pad_id = checked("pad_token_id", *pad);
}

void ConfigReader::finish() {
  auto apply = [](std::optional<bool> wanted, int32_t id, std::vector<int32_t> &ids) {
    if (wanted == false)
      llvm::erase(ids, id);
    else if (wanted == true && id >= 0 && ids.empty())
      ids.push_back(id);
  };
  apply(addBegin, out.bos_id, out.prefix_ids);
  apply(addEnd, out.eos_id, out.suffix_ids);
  out.add_bos = out.bos_id >= 0 && is_contained(out.prefix_ids, out.bos_id);
}

} // namespace tilewright::tokenizer
