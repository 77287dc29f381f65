// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where runtime halves of plugins are looked for. Never in the current directory.
#pragma once

#include <string>
#include <vector>

namespace tilewright {

/// The folders of TILEWRIGHT_PLUGIN_PATH, then the plugin folder of this installation. Throws Error(INVALID) for a
/// folder that is not absolute.
std::vector<std::string> pluginFolders();

/// libtilewright_<plugin>_rt.so in the first of `folders` that has it, links resolved. Throws Error(NOT_FOUND), and
/// Error(INVALID) when everybody may write to the file or its folder: anybody could put code there.
std::string findRuntimeHalf(const std::string &plugin, const std::vector<std::string> &folders);

/// Every runtime half in `folders`, in their order, by name within each.
std::vector<std::string> runtimeHalves(const std::vector<std::string> &folders);

} // namespace tilewright
