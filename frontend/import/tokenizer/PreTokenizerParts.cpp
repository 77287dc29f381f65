// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/graph/Types.h"
#include "frontend/import/tokenizer/JsonReader.h"

#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace tilewright::tokenizer {

namespace {

class Reader {
public:
  Reader(Draft &draft, Problems &problems) : draft(draft), steps(draft.out.pre_tokenizers), problems(problems) {}

  void part(StringRef type, Fields &fields) {
    if (draft.out.byte_level)
      problems.unsupported(fields.place(), "pre-tokenizer " + quoted(type) + " behind 'ByteLevel' is not supported");
    if (type == "ByteLevel") {
      byteLevel(fields);
    } else if (type == "Split") {
      split(fields);
    } else if (type == "Metaspace") {
      metaspace(fields);
    } else if (type == "Whitespace") {
      graph::TokenizerStepT &step = addStep(steps, "split_regex");
      step.text = "[\\w\\u200C\\u200D]+|[^\\w\\s\\u200C\\u200D]+"; // joiners belong to words
      step.flag = true;                                            // what lies between goes
    } else if (type == "WhitespaceSplit") {
      addStep(steps, "split_white_space");
    } else if (type == "BertPreTokenizer") {
      addStep(steps, "split_bert");
    } else if (type == "Punctuation") {
      addStep(steps, "split_punctuation").number = behavior(fields, "Isolated");
    } else if (type == "Digits") {
      addStep(steps, "split_digits").flag = fields.boolean("individual_digits", false);
    } else if (type == "CharDelimiterSplit") {
      addStep(steps, "split_text").text = fields.string("delimiter");
    } else {
      fields.ignoreRest();
      problems.unsupported(fields.place(), "pre-tokenizer " + quoted(type) + " is not supported");
    }
  }

private:
  int32_t behavior(Fields &fields, StringRef byDefault) {
    std::string name = fields.optionalString("behavior").value_or(byDefault.str());
    int32_t number = StringSwitch<int32_t>(name)
                         .Case("Removed", kRemoved)
                         .Case("Isolated", kIsolated)
                         .Case("MergedWithPrevious", kMergedWithPrevious)
                         .Case("MergedWithNext", kMergedWithNext)
                         .Case("Contiguous", kContiguous)
                         .Default(-1);
    if (number < 0)
      problems.unsupported(fields.place("behavior"), quoted(name) + " is not supported");
    return number;
  }

  void byteLevel(Fields &fields) {
    fields.ignore("trim_offsets"); // about places in the text alone
    draft.out.byte_level = true;
    if (fields.boolean("add_prefix_space", true))
      addStep(steps, "prefix_space");
    if (fields.boolean("use_regex", true))
      addStep(steps, "rule").text = "gpt-2";
  }

  void split(Fields &fields) {
    Pattern pattern = readPattern(fields, problems);
    graph::TokenizerStepT &step = addStep(steps, pattern.regex ? "split_regex" : "split_text");
    step.text = std::move(pattern.text);
    step.number = behavior(fields, "Isolated");
    step.flag = fields.boolean("invert", false);
  }

  void metaspace(Fields &fields) {
    graph::TokenizerStepT &step = addStep(steps, "metaspace");
    step.text = fields.string("replacement");
    step.number = readPrependScheme(fields, problems);
    step.flag = fields.boolean("split", true);
  }

  Draft &draft;
  StepList &steps;
  Problems &problems;
};

} // namespace

void readPreTokenizer(Fields &root, Draft &draft, Problems &problems) {
  const json::Object *object = root.optionalObject("pre_tokenizer");
  if (!object)
    return;
  Reader reader(draft, problems);
  forEachPart(*object, "pre_tokenizer", "pretokenizers", problems,
              [&](StringRef type, Fields &fields) { reader.part(type, fields); });
  usePublishedRules(draft.out.pre_tokenizers);
}

} // namespace tilewright::tokenizer
