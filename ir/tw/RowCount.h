// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of dynamic leading dimensions (`tw.dims`): a count of the step, or a fixed number of elements for each of it.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace tilewright::tw {

/// "N" is the step's count N; "N*9" is nine for each of it.
struct RowCount {
  llvm::StringRef base;
  int64_t factor = 1;

  /// A name that is not of this form is a base of its own.
  static RowCount parse(llvm::StringRef name) {
    auto [base, times] = name.split('*');
    int64_t factor = 1;
    if (times.empty() || times.getAsInteger(10, factor) || factor < 1)
      return {name, 1};
    return {base, factor};
  }
  std::string name() const { return factor == 1 ? base.str() : base.str() + "*" + std::to_string(factor); }
};

} // namespace tilewright::tw
