// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where plugin files are looked for. Never in the current directory.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace tilewright {

/// The file behind `--plugin FILE|NAME`: FILE if it has a '/' or ends in ".so", else libtilewright_NAME.so in the first
/// of `folders` that has it. Links are resolved; files and folders that everybody may write to are refused.
llvm::Expected<std::string> resolvePlugin(llvm::StringRef fileOrName, llvm::ArrayRef<std::string> folders);

/// The plugin libraries of a folder, links resolved, sorted. A folder that does not exist has none; one that everybody
/// may write to is an error.
llvm::Expected<std::vector<std::string>> pluginFiles(llvm::StringRef folder);

/// "rms_norm" for ".../libtilewright_rms_norm.so".
llvm::StringRef pluginNameOfFile(llvm::StringRef path);

/// The runtime half beside plugin library `path`, libtilewright_<plugin>_rt.so, whether it is there or not.
std::string runtimeHalfBeside(llvm::StringRef path, llvm::StringRef plugin);

} // namespace tilewright
