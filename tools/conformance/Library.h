// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What can be learned from a plugin's file without running any of it.
#pragma once

#include "tools/conformance/Findings.h"

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace tilewright::conformance {

struct Library {
  std::vector<std::string> imports; ///< undefined dynamic symbols, as in the file (mangled)
  std::string samples;              ///< section .tilewright.samples; empty: none
  std::vector<std::string> manuals; ///< section .tilewright.manual, one per dialect
};

/// Reads a file that `readPluginNote` has found right.
llvm::Expected<Library> readLibrary(llvm::StringRef path);

/// Static checks: libraries that are needed, and no threads of its own.
Finding checkImports(const Library &library);

} // namespace tilewright::conformance
