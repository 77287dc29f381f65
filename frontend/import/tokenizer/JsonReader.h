// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of tokenizer.json (format of github.com/huggingface/tokenizers, version 1.0), one function each. Inside the
// importer.
#ifndef TILEWRIGHT_FRONTEND_IMPORT_TOKENIZER_JSONREADER_H
#define TILEWRIGHT_FRONTEND_IMPORT_TOKENIZER_JSONREADER_H

#include "frontend/graph/graph_generated.h"
#include "frontend/import/tokenizer/Fields.h"

#include "llvm/ADT/StringMap.h"

namespace tilewright::tokenizer {

/// What becomes of a splitting step's matches: its number.
enum Behavior : int32_t { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };

/// GGUF's token types.
enum TokenKind : int32_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };

/// A graph's tokenizer in the making.
struct Draft {
  graph::TokenizerT out;
  llvm::StringMap<int32_t> ids; ///< by token

  std::optional<int32_t> find(llvm::StringRef token) const {
    auto found = ids.find(token);
    return found == ids.end() ? std::nullopt : std::optional(found->second);
  }
};

using StepList = std::vector<std::unique_ptr<graph::TokenizerStepT>>;

graph::TokenizerStepT &addStep(StepList &steps, llvm::StringRef name);

/// "model" and "added_tokens": kind, tokens, merges, scores.
void readModel(Fields &root, Draft &draft, Problems &problems);
/// One entry of "added_tokens", or of a tokenizer_config's added_tokens_decoder: token `id` is looked for in text.
void readAddedToken(const llvm::json::Object &entry, std::string place, int64_t id, Draft &draft, Problems &problems);
/// Fills up a vocabulary whose ids have holes, and gives it as many types and matchings as tokens. Last of all.
void closeVocabulary(Draft &draft);

void readNormalizer(Fields &root, Draft &draft, Problems &problems);
void readPreTokenizer(Fields &root, Draft &draft, Problems &problems);
void readPostProcessor(Fields &root, Draft &draft, Problems &problems);
void readDecoder(Fields &root, Draft &draft, Problems &problems);

/// Puts the runtime's rules in the place of published expressions.
void usePublishedRules(StepList &steps);

/// {"String": "x"} or {"Regex": "x"}.
struct Pattern {
  std::string text;
  bool regex = false;
};
Pattern readPattern(Fields &fields, Problems &problems);

/// How a Metaspace is put in front: 0 never, 1 first, 2 always. Older files have a bool instead.
int32_t readPrependScheme(Fields &fields, Problems &problems);

/// Calls `part` for `value`, or, if it is {"type": "Sequence", `key`: [...]}, for each entry of the list, in order. A
/// sequence within a sequence is a problem beyond a depth of 16.
void forEachPart(const llvm::json::Object &value, std::string place, llvm::StringRef key, Problems &problems,
                 llvm::function_ref<void(llvm::StringRef type, Fields &fields)> part, unsigned depth = 0);

} // namespace tilewright::tokenizer

#endif // TILEWRIGHT_FRONTEND_IMPORT_TOKENIZER_JSONREADER_H
