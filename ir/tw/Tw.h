// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `tw` dialect: technique-free tensor operations (Tw.td).
#pragma once

#include "ir/interfaces/Interfaces.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"

#include "ir/tw/TwDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/tw/TwTypes.h.inc"

namespace tilewright::tw {

/// Kernel form of an elementwise op on a tile: one linalg.generic with scalar arith/math ops.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> lowerElementwiseTile(mlir::Operation *op, mlir::OpBuilder &builder);

/// Gradients of an elementwise op's operands, given its result's; null for operands that are not floats.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> elementwiseGradient(mlir::Operation *op, mlir::OpBuilder &builder,
                                                                    mlir::Value gradient);

} // namespace tilewright::tw

#define GET_OP_CLASSES
#include "ir/tw/Tw.h.inc"
