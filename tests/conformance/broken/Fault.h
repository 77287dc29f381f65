// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fault of one broken plugin. All share their objects; each has one more, with its fault's name.
#pragma once

#include "llvm/ADT/StringRef.h"

/// Written by the build, one per plugin.
extern const char *const tilewrightFault;

namespace tilewright::broken {
inline bool isFault(llvm::StringRef name) { return name == tilewrightFault; }
} // namespace tilewright::broken
