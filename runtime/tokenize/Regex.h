// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Regular expressions of tokenizers, by PCRE2, within bounds of time and stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace tilewright {

/// A compiled expression. Immutable and safe to share between threads. What is a letter or a digit follows the Unicode
/// version of the PCRE2 library found (14 in 10.42): code points assigned later count as symbols.
class Regex {
public:
  /// `Known`: an expression of ours, in PCRE2's syntax, that takes linear time on every text.
  /// `Untrusted`: one from a file, in Oniguruma's syntax (see RegexSyntax.h). What the search looks at is counted, and
  /// a search that looks at more than 200 places for each byte of the text (and 100 000) is given up.
  enum class Trust { Known, Untrusted };
  enum class Engine { Jit, Interpreter };

  /// `Jit` falls back to the interpreter where machine code cannot be made, and is not used for untrusted expressions.
  /// Throws UNSUPPORTED for an expression that is not one or that this syntax lacks; the message names it.
  Regex(std::string_view pattern, Trust trust, Engine engine = Engine::Jit);
  ~Regex();
  Regex(Regex &&) noexcept;
  Regex &operator=(Regex &&) noexcept;

private:
  friend class RegexMatcher;
  struct Code;
  std::unique_ptr<Code> code;
};

/// Finds matches of one expression. Belongs to one thread at a time; the expression must outlive it.
class RegexMatcher {
public:
  explicit RegexMatcher(const Regex &regex);
  ~RegexMatcher();

  /// Takes `subject`, valid UTF-8 that must outlive its use, as the text to search.
  void reset(std::string_view subject);

  /// The end of the match that begins at byte `at`; it may be empty. Constant stack. Throws EXHAUSTED where an
  /// untrusted expression looks at too many places.
  std::optional<size_t> matchAt(size_t at);

  struct Match {
    size_t begin;
    size_t end;
  };
  /// The first match in the text or, after that, the first behind the last one given. It may be empty, but then it does
  /// not begin where that one ended. Throws as `matchAt`.
  std::optional<Match> next();

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace tilewright
