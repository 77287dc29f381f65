// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The methods of Python's str, list and dict that templates call.
#include "runtime/tokenize/JinjaRuntime.h"

#include <algorithm>
#include <span>

namespace tilewright::jinja {

namespace {

constexpr std::string_view kStringMethods[] = {
    "capitalize", "casefold", "center",   "count",      "encode",    "endswith",     "expandtabs",   "find",
    "format",     "index",    "isalnum",  "isalpha",    "isdigit",   "islower",      "isspace",      "isupper",
    "join",       "ljust",    "lower",    "lstrip",     "partition", "removeprefix", "removesuffix", "replace",
    "rfind",      "rindex",   "rjust",    "rpartition", "rsplit",    "rstrip",       "split",        "splitlines",
    "startswith", "strip",    "swapcase", "title",      "translate", "upper",        "zfill"};
constexpr std::string_view kListMethods[] = {"append", "clear", "copy",   "count",   "extend", "index",
                                             "insert", "pop",   "remove", "reverse", "sort"};
constexpr std::string_view kDictMethods[] = {"clear", "copy",    "fromkeys",   "get",    "items", "keys",
                                             "pop",   "popitem", "setdefault", "update", "values"};

/// An argument that may be left out or None.
const Value *optional(const Value *argument) { return argument && !argument->isNone() ? argument : nullptr; }

Value piece(const Text &text, size_t begin, size_t end) { return Value(text.slice(begin, end)); }

/// str.split and str.rsplit; `limit` < 0: none.
std::vector<Value> split(Runtime &runtime, const Text &text, const Text *separator, int64_t limit, bool fromRight) {
  const std::string_view view(text.bytes);
  std::vector<Value> parts;
  size_t begin = 0, end = view.size();
  if (separator) {
    const std::string &cut = separator->bytes;
    if (cut.empty())
      runtime.fail(TW_INVALID, "method 'split' got an empty separator");
    for (; limit != 0; limit -= limit > 0) {
      runtime.charge();
      const std::string_view rest = view.substr(begin, end - begin);
      const size_t found = fromRight ? rest.rfind(cut) : rest.find(cut);
      if (found == std::string_view::npos)
        break;
      if (fromRight) {
        parts.push_back(piece(text, begin + found + cut.size(), end));
        end = begin + found;
      } else {
        parts.push_back(piece(text, begin, begin + found));
        begin += found + cut.size();
      }
    }
    parts.push_back(piece(text, begin, end));
  } else {
    // Between runs of white space; runs at the ends separate nothing.
    for (;;) {
      runtime.charge();
      const Extent rest = stripped(view.substr(begin, end - begin), !fromRight, fromRight);
      end = begin + rest.end;
      begin += rest.begin;
      if (begin == end)
        break;
      if (limit == 0) { // the rest as it is, but for the white space just passed
        parts.push_back(piece(text, begin, end));
        break;
      }
      limit -= limit > 0;
      auto isSpaceAt = [&](size_t at, size_t next) {
        return stripped(view.substr(at, next - at), true, false).begin > 0;
      };
      if (!fromRight) {
        size_t at = begin;
        while (at < end && !isSpaceAt(at, codePointEnd(view, at)))
          at = codePointEnd(view, at);
        parts.push_back(piece(text, begin, at));
        begin = at;
      } else {
        size_t wordBegin = end;
        while (wordBegin > begin && !isSpaceAt(codePointBegin(view, wordBegin), wordBegin))
          wordBegin = codePointBegin(view, wordBegin);
        parts.push_back(piece(text, wordBegin, end));
        end = wordBegin;
      }
    }
  }
  if (fromRight)
    std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<Value> splitLines(Runtime &runtime, const Text &text, bool keepEnds) {
  std::vector<Value> lines;
  const std::string_view view(text.bytes);
  size_t begin = 0;
  for (size_t at = 0; at < view.size();) {
    size_t next = codePointEnd(view, at);
    const std::string_view character = view.substr(at, next - at);
    const bool breaks = (character.size() == 1 && ((character[0] >= '\n' && character[0] <= '\r') ||
                                                   (character[0] >= '\x1C' && character[0] <= '\x1E'))) ||
                        character == "\xC2\x85" || character == "\xE2\x80\xA8" || character == "\xE2\x80\xA9";
    if (breaks) {
      runtime.charge();
      const size_t lineEnd = at;
      if (character == "\r" && next < view.size() && view[next] == '\n')
        ++next;
      lines.push_back(piece(text, begin, keepEnds ? next : lineEnd));
      begin = next;
    }
    at = next;
  }
  if (begin < view.size())
    lines.push_back(piece(text, begin, view.size()));
  return lines;
}

bool affix(Runtime &runtime, const Text &text, const Value &wanted, bool atEnd) {
  if (const List *list = wanted.list())
    return std::any_of(list->items.begin(), list->items.end(),
                       [&](const Value &item) { return affix(runtime, text, item, atEnd); });
  const std::string &affix =
      needText(runtime, wanted, atEnd ? "argument of 'endswith'" : "argument of 'startswith'").bytes;
  return atEnd ? text.bytes.ends_with(affix) : text.bytes.starts_with(affix);
}

size_t countOccurrences(Runtime &runtime, const Text &text, const Text &wanted) {
  if (wanted.bytes.empty())
    return countCodePoints(text.bytes) + 1;
  size_t count = 0;
  for (size_t at = 0; (at = text.bytes.find(wanted.bytes, at)) != std::string::npos; at += wanted.bytes.size()) {
    runtime.charge();
    ++count;
  }
  return count;
}

/// Whether all characters are of a kind, and there is one.
template <typename Is> bool allAscii(Runtime &runtime, const Text &text, const std::string &what, Is is) {
  return !text.bytes.empty() && std::all_of(text.bytes.begin(), text.bytes.end(), [&](char c) {
    if (static_cast<unsigned char>(c) >= 0x80)
      runtime.fail(TW_UNSUPPORTED, what + " of characters outside ASCII is not supported");
    return is(c);
  });
}

[[noreturn]] void failUnknown(Runtime &runtime, const Value &value, std::string_view name) {
  runtime.fail(TW_UNSUPPORTED, "method '" + std::string(name) + "' of " + typeWithArticle(value) + " is not supported");
}

Value stringMethod(Runtime &runtime, const Value &value, const Text &text, std::string_view name,
                   const Arguments &arguments) {
  const std::string what = "method '" + std::string(name) + "'";
  runtime.charge(1 + text.bytes.size() / 64);
  auto bind = [&](std::initializer_list<std::string_view> names, size_t required = 0) {
    return arguments.bind(runtime, what, names, required);
  };
  auto argument = [&](const Value *given) -> const Text & {
    return needText(runtime, *given, "an argument of " + what);
  };
  if (name == "strip" || name == "lstrip" || name == "rstrip") {
    const Value *characters = optional(bind({"chars"})[0]);
    const bool left = name != "rstrip", right = name != "lstrip";
    if (characters)
      runtime.charge(text.bytes.size() * argument(characters).bytes.size() / 64);
    const Extent rest =
        characters ? stripped(text.bytes, argument(characters).bytes, left, right) : stripped(text.bytes, left, right);
    return runtime.text(text.slice(rest.begin, rest.end));
  }
  if (name == "split" || name == "rsplit") {
    const auto given = bind({"sep", "maxsplit"});
    const Value *separator = optional(given[0]);
    const int64_t limit = given[1] ? needInteger(runtime, *given[1], "argument 'maxsplit'") : -1;
    return runtime.list(split(runtime, text, separator ? &argument(separator) : nullptr, limit, name == "rsplit"));
  }
  if (name == "splitlines") {
    const auto given = bind({"keepends"});
    return runtime.list(splitLines(runtime, text, given[0] && isTrue(*given[0])));
  }
  if (name == "startswith" || name == "endswith")
    return Value(affix(runtime, text, *bind({"affix"}, 1)[0], name == "endswith"));
  if (name == "upper" || name == "lower" || name == "capitalize" || name == "title") {
    bind({});
    return runtime.text(changeCase(runtime, text,
                                   name == "upper"   ? Case::Upper
                                   : name == "lower" ? Case::Lower
                                   : name == "title" ? Case::Title
                                                     : Case::Capital,
                                   what));
  }
  if (name == "replace") {
    const auto given = bind({"old", "new", "count"}, 2);
    return runtime.text(replaceAll(runtime, text, argument(given[0]), argument(given[1]),
                                   given[2] ? needInteger(runtime, *given[2], "argument 'count'") : -1));
  }
  if (name == "removeprefix" || name == "removesuffix") {
    const std::string &part = argument(bind({"affix"}, 1)[0]).bytes;
    if (name == "removeprefix" && text.bytes.starts_with(part))
      return runtime.text(text.slice(part.size(), text.bytes.size()));
    if (name == "removesuffix" && text.bytes.ends_with(part))
      return runtime.text(text.slice(0, text.bytes.size() - part.size()));
    return value;
  }
  if (name == "find" || name == "rfind") {
    const std::string &wanted = argument(bind({"sub"}, 1)[0]).bytes;
    const size_t found = name == "find" ? text.bytes.find(wanted) : text.bytes.rfind(wanted);
    if (found == std::string::npos)
      return Value(int64_t{-1});
    return Value(static_cast<int64_t>(countCodePoints(std::string_view(text.bytes).substr(0, found))));
  }
  if (name == "count")
    return Value(static_cast<int64_t>(countOccurrences(runtime, text, argument(bind({"sub"}, 1)[0]))));
  if (name == "join") {
    const auto items = needItems(runtime, *bind({"iterable"}, 1)[0], "the argument of " + what);
    for (const Value &item : items)
      needText(runtime, item, "an item joined");
    return runtime.text(joinAll(runtime, text, items));
  }
  if (name == "isdigit" || name == "isspace" || name == "isalpha") {
    bind({});
    return Value(allAscii(runtime, text, what, [&](char c) {
      if (name == "isdigit")
        return c >= '0' && c <= '9';
      if (name == "isspace")
        return isPythonSpace(static_cast<unsigned char>(c));
      return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
    }));
  }
  failUnknown(runtime, value, name);
}

Value listMethod(Runtime &runtime, const Value &value, std::string_view name, const Arguments &arguments) {
  const auto &items = value.list()->items;
  if (name == "count" || name == "index") {
    const Value &wanted = *arguments.bind(runtime, "method '" + std::string(name) + "'", {"value"}, 1)[0];
    int64_t count = 0;
    for (size_t i = 0; i < items.size(); ++i)
      if (compare(runtime, "==", items[i], wanted)) {
        if (name == "index")
          return Value(static_cast<int64_t>(i));
        ++count;
      }
    if (name == "index")
      runtime.fail(TW_INVALID, "method 'index': no such item in the list");
    return Value(count);
  }
  if (std::find(std::begin(kListMethods), std::end(kListMethods), name) != std::end(kListMethods) && name != "copy")
    runtime.fail(TW_UNSUPPORTED,
                 "method '" + std::string(name) + "' of a list is not supported: lists cannot be changed");
  failUnknown(runtime, value, name);
}

Value dictMethod(Runtime &runtime, const Value &value, std::string_view name, const Arguments &arguments) {
  const Dict &dict = *value.dict();
  const std::string what = "method '" + std::string(name) + "'";
  runtime.charge(dict.entries.size());
  if (name == "get") {
    const auto given = arguments.bind(runtime, what, {"key", "default"}, 1);
    if (const Value *found = dict.find(*given[0]))
      return *found;
    return given[1] ? *given[1] : Value(None{});
  }
  if (name == "keys" || name == "values" || name == "items") {
    arguments.bind(runtime, what, {});
    std::vector<Value> items;
    for (const auto &[key, entry] : dict.entries)
      items.push_back(name == "keys" ? key : name == "values" ? entry : runtime.list({key, entry}));
    return runtime.list(std::move(items));
  }
  failUnknown(runtime, value, name);
}

} // namespace

bool hasMethod(const Value &value, std::string_view name) {
  std::span<const std::string_view> methods;
  if (value.text())
    methods = kStringMethods;
  else if (value.list())
    methods = kListMethods;
  else if (value.dict())
    methods = kDictMethods;
  return std::find(methods.begin(), methods.end(), name) != methods.end();
}

Value callMethod(Runtime &runtime, const Value &value, std::string_view name, const Arguments &arguments) {
  if (const Text *text = value.text())
    return stringMethod(runtime, value, *text, name, arguments);
  if (value.list())
    return listMethod(runtime, value, name, arguments);
  if (value.dict())
    return dictMethod(runtime, value, name, arguments);
  if (const auto *undefined = value.get<Undefined>())
    runtime.failUndefined(*undefined);
  failUnknown(runtime, value, name);
}

} // namespace tilewright::jinja
