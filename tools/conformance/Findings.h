// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the checks found, and how it is printed.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace tilewright::conformance {

enum class Outcome {
  Passed,
  Failed,
  Absent, ///< there is nothing to check (no gradient, say); `detail` says what is absent
  Untried ///< another check has to pass first; `detail` names it
};

/// One row of the table.
struct Finding {
  std::string subject; ///< "plugin", an op, a type, or "pass <flag>"
  std::string check;   ///< "round trip", "kernel", ...
  Outcome outcome = Outcome::Passed;
  std::string detail; ///< the reason of a failure, or what was covered
};

inline Finding passed(std::string detail = "") { return {"", "", Outcome::Passed, std::move(detail)}; }
inline Finding failed(std::string reason) { return {"", "", Outcome::Failed, std::move(reason)}; }
inline Finding untried(const std::string &needed) { return {"", "", Outcome::Untried, "needs \"" + needed + "\""}; }
inline Finding absent(std::string what) { return {"", "", Outcome::Absent, std::move(what)}; }

void printTable(llvm::raw_ostream &out, llvm::ArrayRef<Finding> findings);
/// [{"subject", "check", "outcome": "passed" | "failed" | "absent" | "untried", "detail"}, ...] in an object with
/// plugin and file.
void printJson(llvm::raw_ostream &out, llvm::StringRef plugin, llvm::StringRef version, llvm::StringRef file,
               llvm::ArrayRef<Finding> findings);

} // namespace tilewright::conformance
