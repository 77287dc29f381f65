// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where both programs keep models that commands compiled by themselves.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace tilewright {

/// $XDG_CACHE_HOME/tilewright, or ~/.cache/tilewright; a relative XDG_CACHE_HOME is ignored, as its specification says.
inline std::string cacheFolder() {
  const char *home = std::getenv("HOME"), *xdg = std::getenv("XDG_CACHE_HOME");
  const std::filesystem::path base = home && *home ? home : "/tmp";
  return ((xdg && *xdg == '/' ? std::filesystem::path(xdg) : base / ".cache") / "tilewright").string();
}

} // namespace tilewright
