// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM IR to an object or assembly of one level. Internal to this folder.
#pragma once

#include "backends/cpu/Compile.h"

namespace llvm {
class Module;
}

namespace tilewright {

enum class EmitKind { Object, Assembly };

/// Sets the level's target attributes on every function, runs LLVM's O3 pipeline (O1 without unrolling, for
/// `Effort::Low`) and emits code. `text`: where to write the LLVM IR that code is made from.
llvm::Expected<ObjectBytes> emitModule(llvm::Module &module, const CpuLevel &level, EmitKind kind,
                                       std::string *text = nullptr, Effort effort = Effort::Full);

} // namespace tilewright
