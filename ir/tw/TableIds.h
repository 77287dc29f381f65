// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which inputs of a function are indices into tables, so that they can be checked before any kernel runs.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace tilewright::tw {

/// An argument whose numbers are indices into a table of `rows` rows (of a static number).
struct TableIds {
  unsigned argument;
  int64_t rows;
};

/// The tables of gathers in `function`, and in what it calls, whose ids are an argument, also one that was moved or
/// repeated. Ops that take integers are decomposed before, in a copy, for gathers may be inside. Fails with a
/// diagnostic when one cannot be, and when ids that are constants do not fit their table.
llvm::FailureOr<llvm::SmallVector<TableIds>> tableIds(mlir::ModuleOp module, llvm::StringRef function);

} // namespace tilewright::tw
