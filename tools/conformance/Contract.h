// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ops allow their kernels to differ from their references, and whether that says anything.
#pragma once

#include "tools/conformance/Environment.h"

#include "ir/interfaces/Interfaces.h"

namespace tilewright::conformance {

/// What a program's ops allow together; its results are rounded to f32 whatever they allow.
NumericsBound boundOf(const Program &program, llvm::StringRef numerics);

/// The widest bound of all programs that contain `op`, in words: "1e-05 of the largest".
std::string boundText(const Environment &environment, llvm::StringRef op);

/// Why a NumericsContract of `op`, in a program that contains it, is none; "" when nothing speaks against it.
std::string contractFault(const Environment &environment, llvm::StringRef op);

/// Asks of results that were compared whether others would have done as well.
class ContractTrial {
public:
  void add(llvm::ArrayRef<reference::RunValue> wanted, NumericsBound bound);
  /// Results of nothing but zeros would have passed wherever others were wanted.
  bool isEmpty() const { return tried > 0 && passed == tried; }

private:
  unsigned tried = 0, passed = 0;
};

} // namespace tilewright::conformance
