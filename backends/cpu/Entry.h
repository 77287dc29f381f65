// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Step entries: the code that runs a planned program's dispatches as phases (runtime/api/abi.h).
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "passes/api/ProgramPlan.h"
#include "llvm/ADT/StringMap.h"

namespace tilewright {

/// Where a program's weights and states stand in the manifest's tables.
struct ProgramTables {
  llvm::StringMap<int64_t> weights; ///< by ml_program.global name
  /// For each state argument of an entry function (by its tw.name): index of its first buffer among all state buffers.
  llvm::StringMap<int64_t> states;
  llvm::StringMap<int64_t> windows; ///< of states that have one, by tw.name: its number among the manifest's windows
  llvm::StringMap<int64_t> inputs;  ///< further inputs of rows, by their arguments' tw.name
};

/// Emits `i32 @symbol(tw_abi_step *)` for the program function `entryName` of `program` into `target`, a module of LLVM
/// dialect ops; layer functions become internal functions named "<symbol>.<name>". Kernels are declared, not defined,
/// as `kernelSymbol` says. Function arguments of the entry are known by tw.name: tokens, positions, row_start, kv_len,
/// logit_rows, source_len, lengths, or a further input's. Its results are those of ir/tw/StepResults.h; work that only
/// outputs need which the caller does not want is not done.
mlir::LogicalResult emitStepEntry(mlir::ModuleOp program, llvm::StringRef entryName, const ProgramPlan &plan,
                                  const ProgramTables &tables, llvm::StringRef symbol,
                                  llvm::function_ref<std::string(llvm::StringRef kernel)> kernelSymbol,
                                  mlir::ModuleOp target);

/// Emits the table that the runtime looks up (tw_abi_table under TW_ABI_TABLE_SYMBOL) over entries declared in
/// `target`.
void emitEntryTable(llvm::ArrayRef<std::string> entries, mlir::ModuleOp target);

} // namespace tilewright
