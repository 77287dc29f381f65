// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Objects to one shared object, by the lld library inside this process: no linker is needed on the user's machine.
#pragma once

#include "backends/cpu/Compile.h"

#include "llvm/ADT/StringRef.h"

namespace tilewright {

/// Links `objects` into a shared object at `path`. Undefined symbols are errors (the artifact must load anywhere), and
/// the result depends on the objects alone. Calls from several threads are made one after another (lld has global
/// state).
llvm::Error linkSharedObject(llvm::ArrayRef<ObjectBytes> objects, llvm::StringRef path);

} // namespace tilewright
