// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations on strings that filters and methods share. All of them move the user's mark along with the bytes.
#include "runtime/tokenize/JinjaRuntime.h"

#include <algorithm>

namespace tilewright::jinja {

Text changeCase(Runtime &runtime, const Text &text, Case wanted, const std::string &what) {
  runtime.charge(1 + text.bytes.size() / 64);
  Text out = text;
  bool insideWord = false; // behind the first letter of the text (Capital) or of a word (Title)
  for (char &c : out.bytes) {
    if (static_cast<unsigned char>(c) >= 0x80)
      runtime.fail(TW_UNSUPPORTED, what + " of letters outside ASCII is not supported");
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool upper = wanted == Case::Upper || (wanted != Case::Lower && !insideWord);
    insideWord = wanted == Case::Title ? letter : true;
    if (letter)
      c = static_cast<char>(upper ? c & ~0x20 : c | 0x20);
  }
  return out;
}

Text replaceAll(Runtime &runtime, const Text &text, const Text &from, const Text &to, int64_t count) {
  Text out;
  size_t done = 0, at = 0;
  while (count != 0) {
    runtime.charge();
    const size_t found = text.bytes.find(from.bytes, at);
    if (found == std::string::npos)
      break;
    out.append(text, done, found);
    out.append(to);
    runtime.checkBytes(out.bytes.size());
    done = found + from.bytes.size();
    at = done;
    if (from.bytes.empty()) { // between all characters, and at both ends
      if (found == text.bytes.size())
        break;
      at = codePointEnd(text.bytes, found);
      out.append(text, found, at);
      done = at;
    }
    if (count > 0)
      --count;
  }
  out.append(text, done, text.bytes.size());
  return out;
}

Text joinAll(Runtime &runtime, const Text &separator, const std::vector<Value> &items) {
  Text out;
  for (size_t i = 0; i < items.size(); ++i) {
    runtime.charge();
    if (i)
      out.append(separator);
    out.append(toText(runtime, items[i]));
    runtime.checkBytes(out.bytes.size());
  }
  return out;
}

} // namespace tilewright::jinja
