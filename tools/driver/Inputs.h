// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a command would lose: its own inputs.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace tilewright::driver {

/// Where a command writes; empty names are none.
struct Outputs {
  std::vector<std::string> files;
  std::string folder; ///< is replaced
};

/// An error when one of `outputs` is, or holds, what a model at `input` (as of CompileOptions) is read from. Before any
/// work is done; a model that cannot be read is no error here.
llvm::Error checkOutputs(const Outputs &outputs, const std::string &input, const std::string &weightsDir = "");

} // namespace tilewright::driver
