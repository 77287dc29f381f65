// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tokenizer as plain data, mirroring table Tokenizer of frontend/graph/graph.fbs and runtime/api/artifact.fbs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilewright {

/// Token types of GGUF (key `tokenizer.ggml.token_type`).
enum class TokenType : int32_t { Normal = 1, Unknown = 2, Control = 3, UserDefined = 4, Unused = 5, Byte = 6 };

/// How a special token is looked for: bits of `TokenizerData::matching`.
enum TokenMatching : uint8_t {
  kTakesSpaceBefore = 1,
  kTakesSpaceBehind = 2,
  kWholeWordsOnly = 4,   ///< not next to a letter or digit
  kInNormalizedText = 8, ///< its spelling is normalized, and looked for behind the normalizer
  kNotInModel = 16       ///< found in this way only: words never become this token
};

/// What becomes of the matches of a splitting step (numbers as in TokenizerStep::number).
enum class SplitBehavior : int32_t { Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous };

/// One step of a pipeline, by name. What the fields mean depends on the step: Normalizer.h, PreTokenizer.h, Decoder.h.
struct TokenizerStep {
  std::string name;
  std::string text = {};
  std::string with = {};
  int32_t number = 0;
  bool flag = false;
  std::string bytes = {};

  bool operator==(const TokenizerStep &other) const = default;
};

/// Untrusted: `Tokenizer` checks every field. An id of -1 means "none".
struct TokenizerData {
  /// "bpe": byte-pair encoding by a list of merges; "bpe_scores": by the tokens' scores; "wordpiece"; "unigram";
  /// "wordlevel": words that are tokens; "gpt2": "bpe" on bytes, words cut by the rule `pre`.
  std::string kind;
  std::string pre;                 ///< of "gpt2": name of the split rule; empty means "default"
  std::vector<std::string> tokens; ///< by id; of a byte-level vocabulary normal tokens in the byte alphabet
  std::vector<int32_t> tokenTypes; ///< one per token, or none (all normal)
  std::vector<std::string> merges; ///< "left right", best first
  std::vector<double> scores;      ///< one per token, or none; logarithms of probabilities
  int32_t bosId = -1;
  int32_t eosId = -1;
  int32_t unkId = -1;
  int32_t padId = -1;
  std::vector<int32_t> eotIds; ///< further ids that end a text
  bool addBos = false;
  bool addSpacePrefix = false; ///< of "gpt2": each stretch between special tokens begins with a space
  std::string chatTemplate;    ///< Jinja source, empty if the model has none

  std::vector<TokenizerStep> normalizers;
  std::vector<TokenizerStep> preTokenizers;
  std::vector<TokenizerStep> decoders;
  std::vector<int32_t> prefixIds; ///< what stands before each text; if empty and `addBos`, the begin token
  std::vector<int32_t> suffixIds; ///< what stands behind each text
  std::vector<uint8_t> matching;  ///< TokenMatching, one per token, or none
  bool byteLevel = false;         ///< normal tokens are spelled in the byte alphabet (ByteAlphabet.h)
  bool byteFallback = false;      ///< characters without a token become byte tokens
  bool fuseUnknown = false;       ///< unknown characters that follow one another become one unknown token
  bool wholeWordFirst = false;    ///< a word that is itself a token is taken as it is, without merging
  std::string continuation;       ///< of "wordpiece": what tokens inside a word begin with ("##")
  uint32_t mostCharacters = 0;    ///< of "wordpiece": longer words are unknown; 0: no limit
};

} // namespace tilewright
