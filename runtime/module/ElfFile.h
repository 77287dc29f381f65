// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds a section in a shared object without loading it. Every offset is checked against the file's size.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tilewright {

/// The bytes of the one section called `name`, which makes the file a `what`. `path` is for messages. Throws
/// Error(CORRUPT) for what is no whole 64-bit little-endian ELF shared object, Error(INCOMPATIBLE) for another
/// machine's, Error(NOT_FOUND) without the section.
std::span<const uint8_t> findElfSection(std::span<const uint8_t> file, std::string_view name, const std::string &path,
                                        const char *what = "compiled model");

} // namespace tilewright
