// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tokenize/Regex.h"

#include "runtime/api/Error.h"
#include "runtime/tokenize/RegexSyntax.h"
#include "runtime/tokenize/Utf8.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>

namespace tilewright {

namespace {

std::string pcreMessage(int error) {
  std::array<PCRE2_UCHAR, 256> buffer{};
  pcre2_get_error_message(error, buffer.data(), buffer.size());
  return reinterpret_cast<const char *>(buffer.data());
}

template <auto Free> struct FreeWith {
  template <typename T> void operator()(T *value) const { Free(value); }
};

/// What a search may still look at, counted between the items of the expression.
struct Work {
  uint64_t left = 0;
  size_t position = 0;
};

int countWork(pcre2_callout_block *block, void *data) {
  Work &work = *static_cast<Work *>(data);
  const size_t position = block->current_position;
  const uint64_t moved = position > work.position ? position - work.position : work.position - position;
  work.position = position;
  if (moved + 1 > work.left)
    return PCRE2_ERROR_CALLOUT;
  work.left -= moved + 1;
  return 0;
}

} // namespace

struct Regex::Code {
  std::string pattern; // as given, for messages
  Trust trust;
  std::unique_ptr<pcre2_code, FreeWith<pcre2_code_free>> compiled = nullptr;
  bool jit = false;
};

Regex::Regex(std::string_view pattern, Trust trust, Engine engine) : code(new Code{std::string(pattern), trust}) {
  const bool known = trust == Trust::Known;
  const std::string translated = known ? std::string(pattern) : translateRegex(pattern);
  // Without start optimizations nothing is looked at that a callout does not see.
  const uint32_t options = PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C |
                           (known ? 0 : PCRE2_AUTO_CALLOUT | PCRE2_NO_START_OPTIMIZE | PCRE2_MULTILINE);
  int error = 0;
  PCRE2_SIZE place = 0;
  code->compiled.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(), options,
                                     &error, &place, nullptr));
  if (!code->compiled)
    throw Error(TW_UNSUPPORTED, "tokenizer: regular expression '" + code->pattern + "': " + pcreMessage(error));
  code->jit = known && engine == Engine::Jit && pcre2_jit_compile(code->compiled.get(), PCRE2_JIT_COMPLETE) == 0;
}

Regex::~Regex() = default;
Regex::Regex(Regex &&) noexcept = default;
Regex &Regex::operator=(Regex &&) noexcept = default;

struct RegexMatcher::State {
  const Regex::Code &code;
  std::unique_ptr<pcre2_match_data, FreeWith<pcre2_match_data_free>> data;
  std::unique_ptr<pcre2_match_context, FreeWith<pcre2_match_context_free>> context;
  std::string_view subject = {};
  Work work = {};
  size_t place = 0;                             // where `next` goes on
  std::optional<size_t> lastEnd = std::nullopt; // of the match that it gave
};

RegexMatcher::RegexMatcher(const Regex &regex)
    : state(new State{*regex.code, decltype(State::data)(pcre2_match_data_create(1, nullptr)),
                      decltype(State::context)(pcre2_match_context_create(nullptr))}) {
  if (!state->data || !state->context)
    throw Error(TW_EXHAUSTED, "tokenizer: no memory for a regular expression's match");
  if (state->code.trust == Regex::Trust::Untrusted)
    pcre2_set_callout(state->context.get(), countWork, &state->work);
}

RegexMatcher::~RegexMatcher() = default;

void RegexMatcher::reset(std::string_view subject) {
  state->subject = subject;
  state->place = 0;
  state->lastEnd.reset();
  const uint64_t size = subject.size();
  if (state->code.trust == Regex::Trust::Untrusted) {
    state->work.left = 200 * size + 100'000;
    pcre2_set_match_limit(state->context.get(), UINT32_MAX);
    // A place to come back to takes some 150 bytes.
    pcre2_set_heap_limit(state->context.get(), static_cast<uint32_t>(std::min<uint64_t>(size / 4 + 20'000, 4'000'000)));
    return;
  }
  // A match visits each character a few times at most, so a limit linear in the text never stops an honest one.
  pcre2_set_match_limit(state->context.get(), static_cast<uint32_t>(std::min<uint64_t>(4 * size + 1000, UINT32_MAX)));
}

std::optional<size_t> RegexMatcher::matchAt(size_t at) {
  const auto text = reinterpret_cast<PCRE2_SPTR>(state->subject.data());
  state->work.position = at;
  // The caller vouches for the UTF-8; checking it again at every word would be quadratic.
  constexpr uint32_t options = PCRE2_ANCHORED | PCRE2_NO_UTF_CHECK;
  auto match = [&](uint32_t engine) {
    return pcre2_match(state->code.compiled.get(), text, state->subject.size(), at, options | engine, state->data.get(),
                       state->context.get());
  };
  int rc = match(state->code.jit ? 0 : PCRE2_NO_JIT);
  if (rc == PCRE2_ERROR_JIT_STACKLIMIT)
    rc = match(PCRE2_NO_JIT);
  if (rc == PCRE2_ERROR_NOMATCH)
    return std::nullopt;
  if (rc < 0)
    throw Error(TW_EXHAUSTED, "tokenizer: regular expression '" + state->code.pattern + "': gave up at byte " +
                                  std::to_string(at) + " of a text of " + std::to_string(state->subject.size()) +
                                  " bytes: it looks at too much of it");
  return pcre2_get_ovector_pointer(state->data.get())[1];
}

std::optional<RegexMatcher::Match> RegexMatcher::next() {
  size_t &place = state->place;
  while (place <= state->subject.size()) {
    const auto end = matchAt(place);
    if (!end || (*end == place && state->lastEnd == place)) {
      place += place < state->subject.size() ? readUtf8(state->subject, place).length : 1;
      continue;
    }
    const Match match{place, *end};
    state->lastEnd = place = match.end;
    return match;
  }
  return std::nullopt;
}

} // namespace tilewright
