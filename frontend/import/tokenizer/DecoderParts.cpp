// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/graph/Types.h"
#include "frontend/import/tokenizer/JsonReader.h"

using namespace llvm;

namespace tilewright::tokenizer {

namespace {

class Reader {
public:
  Reader(Draft &draft, Problems &problems) : draft(draft), steps(draft.out.decoders), problems(problems) {}

  void part(StringRef type, Fields &fields) {
    if (type == "ByteLevel") {
      for (StringRef key : {"add_prefix_space", "trim_offsets", "use_regex"})
        fields.ignore(key); // of the pre-tokenizer of that name
      if (!draft.out.byte_level)
        problems.unsupported(fields.place(), "decoder 'ByteLevel' without the pre-tokenizer 'ByteLevel'");
    } else if (type == "ByteFallback") {
      if (!draft.out.byte_fallback)
        problems.unsupported(fields.place(), "decoder 'ByteFallback' without a model with byte_fallback");
    } else if (type == "Fuse") {
      fused = true;
    } else if (type == "Replace") {
      Pattern pattern = readPattern(fields, problems);
      if (pattern.regex)
        problems.unsupported(fields.place("pattern"), "a regular expression in a decoder is not supported");
      graph::TokenizerStepT &step = addStep(steps, "replace");
      step.text = std::move(pattern.text);
      step.with = fields.string("content");
    } else if (type == "Strip") {
      strip(fields);
    } else if (type == "Metaspace") {
      graph::TokenizerStepT &step = addStep(steps, "metaspace");
      step.text = fields.string("replacement");
      step.number = readPrependScheme(fields, problems);
      fields.ignore("split");
    } else if (type == "WordPiece") {
      graph::TokenizerStepT &step = addStep(steps, "word_piece");
      step.text = fields.optionalString("prefix").value_or("##");
      step.flag = fields.boolean("cleanup", true);
    } else {
      fields.ignoreRest();
      problems.unsupported(fields.place(), "decoder " + quoted(type) + " is not supported");
    }
  }

private:
  void strip(Fields &fields) {
    std::string content = fields.string("content");
    int64_t start = fields.optionalInteger("start").value_or(0), stop = fields.optionalInteger("stop").value_or(0);
    if (stop != 0 || start < 0 || start > 1024 || (start > 0 && !fused))
      return problems.unsupported(fields.place(), "wanted 'stop' of 0 and 'start' up to 1024, behind 'Fuse'");
    if (start == 0)
      return;
    graph::TokenizerStepT &step = addStep(steps, "strip_first");
    step.text = std::move(content);
    step.number = static_cast<int32_t>(start);
  }

  Draft &draft;
  StepList &steps;
  Problems &problems;
  bool fused = false; // the tokens are one text
};

} // namespace

void readDecoder(Fields &root, Draft &draft, Problems &problems) {
  const json::Object *object = root.optionalObject("decoder");
  if (!object) {
    addStep(draft.out.decoders, "join").text = " ";
    return;
  }
  Reader reader(draft, problems);
  forEachPart(*object, "decoder", "decoders", problems,
              [&](StringRef type, Fields &fields) { reader.part(type, fields); });
}

} // namespace tilewright::tokenizer
