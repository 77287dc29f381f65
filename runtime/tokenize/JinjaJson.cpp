// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// JSON as Python's json.dumps writes it, which is what Transformers' tojson does.
#include "runtime/tokenize/JinjaRuntime.h"

#include "runtime/tokenize/Utf8.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace tilewright::jinja {

namespace {

class Writer {
public:
  Writer(Runtime &runtime, const JsonStyle &style) : runtime(runtime), style(style) {}

  void write(const Value &value) {
    runtime.charge();
    if (const Text *text = value.text())
      return writeString(*text);
    if (value.isNone())
      return out.append("null");
    if (const auto *flag = value.get<bool>())
      return out.append(*flag ? "true" : "false");
    if (const auto *integer = value.get<int64_t>())
      return out.append(std::to_string(*integer));
    if (const auto *number = value.get<double>())
      return out.append(std::isnan(*number)   ? "NaN"
                        : std::isinf(*number) ? (*number < 0 ? "-Infinity" : "Infinity")
                                              : formatFloat(*number));
    if (const List *list = value.list())
      return writeItems('[', ']', list->items.size(), [&](size_t i) { write(list->items[i]); });
    if (const Dict *dict = value.dict()) {
      const std::vector<const Entry *> entries = entriesOf(*dict);
      return writeItems('{', '}', entries.size(), [&](size_t i) {
        writeKey(entries[i]->first);
        out.append(style.keySeparator);
        write(entries[i]->second);
      });
    }
    runtime.fail(TW_INVALID, "filter 'tojson': " + typeWithArticle(value) + " has no JSON form");
  }

  Text out;

private:
  using Entry = std::pair<Value, Value>;

  std::vector<const Entry *> entriesOf(const Dict &dict) {
    std::vector<const Entry *> entries;
    for (const Entry &entry : dict.entries)
      entries.push_back(&entry);
    if (style.sortKeys) {
      // Numbers that are not comparable may be keys; a heap's sort stays within its bounds even so.
      const auto before = [&](const Entry *a, const Entry *b) {
        runtime.charge();
        return compare(runtime, "<", a->first, b->first);
      };
      std::make_heap(entries.begin(), entries.end(), before);
      std::sort_heap(entries.begin(), entries.end(), before);
    }
    return entries;
  }

  template <typename Item> void writeItems(char open, char close, size_t count, Item item) {
    out.append(std::string_view(&open, 1));
    ++level;
    for (size_t i = 0; i < count; ++i) {
      if (i)
        out.append(style.itemSeparator);
      newLine();
      item(i);
    }
    --level;
    if (count)
      newLine();
    out.append(std::string_view(&close, 1));
    runtime.checkBytes(out.bytes.size());
  }

  void newLine() {
    if (!style.indent)
      return;
    runtime.checkBytes(style.indent->bytes.size() * level + out.bytes.size());
    out.append("\n");
    for (size_t i = 0; i < level; ++i)
      out.append(*style.indent);
  }

  void writeKey(const Value &key) {
    if (const Text *text = key.text())
      return writeString(*text);
    out.append("\"");
    write(key);
    out.append("\"");
  }

  void writeString(const Text &text) {
    runtime.charge(text.bytes.size() / 64);
    out.append("\"");
    size_t copied = 0;
    for (size_t i = 0; i < text.bytes.size();) {
      const Utf8Unit unit = readUtf8(text.bytes, i);
      const size_t begin = std::exchange(i, i + unit.length);
      const std::string escape = unit.state == Utf8State::Valid ? escapeOf(unit.codePoint) : std::string();
      if (escape.empty())
        continue;
      runtime.charge();
      out.append(text, copied, begin);
      out.append(text.isUserAt(begin) ? Text::ofUser(escape) : Text::ofTemplate(escape));
      copied = i;
    }
    out.append(text, copied, text.bytes.size());
    out.append("\"");
    runtime.checkBytes(out.bytes.size());
  }

  /// What stands for a character in a string; empty: itself.
  std::string escapeOf(char32_t c) const {
    static constexpr std::string_view named = "\"\\\b\f\n\r\t", letters = "\"\\bfnrt";
    if (const size_t which = c < 0x80 ? named.find(static_cast<char>(c)) : named.npos; which != named.npos)
      return {'\\', letters[which]};
    if (c >= 0x20 && (c < 0x7F || !style.ascii))
      return {};
    const auto unit = [](char32_t code) {
      std::array<char, 8> text{};
      std::snprintf(text.data(), text.size(), "\\u%04x", static_cast<unsigned>(code));
      return std::string(text.data());
    };
    return c < 0x10000 ? unit(c) : unit(0xD7C0 + (c >> 10)) + unit(0xDC00 + (c & 0x3FF));
  }

  Runtime &runtime;
  const JsonStyle &style;
  size_t level = 0;
};

} // namespace

Text toJson(Runtime &runtime, const Value &value, const JsonStyle &style) {
  Writer writer(runtime, style);
  writer.write(value);
  return std::move(writer.out);
}

} // namespace tilewright::jinja
