// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A string that knows which of its bytes a user's message brought.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tilewright::jinja {

/// Every operation of the template language that moves bytes moves their mark along. So in a template's output a
/// special token that a message spelled can be told from one the template wrote.
struct Text {
  std::string bytes;
  /// Empty: nothing is the user's. Otherwise one byte per byte, 1 where a message brought it.
  std::string user;

  static Text ofTemplate(std::string bytes) { return {std::move(bytes), {}}; }
  static Text ofUser(std::string bytes) {
    std::string user(bytes.size(), 1);
    return {std::move(bytes), std::move(user)};
  }

  bool isUserAt(size_t at) const { return !user.empty() && user[at]; }
  bool hasUser() const { return user.find('\1') != std::string::npos; }

  Text slice(size_t begin, size_t end) const {
    return {bytes.substr(begin, end - begin), user.empty() ? std::string() : user.substr(begin, end - begin)};
  }
  void append(const Text &other) { append(other, 0, other.bytes.size()); }
  void append(const Text &other, size_t begin, size_t end) {
    if (!other.user.empty()) {
      user.resize(bytes.size());
      user.append(other.user, begin, end - begin);
    } else if (!user.empty()) {
      user.append(end - begin, 0);
    }
    bytes.append(other.bytes, begin, end - begin);
  }
  /// Bytes the template wrote.
  void append(std::string_view text) {
    if (!user.empty())
      user.append(text.size(), 0);
    bytes.append(text);
  }
};

/// Where the code point that begins at `at` ends; bytes that are not UTF-8 count one by one.
size_t codePointEnd(std::string_view text, size_t at);
/// Where the code point that ends at `end` > 0 begins.
size_t codePointBegin(std::string_view text, size_t end);
size_t countCodePoints(std::string_view text);

/// Python's str.isspace for one code point.
bool isPythonSpace(char32_t codePoint);

/// The part of `text` that Python's str.strip() leaves.
struct Extent {
  size_t begin;
  size_t end;
};
Extent stripped(std::string_view text, bool left = true, bool right = true);
/// As above, but strips the code points of `characters`.
Extent stripped(std::string_view text, std::string_view characters, bool left, bool right);

} // namespace tilewright::jinja
