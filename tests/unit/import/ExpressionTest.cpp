// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/import/Expression.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace tilewright;

namespace {

std::string result(StringRef text) {
  Scope outer;
  outer.set("H", int64_t(9));
  outer.set("E", int64_t(7));
  outer.set("kinds", ValueList{std::string("full"), std::string("sliding")});
  outer.set("act", std::string("silu"));
  Scope names(&outer);
  names.set("E", int64_t(576));
  names.set("eps", 0.5);
  Expected<Value> value = evaluate(text, names);
  return value ? spell(*value) : toString(value.takeError());
}

TEST(Expression, Values) {
  EXPECT_EQ(result("E / H"), "64");
  EXPECT_EQ(result("1 / sqrt(E / H)"), "0.125");
  EXPECT_EQ(result("2 + 3 * 4 - 6 / 2"), "11");
  EXPECT_EQ(result("(2 + 3) * -4"), "-20");
  EXPECT_EQ(result("10 - 3 - 2"), "5");
  EXPECT_EQ(result("E % H == 0 && H != 0"), "1");
  EXPECT_EQ(result("H < 9 || H >= 10"), "0");
  EXPECT_EQ(result("eps * 3"), "1.5");
  EXPECT_EQ(result("float(2)"), "2");
  EXPECT_EQ(result("1.5 <= eps"), "0");
  EXPECT_EQ(result("ln(1)"), "0");
  EXPECT_EQ(result("floor(H * eps) + ceil(0.2)"), "5");
  EXPECT_EQ(result("1e-05 * 2"), "2e-05");
  EXPECT_EQ(result("!H || !(H - 9)"), "1");
}

TEST(Expression, StringsAndLists) {
  EXPECT_EQ(result("act"), "'silu'");
  EXPECT_EQ(result("act == 'silu' && act != 'gelu'"), "1");
  EXPECT_EQ(result("kinds"), "['full', 'sliding']");
  EXPECT_EQ(result("kinds[H - 8] == 'sliding'"), "1");
  EXPECT_EQ(result("len(kinds) + len('abc')"), "5");
  EXPECT_EQ(result("has(kinds, 'full') - has(kinds, act)"), "1");
  EXPECT_EQ(result("kinds[2]"), "expression 'kinds[2]': ['full', 'sliding'][2] has no value");
  EXPECT_EQ(result("act[0]"), "expression 'act[0]': 'silu'[0] has no value");
  EXPECT_EQ(result("act + 1"), "expression 'act + 1': 'silu' + 1 has no value");
  EXPECT_EQ(result("act == 1"), "expression 'act == 1': 'silu' == 1 has no value");
  EXPECT_EQ(result("'open"), "expression ''open': wanted \"'\" behind 'open'");
  EXPECT_EQ(result("sqrt(act)"), "expression 'sqrt(act)': sqrt('silu') has no value");
  EXPECT_EQ(result("kinds[0"), "expression 'kinds[0': wanted ']' at ''");
}

TEST(Expression, OnlyWhatDecidesIsEvaluated) {
  EXPECT_EQ(result("H > 5 ? E : 1 / 0"), "576");
  EXPECT_EQ(result("H < 5 ? unknown(1) : H < 6 ? 2 : 3"), "3");
  EXPECT_EQ(result("H == 9 || Q"), "1");
  EXPECT_EQ(result("H != 9 && kinds[7] == 'x'"), "0");
  EXPECT_EQ(result("1 ? 2"), "expression '1 ? 2': wanted ':' at ''");
}

TEST(Expression, NamesInIt) {
  EXPECT_EQ(namesIn("kind == 'yarn' ? ln(2 * x_1) : y[layer]"),
            (std::vector<StringRef>{"kind", "ln", "x_1", "y", "layer"}));
  EXPECT_TRUE(namesIn("1e5 + 'open").empty());
}

TEST(Expression, Errors) {
  EXPECT_EQ(result("H / 2"), "expression 'H / 2': 9 / 2 leaves a remainder");
  EXPECT_EQ(result("H / 0"), "expression 'H / 0': 9 / 0 has no value");
  EXPECT_EQ(result("H % 0"), "expression 'H % 0': 9 % 0 has no value");
  EXPECT_EQ(result("eps / 0"), "expression 'eps / 0': 0.5 / 0 has no value");
  EXPECT_EQ(result("sqrt(0 - 1)"), "expression 'sqrt(0 - 1)': sqrt(-1) has no value");
  EXPECT_EQ(result("log(2)"), "expression 'log(2)': log(2) has no value");
  EXPECT_EQ(result("9223372036854775807 + 1"),
            "expression '9223372036854775807 + 1': 9223372036854775807 + 1 is beyond 64 bits");
  EXPECT_EQ(result("4294967296 * 4294967296"),
            "expression '4294967296 * 4294967296': 4294967296 * 4294967296 is beyond 64 bits");
  EXPECT_EQ(result("Q"), "expression 'Q': unknown name 'Q'");
  EXPECT_EQ(result("(1"), "expression '(1': wanted ')' at ''");
  EXPECT_EQ(result("1 2"), "expression '1 2': found '2' after its end");
  EXPECT_EQ(result(""), "expression '': wanted a number, a name or '(' at ''");
  EXPECT_EQ(result("1x"), "expression '1x': '1x' is no number");
  std::string deep(1000, '(');
  EXPECT_TRUE(StringRef(result(deep)).ends_with(": it nests deeper than 64"));
  Scope names;
  EXPECT_EQ(toString(evaluateInteger("1 / 2.0", names).takeError()),
            "expression '1 / 2.0': found 0.5, wanted an integer");
}

} // namespace
