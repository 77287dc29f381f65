// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From Oniguruma's regular expressions (Ruby syntax), which tokenizer.json holds, to those of PCRE2.
#pragma once

#include <string>
#include <string_view>

namespace tilewright {

/// The same expression for PCRE2 with the options UTF and MULTILINE. The classes \s \d \w mean what they mean in
/// Unicode; a class inside a class is their union. Throws UNSUPPORTED, naming the construct and its place, for what the
/// two understand differently or what takes unbounded time unseen: \h, \b, \R, back references, intersections of
/// classes, POSIX brackets, {n}+, repeat counts above 1000, verbs, recursion.
std::string translateRegex(std::string_view pattern);

} // namespace tilewright
