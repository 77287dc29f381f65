// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a plugin's runtime half is built from, for code without exceptions.
#pragma once

#include <cstdint>
#include <string>

namespace tilewright {

/// sourcesOfRuntimeHalf (runtime/module/RuntimeHalf.h); false with a message when the file or its note is wrong.
bool readHalfSources(const std::string &plugin, const std::string &folder, uint64_t &sources, std::string &error);

} // namespace tilewright
