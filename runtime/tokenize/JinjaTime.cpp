// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// strftime_now, as Transformers gives it to templates.
#include "runtime/tokenize/JinjaRuntime.h"

#include <array>
#include <clocale>
#include <locale.h>

namespace tilewright::jinja {

namespace {

/// The directives of glibc, but %s, which asks for the time zone. Python takes %z and %Z of a time without a zone for
/// empty texts.
constexpr std::string_view kDirectives = "aAbBcCdDeFgGhHIjklmMnpPrRStTuUVwWxXyYzZ%", kFlags = "_-0^#";

std::string writeDirective(const std::string &directive, const std::tm &time) {
  if (directive.back() == 'z' || directive.back() == 'Z')
    return {};
  // Not the process's own locale, and none that is made anew for each call.
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", locale_t{});
  std::array<char, 128> buffer{};
  return {buffer.data(), strftime_l(buffer.data(), buffer.size(), directive.c_str(), &time, plain)};
}

} // namespace

Text formatTime(Runtime &runtime, const Text &format) {
  const std::string &bytes = format.bytes;
  Text out;
  for (size_t at = 0; at < bytes.size();) {
    const size_t percent = std::min(bytes.find('%', at), bytes.size());
    out.append(format, at, percent);
    if (percent == bytes.size())
      break;
    runtime.charge();
    const size_t letter = bytes.find_first_not_of(kFlags, percent + 1);
    if (letter == std::string::npos) { // what no letter ends stands for itself
      out.append(format, percent, bytes.size());
      break;
    }
    const std::string directive = bytes.substr(percent, letter + 1 - percent);
    if (kDirectives.find(bytes[letter]) == std::string_view::npos)
      runtime.fail(TW_UNSUPPORTED, "function 'strftime_now': the directive '" + directive + "' is not supported");
    const std::string written = writeDirective(directive, runtime.now());
    out.append(format.isUserAt(percent) ? Text::ofUser(written) : Text::ofTemplate(written));
    runtime.checkBytes(out.bytes.size());
    at = letter + 1;
  }
  return out;
}

} // namespace tilewright::jinja
