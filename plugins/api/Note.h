// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading a plugin library's note and needed libraries from its file, without running any of it.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace tilewright {

/// What a plugin library says about itself.
struct PluginNote {
  std::string name;
  std::string version;
  std::vector<std::string> required; ///< names of plugins that are loaded before this one
  std::vector<std::string>
      provides; ///< "dialect:NAME", "pass:FLAG", "storage:TYPE", "runtime:PLUGIN" (it has a runtime half)

  bool hasRuntimeHalf() const;
};

/// Reads `path` and checks that this host can run it: an ELF shared library for this machine, with a Tilewright note of
/// this plugin API version, LLVM version, C++ ABI and struct layouts, linked to the shared libMLIR. The error names
/// file, what was found, what was wanted and what to do.
llvm::Expected<PluginNote> readPluginNote(llvm::StringRef path);

} // namespace tilewright
