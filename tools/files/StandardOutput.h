// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>

namespace tilewright {

/// Sends on what stdout, and so std::cout, holds; why that or an earlier write failed: "standard output cannot be
/// written: REASON". Every program asks before it ends, or a full disk would look like success.
std::optional<std::string> flushStandardOutput();

} // namespace tilewright
