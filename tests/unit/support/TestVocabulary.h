// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The small vocabulary of tests/golden/tokenizer (see make.py there), and ways to break it.
#pragma once

#include "runtime/tokenize/TokenizerData.h"

#include <nlohmann/json.hpp>

#include <fstream>
#include <stdexcept>
#include <string>

namespace tilewright::test {

inline nlohmann::json readJson(const std::string &path) {
  std::ifstream file(std::string(TILEWRIGHT_TEST_DATA) + "/" + path);
  if (!file)
    throw std::runtime_error("cannot open test data " + path);
  return nlohmann::json::parse(file);
}

inline TokenizerData testVocabulary(const std::string &pre = "gpt-2") {
  static const nlohmann::json json = readJson("golden/tokenizer/vocabulary.json");
  TokenizerData data;
  data.kind = "gpt2";
  data.pre = pre;
  data.tokens = json["tokens"].get<std::vector<std::string>>();
  data.tokenTypes = json["token_types"].get<std::vector<int32_t>>();
  data.merges = json["merges"].get<std::vector<std::string>>();
  return data;
}

} // namespace tilewright::test
