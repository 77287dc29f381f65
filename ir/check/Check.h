// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `check` dialect: assertions of tests (Check.td).
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ir/check/CheckDialect.h.inc"

#define GET_OP_CLASSES
#include "ir/check/Check.h.inc"
