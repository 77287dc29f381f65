// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tilewright plugins check FILE`: does a plugin keep every promise that its interfaces make? (docs/conformance.md)
#pragma once

#include <string>
#include <vector>

namespace tilewright::conformance {

struct CheckOptions {
  std::string plugin;               ///< file, or name to look for
  std::vector<std::string> plugins; ///< others to load, besides the installed ones
  bool json = false;
  double budget = 20; ///< processor seconds for one check
};

/// Checks the plugin and prints a table, or JSON, on stdout. Returns an exit code: Success, CheckFailed, or what kept
/// the plugin from being looked at.
int checkPlugin(const CheckOptions &options);

} // namespace tilewright::conformance
