// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the template language refuses: each message, its status and its line; and hostile templates.
#include "runtime/tokenize/ChatTemplate.h"

#include "tests/unit/support/ExpectError.h"
#include "tests/unit/support/SmallStack.h"

#include <gtest/gtest.h>

#include <ctime>

using namespace tilewright;
using namespace tilewright::test;

namespace {

std::vector<TextSegment> render(const std::string &source, const TemplateLimits &limits = {}) {
  return ChatTemplate(source, limits).render({.messages = {{"user", "h\xC3\xA9llo"}}});
}

/// `source` is put on line 2.
void expectRefused(tw_status_code code, const std::string &source, const std::string &message) {
  SCOPED_TRACE(source);
  expectError(code, "chat template line 2: " + message, [&] { render("{# 1 #}\n" + source); });
}

std::string repeat(const std::string &piece, size_t times) {
  std::string text;
  for (size_t i = 0; i < times; ++i)
    text += piece;
  return text;
}

} // namespace

TEST(ChatTemplateErrors, Unsupported) {
  const auto refused = [](const std::string &source, const std::string &message) {
    expectRefused(TW_UNSUPPORTED, source, message);
  };
  for (const std::string word : {"include", "import", "from", "extends", "block", "call", "filter", "with",
                                 "autoescape", "do", "trans", "debug"})
    refused("{% " + word + " x %}", "the statement '" + word + "' is not supported");
  refused("{% for x in [] recursive %}{% endfor %}", "a recursive loop is not supported");
  refused("{% set x | upper %}{% endset %}", "a filter on a set block is not supported");
  refused("{% for x in [] %}{% macro f() %}{% endmacro %}{% endfor %}",
          "a macro inside a loop or a macro is not supported");
  refused("{% macro g() %}{% macro f() %}{% endmacro %}{% endmacro %}",
          "a macro inside a loop or a macro is not supported");
  refused("{{ 2 ** 3 }}", "the operator '**' is not supported");
  refused("{{ range(*[1]) }}", "unpacking of arguments by '*' is not supported");
  refused("{{ range(**{}) }}", "unpacking of arguments by '**' is not supported");
  refused("{{ [1][0, 1] }}", "a subscript of several values is not supported");
  refused("{{ 99999999999999999999 }}", "the integer 99999999999999999999 does not fit 64 bits");
  refused("{{ 1e999 }}", "the number 1e999 does not fit a double");
  refused("{{ '\\N{DASH}' }}", "an escape by name, '\\N{...}', is not supported");
  refused("{{ '%s' % 1 }}", "formatting a str by '%' is not supported");
  refused("{{ [1] }}", "printing a list is not supported; use tojson or join");
  refused("{{ {} }}", "printing a dict is not supported; use tojson or join");
  refused("{{ range }}", "printing a function is not supported; use tojson or join");
  refused("{{ 1 | wordwrap }}", "filter 'wordwrap' is not supported");
  refused("{{ 1 is sameas(1) }}", "test 'sameas' is not supported");
  refused("{{ 'a'.zfill(3) }}", "method 'zfill' of a str is not supported");
  refused("{{ [1].pop() }}", "method 'pop' of a list is not supported: lists cannot be changed");
  refused("{{ {}.update({}) }}", "method 'update' of a dict is not supported");
  refused("{{ 5.bit_length() }}", "method 'bit_length' of an int is not supported");
  refused("{{ 'a'.strip }}", "method 'strip' of a str can only be called");
  refused("{{ messages[0].content | upper }}", "filter 'upper' of letters outside ASCII is not supported");
  refused("{{ messages[0].content.title() }}", "method 'title' of letters outside ASCII is not supported");
  refused("{{ messages[0].content.isalpha() }}", "method 'isalpha' of characters outside ASCII is not supported");
  refused("{{ 'a'.strip(characters='x') }}", "method 'strip' has no argument 'characters'");
  refused("{{ {[]: 1} }}", "a dict key of type list is not supported");
  refused("{{ strftime_now('%Y %-Q') }}", "function 'strftime_now': the directive '%-Q' is not supported");
  refused("{{ strftime_now('%f') }}", "function 'strftime_now': the directive '%f' is not supported");
  refused("{{ dict([]) }}", "function 'dict' takes named arguments or one dict");
  refused("{% for i in [1] %}{{ loop.nosuch(1) }}{% endfor %}", "loop.nosuch cannot be called");
  refused("{% for i in [1] %}{{ loop.changed([]) }}{% endfor %}", "loop.changed of a list is not supported");
}

TEST(ChatTemplateErrors, NotJinja) {
  const auto refused = [](const std::string &source, const std::string &message) {
    expectRefused(TW_CORRUPT, source, message);
  };
  refused("{% if true %}x", "the template ends inside a block begun at line 2, wanted 'endif'");
  refused("{{ 1", "'{{' has no end '}}'");
  refused("{% if", "'{%' has no end '%}'");
  refused("{# x", "comment '{#' has no end '#}'");
  refused("{% raw %}x", "'raw' has no 'endraw'");
  refused("{% raw x %}", "'raw' takes nothing, wanted '%}'");
  refused("{% raw %}{% endraw x %}", "'endraw' takes nothing, wanted '%}'");
  refused("{{ 'x }}", "a string has no end '");
  refused("{{ '\\xZZ' }}", "escape '\\x' wants 2 digits");
  refused("{{ '\\ud800' }}", "escape '\\ud800' is not a character");
  refused("{{ 1x }}", "'1x' is neither a number nor a name");
  refused("{{ a $ b }}", "unexpected character '$'");
  refused("{{ (1] }}", "unexpected ']', wanted ')'");
  refused("{{ 1 ] }}", "unexpected ']'");
  refused("{{ 1 2 }}", "unexpected '2', wanted '}}'");
  refused("{% 1 %}", "unexpected '1', wanted a statement's name");
  refused("{% endif %}", "unknown statement 'endif'");
  refused("{% break %}", "'break' outside of a loop");
  refused("{% for x of y %}{% endfor %}", "unexpected 'of', wanted 'in'");
  refused("{% set x, y %}{% endset %}", "unexpected '%}', wanted '='");
  refused("{% macro f(a=1, b) %}{% endmacro %}", "parameter 'b' without a default follows one with");
  refused("{{ range(stop=1, 2) }}", "a positional argument follows a named one");
  refused("{{ 1 is defined is true }}", "tests cannot be chained by 'is'");
  refused("{% if true %}{% else %}{% elif true %}{% endif %}", "unknown statement 'elif'");
}

TEST(ChatTemplateErrors, WrongAtRunTime) {
  const auto refused = [](const std::string &source, const std::string &message) {
    expectRefused(TW_INVALID, source, message);
  };
  refused("{{ raise_exception('Only user turns') }}", "the template refuses: Only user turns");
  refused("{{ nothing.x }}", "'nothing' is undefined");
  refused("{{ messages[7].role }}", "'entry 7' is undefined");
  refused("{{ strftime_now() }}", "function 'strftime_now' lacks its argument 'format'");
  refused("{{ strftime_now(1) }}", "the argument of function 'strftime_now' is an int, wanted a str");
  refused("{{ 1 + 'a' }}", "cannot compute int + str");
  refused("{{ nothing + 'a' }}", "'nothing' is undefined");
  refused("{{ 1 // 0 }}", "division by zero");
  refused("{{ 1.0 % 0 }}", "division by zero");
  refused("{{ 9223372036854775807 + 1 }}", "integer overflow in 9223372036854775807 + 1");
  refused("{{ (-9223372036854775807 - 1) // -1 }}", "integer overflow in -9223372036854775808 // -1");
  refused("{{ - 'a' }}", "cannot negate a str");
  refused("{{ 5[1:] }}", "cannot slice an int, wanted a list or str");
  refused("{{ 'a'[::0] }}", "a slice's step is 0");
  refused("{{ 'a'['b':] }}", "a slice's start is a str, wanted an int");
  refused("{% for a, b in [[1]] %}{% endfor %}", "cannot unpack 1 values into 2 names");
  refused("{% for a in 1 %}{% endfor %}", "what a loop goes through is an int, wanted a list, dict or str");
  refused("{% set x = 1 %}{% set x.y = 1 %}", "cannot set attribute 'y' of 'x', which is an int and not a namespace");
  refused("{% for i in [1] %}{{ loop.cycle() }}{% endfor %}", "loop.cycle got nothing to go through");
  refused("{% for i in [1] %}{{ loop(1) }}{% endfor %}", "a loop cannot be called");
  refused("{{ 5() }}", "an int cannot be called");
  refused("{{ range() }}", "function 'range' lacks its argument 'start'");
  refused("{{ range(1, 2, 0) }}", "function 'range' got a step of 0");
  refused("{{ range(1, 2, 3, 4) }}", "function 'range' got 4 arguments, takes at most 3");
  refused("{{ range(1, start=2) }}", "function 'range' got its argument 'start' twice");
  refused("{% macro f(a) %}{% endmacro %}{{ f(1, 2) }}", "macro 'f' got 2 arguments, takes at most 1");
  refused("{% macro f(a) %}{% endmacro %}{{ f(1, a=2) }}", "macro 'f' cannot take its argument 'a'");
  refused("{{ 5 | length }}", "filter 'length': an int has no length");
  refused("{{ [] | items }}", "filter 'items' wants a dict, got a list");
  refused("{{ nothing | tojson }}", "filter 'tojson': undefined has no JSON form");
  refused("{{ [] | tojson(indent=1001) }}", "filter 'tojson': indent is 1001, wanted at most 1000");
  refused("{{ [] | tojson(separators=[',']) }}",
          "filter 'tojson': separators are 1, wanted 2: between items, and behind a key");
  refused("{{ [] | tojson(separators=5) }}",
          "argument 'separators' of filter 'tojson' is an int, wanted a list, dict or str");
  refused("{{ [] | tojson(separators=(1, 2)) }}", "a separator of filter 'tojson' is an int, wanted a str");
  refused("{{ {'b': 1, 2: 2} | tojson(sort_keys=true) }}", "cannot compute int < str");
  refused("{{ [] | selectattr }}", "filter 'selectattr' lacks the attribute's name");
  refused("{{ 'a' is odd }}", "an operand of test 'odd' is a str, wanted an int");
  refused("{{ 1 is divisibleby 0 }}", "test 'divisibleby' got 0");
  refused("{{ 'a'.split('') }}", "method 'split' got an empty separator");
  refused("{{ 'a'.startswith(1) }}", "argument of 'startswith' is an int, wanted a str");
  refused("{{ ','.join([1]) }}", "an item joined is an int, wanted a str");
  refused("{{ [1].index(2) }}", "method 'index': no such item in the list");
}

TEST(ChatTemplateErrors, LinesAreThoseOfTheConstruct) {
  const auto at = [](const std::string &source, const std::string &line) {
    expectError(TW_INVALID, "chat template line " + line + ": 'x' is undefined", [&] { render(source); });
  };
  at("{{ x.y }}", "1");
  at("a\nb\r\nc\rd{{ x.y }}", "4");
  at("{{ [1,\n2,\n x.y] }}", "3");
  at("{% if true -%}\n\n{%- for i in [1] %}\n{{ 1\n+ x.y }}{% endfor %}{% endif %}", "5");
  at("{% macro f() %}\n{{ x.y }}{% endmacro %}\n\n{{ f() }}", "2");
}

TEST(ChatTemplateErrors, Limits) {
  expectError(TW_EXHAUSTED, "chat template: 11 bytes, at most 10 are allowed",
              [] { render("12345678901", {.sourceBytes = 10}); });
  expectError(TW_EXHAUSTED, "chat template line 1: the template takes more than 50 steps",
              [] { render("{% for i in range(100) %}{% endfor %}", {.steps = 50}); });
  expectError(TW_EXHAUSTED, "chat template line 1: a string of 12 bytes, at most 10 are allowed",
              [] { render("{{ 'abc' * 4 }}", {.outputBytes = 10}); });
  expectError(TW_EXHAUSTED, "chat template line 1: a string of 11 bytes, at most 10 are allowed",
              [] { render("12345678901", {.outputBytes = 10}); });
  expectRefused(TW_EXHAUSTED, "{{ range(100001) }}", "function 'range': more than 100000 numbers");
  expectRefused(TW_EXHAUSTED, "{{ " + repeat("(", 200) + "1" + repeat(")", 200) + " }}", "nested more than 100 deep");
  expectRefused(TW_EXHAUSTED, "{{ 1" + repeat(" + 1", 200) + " }}", "an expression is nested more than 100 deep");
  expectRefused(TW_EXHAUSTED, "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
                "calls nested too deep: more than 200 levels");
  expectRefused(TW_EXHAUSTED,
                "{% set ns = namespace(x=[]) %}{% for i in range(200) %}{% set ns.x = [ns.x] %}{% endfor %}",
                "lists nested more than 100 deep");
  expectRefused(TW_EXHAUSTED,
                "{% set ns = namespace(x={}) %}{% for i in range(200) %}{% set ns.x = {'a': ns.x} %}{% endfor %}",
                "dicts nested more than 100 deep");
}

// Each ends by a limit, on a small stack and in a time that does not depend on what the template asks for.
TEST(ChatTemplateErrors, HostileTemplatesEnd) {
  const std::string deep = "(", nested = "{% if true %}";
  const std::string sources[] = {
      "{{ " + repeat(deep, 100'000),
      repeat(nested, 50'000),
      "{{ " + repeat("not ", 100'000) + "1 }}",
      "{{ " + repeat("-", 100'000) + "1 }}",
      "{{ 1" + repeat("|abs", 100'000) + " }}",
      "{{ x" + repeat(".y", 100'000) + " }}",
      "{{ x" + repeat("[0]", 100'000) + " }}",
      "{{ 1" + repeat(" if 1 else 1", 50'000) + " }}",
      "{{ 1" + repeat(" or 1", 50'000) + " }}",
      "{{ " + repeat("[", 50'000),
      "{{ " + repeat("{1:", 50'000),
      "{% set ns = namespace(s='xx') %}{% for i in range(99) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}{{ ns.s }}",
      "{% set ns = namespace(l=[1]) %}{% for i in range(99) %}{% set ns.l = ns.l + ns.l %}{% endfor %}",
      "{% set ns = namespace(l=[1]) %}{% for i in range(90) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l | "
      "tojson }}",
      "{% set a = namespace(l=[1]) %}{% set b = namespace(l=[1]) %}{% for i in range(90) %}{% set a.l = [a.l, a.l] "
      "%}{% set b.l = [b.l, b.l] %}{% endfor %}{{ a.l == b.l }}",
      "{% set ns = namespace(x=1) %}{% for i in range(100000) %}{% for j in [ns.x] %}{% set ns.x = loop %}{% endfor "
      "%}{% endfor %}",
      "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}{% endfor %}{% endfor %}{% "
      "endfor %}",
      "{% macro f(n) %}{{ f(n + 1) }}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}",
      "{{ 'ab' * 9223372036854775807 }}",
      "{{ [1] * 9223372036854775807 }}",
      "{{ 'a' | indent(9223372036854775807) }}",
      "{% set s = 'a' * 1000000 %}{% for i in range(100000) %}{% set t = s | trim %}{% endfor %}",
      "{% set s = 'a' * 10000000 %}{{ s.replace('a', s) }}",
      "{% set s = ' a' * 1000000 %}{% for i in range(9) %}{{ s.rsplit() | length }}{% endfor %}",
      "{{ ([1] * 1000000) | unique | length }}{{ range(100000) | unique | length }}",
      "{{ range(100000) | map('tojson') | map('tojson') | map('tojson') | map('tojson') | map('tojson') | "
      "map('tojson') | map('tojson') | map('tojson') | map('tojson') | map('tojson') | join }}",
  };
  for (const std::string &source : sources) {
    SCOPED_TRACE(source.substr(0, 80));
    const std::clock_t begin = std::clock();
    onSmallStack([&] {
      try {
        render(source, {.steps = 1'000'000, .outputBytes = 8u << 20});
        ADD_FAILURE() << "no limit was met";
      } catch (const Error &error) {
        EXPECT_TRUE(error.code() == TW_EXHAUSTED || error.code() == TW_CORRUPT) << error.message().substr(0, 200);
      }
    });
    // Processor time, typically well below a second; the margin is for instrumented builds.
    EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 30);
  }
}

// Values that refer to each other in a circle do not leak (the address sanitizer sees it) and are told apart.
TEST(ChatTemplateErrors, CirclesEnd) {
  EXPECT_EQ(render("{% set a = namespace() %}{% set b = namespace(x=a) %}{% set a.x = b %}{{ a == b }}{{ a.x.x == a }}")
                .at(0)
                .text,
            "FalseTrue");
  EXPECT_EQ(render("{% set a = namespace() %}{% set a.x = [a] %}{% for i in [a] %}{% set a.l = loop %}{% endfor %}{{ "
                   "a.l.index0 }}")
                .at(0)
                .text,
            "1");
}
