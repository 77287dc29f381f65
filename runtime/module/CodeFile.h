// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which file a piece of code was loaded from.
#pragma once

#include <filesystem>

namespace tilewright {

/// The program or library that holds the code at `address`, as the kernel has it: absolute, links resolved; empty when
/// it is not known. A file that was removed or replaced since has " (deleted)" behind its name. (dladdr has the name
/// that somebody typed: "tilewright" for a program found through PATH, which would be looked for in the current
/// directory.)
std::filesystem::path codeFile(const void *address);

} // namespace tilewright
