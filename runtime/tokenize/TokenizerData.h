// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tokenizer as plain data, mirroring table Tokenizer of frontend/graph/graph.fbs and runtime/api/artifact.fbs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilewright {

/// Token types of GGUF (key `tokenizer.ggml.token_type`).
enum class TokenType : int32_t { Normal = 1, Unknown = 2, Control = 3, UserDefined = 4, Unused = 5, Byte = 6 };

/// Untrusted: `Tokenizer` checks every field. An id of -1 means "none".
struct TokenizerData {
  std::string kind;                ///< "gpt2": byte-level byte-pair encoding
  std::string pre;                 ///< name of the pre-tokenizer rule; empty means "default"
  std::vector<std::string> tokens; ///< by id; normal tokens in the byte alphabet, all others literally
  std::vector<int32_t> tokenTypes; ///< one per token, or none (all normal)
  std::vector<std::string> merges; ///< "left right", best first
  std::vector<float> scores;       ///< one per token, or none; byte-pair encoding does not use them
  int32_t bosId = -1;
  int32_t eosId = -1;
  int32_t unkId = -1;
  int32_t padId = -1;
  std::vector<int32_t> eotIds; ///< further ids that end a text
  bool addBos = false;
  bool addSpacePrefix = false;
  std::string chatTemplate; ///< Jinja source, empty if the model has none
};

} // namespace tilewright
