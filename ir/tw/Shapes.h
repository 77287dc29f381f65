// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shape comparisons that the verifiers share. A dynamic dimension agrees with any other; run time compares them.
#pragma once

#include "mlir/IR/BuiltinTypes.h"

namespace tilewright::tw {

inline bool dimsAgree(int64_t a, int64_t b) {
  return a == b || mlir::ShapedType::isDynamic(a) || mlir::ShapedType::isDynamic(b);
}

inline bool shapesAgree(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b) {
  if (a.size() != b.size())
    return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!dimsAgree(a[i], b[i]))
      return false;
  return true;
}

/// "2x?x64", as inside a tensor type.
inline std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  std::string text;
  for (auto [i, d] : llvm::enumerate(shape)) {
    text += i ? "x" : "";
    text += mlir::ShapedType::isDynamic(d) ? std::string("?") : std::to_string(d);
  }
  return text.empty() ? "scalar" : text;
}

} // namespace tilewright::tw
