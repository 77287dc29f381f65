// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which inputs of a function are indices into tables, so that they can be checked before any kernel runs.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tilewright::tw {

/// An argument whose numbers are indices into a table of `rows` rows (of a static number).
struct TableIds {
  unsigned argument;
  int64_t rows;
};

/// A copy of the module in which ops that take integers are decomposed: gathers may be inside. Fails with a diagnostic
/// when one cannot be.
llvm::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> withIdsInTheOpen(mlir::ModuleOp module);

/// The tables of gathers in `function`, and in what it calls, whose ids are an argument, also one that was moved or
/// repeated, with ids in the open. Fails with a diagnostic when they cannot be brought there, and when ids that are
/// constants do not fit their table.
llvm::FailureOr<llvm::SmallVector<TableIds>> tableIds(mlir::ModuleOp module, llvm::StringRef function);

} // namespace tilewright::tw
