// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The manual that a dialect's ODS makes (mlir-tblgen -gen-dialect-doc), which the plugin carries.
#pragma once

#include "tools/conformance/Findings.h"

#include "llvm/ADT/StringMap.h"

#include <string>
#include <vector>

namespace tilewright::conformance {

/// The page of one op.
struct OpManual {
  std::string summary;
  std::string text;                  ///< description, from behind the syntax up to the traits
  std::vector<unsigned> constraints; ///< numbers of (C1), (C2) ..., in order
  bool hasExample = false;
  bool saysNoConstraints = false; ///< "Constraints: none"
};

struct Manual {
  llvm::StringMap<OpManual> ops;  ///< by full name
  std::vector<std::string> types; ///< as written, "!quantization.q4_0"
};

Manual readManual(llvm::ArrayRef<std::string> pages);

/// Is the op's definition complete: summary, description, example, numbered constraints?
Finding checkManual(const Manual &manual, llvm::StringRef op);

} // namespace tilewright::conformance
