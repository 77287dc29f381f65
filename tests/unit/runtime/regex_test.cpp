// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Regular expressions of tokenizers: what is translated, what is refused, and what a search may cost.
#include "runtime/tokenize/Regex.h"

#include "runtime/api/Error.h"
#include "runtime/tokenize/RegexSyntax.h"
#include "tests/unit/support/ExpectError.h"
#include "tests/unit/support/SmallStack.h"

#include <gtest/gtest.h>

#include <ctime>

using namespace tilewright;
using namespace tilewright::test;

TEST(RegexSyntax, Translates) {
  const std::pair<const char *, const char *> cases[] = {
      {"a|b+?", "a|b+?"},
      {"\\s+(?!\\S)", "\\p{White_Space}+(?!\\P{White_Space})"},
      {"[^\\s\\d]", "[^\\p{White_Space}\\p{Nd}]"},
      {"(x)(?:y)(?i:z)", "(?:x)(?:y)(?i:z)"},
      {"[a[bc]d]", "[abcd]"},
      {"[]a]", "[\\]a]"},
      {"[^\\r\\n\\p{L}\\]-]", "[^\\r\\n\\p{L}\\]-]"},
      {"\\u00e9\\v", "\\x{00e9}\\x0B"},
      {"x{1,3}{", "x{1,3}{"},
      {"{x}", "{x}"},
  };
  for (const auto &[pattern, translated] : cases)
    EXPECT_EQ(translateRegex(pattern), translated) << pattern;
}

TEST(RegexSyntax, Refuses) {
  const std::pair<const char *, const char *> cases[] = {
      {"a\\bc", "offset 1: \\b is not supported"},
      {"\\h", "offset 0: \\h is not supported"},
      {"(a)\\1", "offset 3: \\1 is not supported"},
      {"[[:alpha:]]", "offset 1: '[:' in a class is not supported"},
      {"[a&&b]", "offset 2: '&&' in a class is not supported"},
      {"[a[^b]]", "offset 2: '[^' in a class is not supported"},
      {"[\\W]", "offset 1: \\W in a class is not supported"},
      {"a{1,3}+", "offset 6: '+' behind a repeat count is not supported"},
      {"a{,3}", "offset 1: a repeat without a lower count is not supported"},
      {"a{1001}", "offset 1: a repeat count above 1000 is not supported"},
      {"(*ACCEPT)", "offset 0: a verb is not supported"},
      {"(?R)", "offset 0: '(?R' is not supported"},
      {"(?m:a)", "offset 0: '(?m' is not supported"},
      {"\\pL", "offset 0: \\p without a name in braces is not supported"},
      {"\\u12", "offset 0: \\u without four digits is not supported"},
      {"\\x80", "offset 0: a byte above 0x7F is not supported"},
      {"[a", "offset 2: a class without its closing bracket is not supported"},
      {"a\\", "offset 1: a backslash at the end is not supported"},
  };
  for (const auto &[pattern, message] : cases)
    expectError(TW_UNSUPPORTED, "tokenizer: regular expression '" + std::string(pattern) + "', " + message,
                [&, &pattern = pattern] { translateRegex(pattern); });
  expectError(TW_UNSUPPORTED, "tokenizer: regular expression 'a)': unmatched closing parenthesis",
              [] { Regex("a)", Regex::Trust::Untrusted); });
  EXPECT_THROW(translateRegex(std::string(20'000, 'a')), Error);
  EXPECT_THROW(Regex(std::string(5'000, '('), Regex::Trust::Untrusted), Error);
}

// Expressions that take exponential, cubic or quadratic time are given up; honest ones are not.
TEST(Regex, UntrustedOnesAreCounted) {
  const std::string run(50'000, 'a');
  for (const char *pattern :
       {"(a+)+$x", "a*a*a*b", "(?:a|aa)*b", "a*+a*+b|a*b", "(?=a*b)a|(?=a*c)a", "(?:a{1,900}){1,900}b"})
    onSmallStack([&] {
      const std::clock_t begin = std::clock();
      const Regex regex(pattern, Regex::Trust::Untrusted);
      RegexMatcher matcher(regex);
      matcher.reset(run);
      try {
        for (size_t at = 0; at < run.size(); ++at)
          matcher.matchAt(at);
        ADD_FAILURE() << pattern << ": not given up";
      } catch (const Error &error) {
        EXPECT_STREQ(statusName(error.code()), "EXHAUSTED");
        EXPECT_NE(error.message().find("gave up at byte"), std::string::npos) << error.message();
      }
      EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 20) << pattern;
    });
  const Regex honest("\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+|a+|.", Regex::Trust::Untrusted);
  for (const std::string &piece : {std::string("a"), std::string(" "), std::string("\n  "), std::string("b")}) {
    std::string text;
    while (text.size() < 100'000)
      text += piece;
    RegexMatcher matcher(honest);
    matcher.reset(text);
    for (size_t at = 0; at < text.size();)
      at = matcher.matchAt(at).value();
  }
}

// As Oniguruma's search goes on behind a match: an empty one may not begin where the last one ended.
TEST(Regex, GoesFromMatchToMatch) {
  const auto matches = [](const char *pattern, std::string_view text) {
    const Regex regex(pattern, Regex::Trust::Untrusted);
    RegexMatcher matcher(regex);
    std::vector<std::pair<size_t, size_t>> found;
    for (int again = 0; again < 2; ++again) {
      found.clear();
      matcher.reset(text);
      while (const auto match = matcher.next())
        found.emplace_back(match->begin, match->end);
      EXPECT_FALSE(matcher.next());
    }
    return found;
  };
  using Places = std::vector<std::pair<size_t, size_t>>;
  EXPECT_EQ(matches("x*", "axxb"), (Places{{0, 0}, {1, 3}, {4, 4}}));
  EXPECT_EQ(matches("x*|b", "xb"), (Places{{0, 1}, {2, 2}}));
  EXPECT_EQ(matches("(?=a)|a", "aa"), (Places{{0, 0}, {1, 1}}));
  EXPECT_EQ(matches("(?:)", "\xC3\xA9z"), (Places{{0, 0}, {2, 2}, {3, 3}}));
  EXPECT_EQ(matches("y", "ab"), Places());
  EXPECT_EQ(matches("$", ""), (Places{{0, 0}}));
}

// Going from empty match to empty match is counted as all searching is.
TEST(Regex, EmptyMatchesAreCounted) {
  const std::string digits(100'000, '7');
  const auto count = [&](const char *pattern) {
    const Regex regex(pattern, Regex::Trust::Untrusted);
    RegexMatcher matcher(regex);
    matcher.reset(digits);
    size_t matches = 0;
    while (matcher.next())
      ++matches;
    return matches;
  };
  EXPECT_EQ(count("x*"), digits.size() + 1);
  EXPECT_EQ(count("(?<=7)"), digits.size());
  EXPECT_EQ(count("$"), 1u);
  try {
    count("(?=(\\d{3})+(?!\\d))"); // looks at all the rest from each place
    ADD_FAILURE() << "not given up";
  } catch (const Error &error) {
    EXPECT_STREQ(statusName(error.code()), "EXHAUSTED");
    EXPECT_NE(error.message().find("of a text of 100000 bytes"), std::string::npos) << error.message();
  }
}

TEST(Regex, MatchesWhereItBegins) {
  const Regex regex("ab|\\w", Regex::Trust::Untrusted);
  RegexMatcher matcher(regex);
  matcher.reset("ab é-");
  EXPECT_EQ(matcher.matchAt(0), 2u);
  EXPECT_EQ(matcher.matchAt(1), 2u);
  EXPECT_EQ(matcher.matchAt(2), std::nullopt);
  EXPECT_EQ(matcher.matchAt(3), 5u);
  EXPECT_EQ(matcher.matchAt(5), std::nullopt);
}
