// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running programs by the interpreter, and comparing what came out.
#pragma once

#include "ir/interfaces/Interfaces.h"
#include "tools/conformance/Samples.h"

namespace tilewright::conformance {

/// Runs a function by the interpreter; an error is what it said.
llvm::Expected<std::vector<reference::RunValue>> interpret(mlir::ModuleOp module, llvm::StringRef function,
                                                           std::vector<reference::RunValue> inputs,
                                                           reference::Precision precision = reference::Precision::F64);

/// Where `found` is not what was wanted, in words ("result 0 at [1, 3]: found 2, wanted 1.5 (allowed difference ...)");
/// empty when it is: same shapes, integers equal, floats within the bound, NaN and infinities the same. States are
/// passed over.
std::string difference(llvm::ArrayRef<reference::RunValue> found, llvm::ArrayRef<reference::RunValue> wanted,
                       NumericsBound bound);

/// Whether any float is NaN.
bool hasNaN(llvm::ArrayRef<reference::RunValue> values);

} // namespace tilewright::conformance
