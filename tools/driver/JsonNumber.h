// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "llvm/Support/JSON.h"

#include <cmath>

namespace tilewright::driver {

/// null for what is not finite: JSON has no form of it.
inline llvm::json::Value jsonNumber(double value) {
  return std::isfinite(value) ? llvm::json::Value(value) : llvm::json::Value(nullptr);
}

} // namespace tilewright::driver
