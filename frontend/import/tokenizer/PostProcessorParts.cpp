// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands before and behind a text. Templates for pairs of texts are read by nobody: texts are encoded one by one.
#include "frontend/graph/Types.h"
#include "frontend/import/tokenizer/JsonReader.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace tilewright::tokenizer {

namespace {

class Reader {
public:
  Reader(Draft &draft, Problems &problems) : draft(draft), problems(problems) {}

  void part(StringRef type, Fields &fields) {
    if (type == "ByteLevel") {
      for (StringRef key : {"add_prefix_space", "trim_offsets", "use_regex"})
        fields.ignore(key); // about places in the text
      return;
    }
    if (std::exchange(seen, true))
      problems.unsupported(fields.place(), "more than one post-processor that adds tokens");
    if (type == "TemplateProcessing") {
      templates(fields);
    } else if (type == "BertProcessing" || type == "RobertaProcessing") {
      for (StringRef key : {"trim_offsets", "add_prefix_space"})
        fields.ignore(key);
      tokenAndId(fields, "cls", draft.out.prefix_ids);
      tokenAndId(fields, "sep", draft.out.suffix_ids);
    } else {
      fields.ignoreRest();
      problems.unsupported(fields.place(), "post-processor " + quoted(type) + " is not supported");
    }
  }

private:
  /// Checks that token and id belong together.
  void add(StringRef token, int64_t id, StringRef place, std::vector<int32_t> &ids) {
    if (draft.find(token) != id)
      return problems.bad(place, "token " + quoted(token) + " does not have the id " + Twine(id));
    ids.push_back(static_cast<int32_t>(id));
  }

  /// ["[CLS]", 101]
  void tokenAndId(Fields &fields, StringRef key, std::vector<int32_t> &ids) {
    const json::Array *pair = fields.array(key);
    std::optional<StringRef> token = pair && pair->size() == 2 ? (*pair)[0].getAsString() : std::nullopt;
    std::optional<int64_t> id = pair && pair->size() == 2 ? (*pair)[1].getAsInteger() : std::nullopt;
    if (token && id)
      add(*token, *id, fields.place(key), ids);
    else if (pair)
      problems.bad(fields.place(key), "wanted a token and its id");
  }

  void templates(Fields &fields) {
    fields.ignore("pair");
    const json::Object *specials = fields.optionalObject("special_tokens");
    const json::Array *single = fields.array("single");
    bool behind = false;
    for (size_t i = 0; single && i < single->size(); ++i) {
      std::string place = fields.place("single") + "[" + std::to_string(i) + "]";
      const json::Object *piece = (*single)[i].getAsObject();
      const json::Object *sequence = piece ? piece->getObject("Sequence") : nullptr;
      const json::Object *special = piece ? piece->getObject("SpecialToken") : nullptr;
      if (sequence && !behind && sequence->getString("id") == "A" && sequence->getInteger("type_id") == 0)
        behind = true;
      else if (special && special->getInteger("type_id") == 0)
        specialToken(special->getString("id").value_or(""), specials, place,
                     behind ? draft.out.suffix_ids : draft.out.prefix_ids);
      else
        problems.unsupported(place, "wanted the sequence A once, and special tokens, all of type_id 0");
    }
    if (single && !behind)
      problems.unsupported(fields.place("single"), "wanted the sequence A");
  }

  void specialToken(StringRef name, const json::Object *specials, StringRef place, std::vector<int32_t> &ids) {
    const json::Object *entry = specials ? specials->getObject(name) : nullptr;
    const json::Array *numbers = entry ? entry->getArray("ids") : nullptr;
    const json::Array *tokens = entry ? entry->getArray("tokens") : nullptr;
    if (!numbers || !tokens || numbers->size() != tokens->size())
      return problems.bad(place, "special token " + quoted(name) + " is not defined in special_tokens");
    for (auto [number, token] : llvm::zip(*numbers, *tokens))
      add(token.getAsString().value_or(""), number.getAsInteger().value_or(-1), place, ids);
  }

  Draft &draft;
  Problems &problems;
  bool seen = false;
};

} // namespace

void readPostProcessor(Fields &root, Draft &draft, Problems &problems) {
  const json::Object *object = root.optionalObject("post_processor");
  if (!object)
    return;
  Reader reader(draft, problems);
  forEachPart(*object, "post_processor", "processors", problems,
              [&](StringRef type, Fields &fields) { reader.part(type, fields); });
}

} // namespace tilewright::tokenizer
