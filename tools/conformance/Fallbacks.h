// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops whose kernel form gave nothing, so that what runs is their reference lowering: told by receipts.
#pragma once

#include "tools/conformance/Environment.h"

namespace tilewright::conformance {

/// Of one function that is compiled several times: for shapes, or for classes of steps.
class Fallbacks {
public:
  /// Takes down what was compiled since it was last called: for `form`, unless that was compiled before.
  void note(const Environment &environment, const std::string &form);

  /// Why `op` is compiled by its reference lowering in that form; "" when it is not.
  std::string reason(const std::string &form, llvm::StringRef op) const;

private:
  std::map<std::string, std::map<std::string, std::string>> reasons; ///< by form, by op
};

} // namespace tilewright::conformance
