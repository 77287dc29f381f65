// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A golden case as it lies in its file: tests/golden/README.md says what is in it.
#pragma once

#include "frontend/api/GoldenCase.h"

#include "llvm/Support/Error.h"

#include <map>

namespace tilewright {

struct StoredCase {
  struct Output {
    GoldenTensor wanted; ///< in f64 where the file has it
    double limit;        ///< largest absolute difference of an implementation in f32
  };

  std::string technique;
  GoldenFacts::Contents contents;
  std::map<std::string, Output> outputs;
  /// Why no builder can take the case: an element type that graphs do not have, an integer that does not fit.
  std::optional<std::string> unsupported;

  /// Errors name the file and what is wrong in it.
  static llvm::Expected<StoredCase> read(llvm::StringRef path, mlir::MLIRContext *context);
};

} // namespace tilewright
