// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runtime half of a plugin, checked and loaded (runtime/api/runtime_half.h).
#pragma once

#include "runtime/api/runtime_half.h"

#include <memory>
#include <string>

namespace tilewright {

/// One model's use of a half. Immutable; the library stays loaded.
class RuntimeHalf {
public:
  /// Checks the file of `plugin` before any of its code runs: a shared object for this machine, with a note of this API
  /// version, that plugin, unless empty, that `version` and, unless 0, built from those `sources` (which
  /// TILEWRIGHT_OTHER_HALVES=1 in the environment lets pass when they are others); then loads it, checks what its entry
  /// returns and attaches it to the model that `description` (JSON) describes. Throws Error: NOT_FOUND, IO, CORRUPT,
  /// INCOMPATIBLE, INVALID, UNSUPPORTED (the half refuses this process), and what the half's attach says.
  static std::unique_ptr<RuntimeHalf> load(const std::string &plugin, const std::string &version, uint64_t sources,
                                           const std::string &description);
  ~RuntimeHalf();
  RuntimeHalf(const RuntimeHalf &) = delete;
  RuntimeHalf &operator=(const RuntimeHalf &) = delete;

  const std::string &name() const { return pluginName; }
  const std::string &version() const { return pluginVersion; }
  const std::string &path() const { return file; }
  const tw_rt_half &functions() const { return half; }
  void *instance() const { return attached; }

private:
  RuntimeHalf() = default;
  void readNote(const std::string &plugin, const std::string &version, uint64_t sources);
  void open();
  void attach(const std::string &description);

  std::string file, pluginName, pluginVersion;
  tw_rt_half half{};
  void *attached = nullptr;
};

/// The plugin whose runtime half has the policy that `words` begin with (up to the first ':' or ','); the first in the
/// order of the plugin folders. Only notes are read. Throws Error(NOT_FOUND) with the policies that there are.
std::string pluginOfPolicy(const std::string &words);

/// What the half of `plugin` in `folder` is built from, as its note says; 0 where it does not, or there is none. Throws
/// Error as RuntimeHalf::load does for the file and its note.
uint64_t sourcesOfRuntimeHalf(const std::string &plugin, const std::string &folder);
/// As it is shown: 16 hexadecimal digits.
std::string sourcesText(uint64_t sources);

/// Throws Error with a half's status and message.
[[noreturn]] void throwHalfError(const std::string &where, tw_status status, const char *text);

/// Calls a function of a half that takes a message last; throws Error with its status and message, or, when it says
/// nothing, with what `otherwise` then is.
template <typename Call> void checkHalf(const std::string &where, Call &&call, const std::string &otherwise = {}) {
  char text[512] = "";
  tw_rt_message message = {sizeof text, text};
  const tw_status status = call(&message);
  text[sizeof text - 1] = 0;
  if (status != TW_OK)
    throwHalfError(where, status, *text ? text : otherwise.c_str());
}

/// The functions that the host gives to halves.
const tw_rt_host &runtimeHalfHost();

} // namespace tilewright
