// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/interfaces/Interfaces.h"

#include "mlir/IR/Builders.h"

namespace tilewright {

bool isStorageType(mlir::Type type) { return llvm::isa<StorageType>(type); }

} // namespace tilewright

#include "ir/interfaces/OpInterfaces.cpp.inc"
#include "ir/interfaces/TypeInterfaces.cpp.inc"
