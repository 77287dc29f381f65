// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// JSON as Python's json.dumps writes it with ensure_ascii off, which is what Transformers' tojson does.
#include "runtime/tokenize/JinjaRuntime.h"

#include <cmath>

namespace tilewright::jinja {

namespace {

class Writer {
public:
  Writer(Runtime &runtime, int64_t indent) : runtime(runtime), indent(indent) {}

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
    if (const Dict *dict = value.dict())
      return writeItems('{', '}', dict->entries.size(), [&](size_t i) {
        writeKey(dict->entries[i].first);
        out.append(": ");
        write(dict->entries[i].second);
      });
    runtime.fail(TW_INVALID, "filter 'tojson': " + typeWithArticle(value) + " has no JSON form");
  }

  Text out;

private:
  template <typename Item> void writeItems(char open, char close, size_t count, Item item) {
    out.append(std::string_view(&open, 1));
    ++level;
    for (size_t i = 0; i < count; ++i) {
      if (i)
        out.append(indent < 0 ? ", " : ",");
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
    if (indent < 0)
      return;
    runtime.checkBytes(static_cast<size_t>(indent) * level + out.bytes.size());
    out.append("\n" + std::string(static_cast<size_t>(indent) * level, ' '));
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
    for (size_t i = 0; i < text.bytes.size(); ++i) {
      const char c = text.bytes[i];
      const auto code = static_cast<unsigned char>(c);
      if (code >= 0x20 && c != '"' && c != '\\')
        continue;
      runtime.charge();
      static constexpr std::string_view named = "\"\\\b\f\n\r\t", letters = "\"\\bfnrt";
      std::string escape = "\\";
      if (const size_t which = named.find(c); which != std::string_view::npos)
        escape += letters[which];
      else
        escape += std::string("u00") + "0123456789abcdef"[code >> 4] + "0123456789abcdef"[code & 15];
      out.append(text, copied, i);
      out.append(text.isUserAt(i) ? Text::ofUser(escape) : Text::ofTemplate(escape));
      copied = i + 1;
    }
    out.append(text, copied, text.bytes.size());
    out.append("\"");
    runtime.checkBytes(out.bytes.size());
  }

  Runtime &runtime;
  int64_t indent;
  size_t level = 0;
};

} // namespace

Text toJson(Runtime &runtime, const Value &value, int64_t indent) {
  if (indent > 1000)
    runtime.fail(TW_INVALID, "filter 'tojson': indent is " + std::to_string(indent) + ", wanted at most 1000");
  Writer writer(runtime, indent);
  writer.write(value);
  return std::move(writer.out);
}

} // namespace tilewright::jinja
