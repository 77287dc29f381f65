// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/graph/Types.h"
#include "frontend/import/tokenizer/JsonReader.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Base64.h"

using namespace llvm;

namespace tilewright::tokenizer {

static void readPart(StringRef type, Fields &fields, StepList &steps, Problems &problems) {
  StringRef plain = StringSwitch<StringRef>(type)
                        .Case("NFC", "nfc")
                        .Case("NFD", "nfd")
                        .Case("NFKC", "nfkc")
                        .Case("NFKD", "nfkd")
                        .Case("Lowercase", "lowercase")
                        .Case("StripAccents", "strip_marks")
                        .Case("Nmt", "nmt")
                        .Default("");
  if (!plain.empty()) {
    addStep(steps, plain);
  } else if (type == "BertNormalizer") {
    bool lowercase = fields.boolean("lowercase", true);
    if (fields.boolean("clean_text", true))
      addStep(steps, "bert_clean");
    if (fields.boolean("handle_chinese_chars", true))
      addStep(steps, "bert_cjk");
    if (fields.boolean("strip_accents", lowercase))
      addStep(steps, "bert_accents");
    if (lowercase)
      addStep(steps, "lowercase");
  } else if (type == "Strip") {
    bool left = fields.boolean("strip_left", true), right = fields.boolean("strip_right", true);
    addStep(steps, "strip").number = (left ? 1 : 0) + (right ? 2 : 0);
  } else if (type == "Prepend") {
    addStep(steps, "prepend").text = fields.string("prepend");
  } else if (type == "Replace") {
    Pattern pattern = readPattern(fields, problems);
    graph::TokenizerStepT &step = addStep(steps, pattern.regex ? "replace_regex" : "replace");
    step.text = std::move(pattern.text);
    step.with = fields.string("content");
  } else if (type == "Precompiled") {
    std::vector<char> bytes;
    if (Error error = decodeBase64(fields.string("precompiled_charsmap"), bytes))
      return problems.bad(fields.place("precompiled_charsmap"), toString(std::move(error)));
    addStep(steps, "charsmap").bytes.assign(bytes.begin(), bytes.end());
  } else {
    fields.ignoreRest();
    problems.unsupported(fields.place(), "normalizer " + quoted(type) + " is not supported");
  }
}

void readNormalizer(Fields &root, Draft &draft, Problems &problems) {
  if (const json::Object *object = root.optionalObject("normalizer"))
    forEachPart(*object, "normalizer", "normalizers", problems,
                [&](StringRef type, Fields &fields) { readPart(type, fields, draft.out.normalizers, problems); });
}

} // namespace tilewright::tokenizer
