// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `tile` dialect: kernel-level words that linalg lacks. The manual is Tile.td.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ir/tile/TileDialect.h.inc"

#define GET_OP_CLASSES
#include "ir/tile/Tile.h.inc"
