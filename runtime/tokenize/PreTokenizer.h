// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Splits text into the words that byte-pair encoding works on. Merges never cross a word's border.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

/// The rule a name stands for.
struct PreTokenizerRule {
  std::string_view name;
  std::string_view pattern; ///< PCRE2; matches at every place of any valid UTF-8 text
  bool wholeWordFirst;      ///< a word that is itself a token is taken as it is, without merging
};

/// Finds a rule by its GGUF name (key `tokenizer.ggml.pre`); the empty name is "default".
/// Throws UNSUPPORTED naming the rule and the known ones.
const PreTokenizerRule &findPreTokenizerRule(std::string_view name);

/// Every name that `findPreTokenizerRule` knows.
std::vector<std::string_view> preTokenizerNames();

/// A compiled rule. Immutable and safe to share between threads. What is a letter or a digit follows the Unicode
/// version of the PCRE2 library found (14 in 10.42): code points assigned later count as symbols.
class PreTokenizer {
public:
  enum class Engine { Jit, Interpreter };

  /// `Jit` falls back to the interpreter where machine code cannot be made.
  explicit PreTokenizer(const PreTokenizerRule &rule, Engine engine = Engine::Jit);
  ~PreTokenizer();
  PreTokenizer(PreTokenizer &&) noexcept;
  PreTokenizer &operator=(PreTokenizer &&) noexcept;

  /// Appends the end offsets of the words of `text`, which must be valid UTF-8, in order; the last one is its size.
  /// Linear in the size of the text, with constant stack.
  void split(std::string_view text, std::vector<size_t> &ends) const;

private:
  struct Code;
  std::unique_ptr<Code> code;
};

} // namespace tilewright
