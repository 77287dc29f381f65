// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A piece of text that knows whether special tokens may be read from it.
#pragma once

#include <string>

namespace tilewright {

/// Text a model's template wrote may name special tokens ("<|im_start|>"); text a user wrote must not, whatever it
/// spells. A special token is recognised only when all of its bytes lie in neighbouring segments with `parseSpecial`.
struct TextSegment {
  std::string text;
  bool parseSpecial = false;

  bool operator==(const TextSegment &other) const = default;
};

} // namespace tilewright
