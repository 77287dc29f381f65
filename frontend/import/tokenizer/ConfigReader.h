// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The files beside tokenizer.json that say more about a tokenizer. Inside the importer.
#ifndef TILEWRIGHT_FRONTEND_IMPORT_TOKENIZER_CONFIGREADER_H
#define TILEWRIGHT_FRONTEND_IMPORT_TOKENIZER_CONFIGREADER_H

#include "frontend/import/tokenizer/JsonReader.h"

namespace tilewright::tokenizer {

/// Reads them in the order of the functions; what came first stays.
class ConfigReader {
public:
  explicit ConfigReader(Draft &draft) : draft(draft), out(draft.out) {}

  /// tokenizer_config.json. Members that nobody knows are problems.
  void readConfig(const llvm::json::Object &root, Problems &problems);
  /// special_tokens_map.json
  void readMap(const llvm::json::Object &root, Problems &problems);
  /// chat_template.json
  void readTemplate(const llvm::json::Object &root, Problems &problems);
  /// generation_config.json and config.json: eos_token_id, pad_token_id.
  void readEndTokens(const llvm::json::Object &root, Problems &problems);
  /// Whether begin and end tokens are added, as the config says.
  void finish();

private:
  void readNames(Fields &fields, Problems &problems);
  void readName(Fields &fields, llvm::StringRef key, int32_t &id, Problems &problems);
  /// Tokens that may be missing in the vocabulary only if they are declared elsewhere.
  void readFurtherSpecials(Fields &fields, llvm::StringRef key, Problems &problems);
  void readAddedTokens(Fields &fields, Problems &problems);
  void checkSwitches(Fields &fields, Problems &problems);

  Draft &draft;
  graph::TokenizerT &out;
  std::optional<bool> addBegin, addEnd;
};

} // namespace tilewright::tokenizer

#endif // TILEWRIGHT_FRONTEND_IMPORT_TOKENIZER_CONFIGREADER_H
