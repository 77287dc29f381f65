// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM IR to PTX.
#pragma once

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <string>

namespace tilewright {

/// Optimises a module of kernels and emits it as PTX for `architecture` ("sm_80").
llvm::Expected<std::string> emitPtx(llvm::Module &module, llvm::StringRef architecture);

} // namespace tilewright
