// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `tw` dialect: technique-free tensor operations (Tw.td).
#pragma once

#include "ir/interfaces/Interfaces.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"

#include "ir/tw/TwDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/tw/TwTypes.h.inc"

#define GET_OP_CLASSES
#include "ir/tw/Tw.h.inc"
