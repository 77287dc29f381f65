// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which ops of a function share a kernel.
#pragma once

#include "passes/tile/RowSymbols.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SetVector.h"

namespace tilewright {

/// Elements of one row: the product of all dimensions but the first.
int64_t rowElements(mlir::RankedTensorType type);

/// Ops that one kernel computes tile by tile. A tile is some rows by `unit` neighbouring columns, a column being an
/// element of the row of the group's anchor; `unit` equal to `columns` means whole rows.
struct KernelGroup {
  enum class Kind {
    Anchored, ///< linear maps and what follows them column by column
    Rows,     ///< ops on whole rows
    Static,   ///< one op without rows
    Whole,    ///< one op that builds its kernel itself (WholeKernel)
  };
  Kind kind;
  llvm::StringRef rows;                   ///< what the rows count ("N", "R", "N*9"); empty for Static and Whole
  int64_t columns = 1;                    ///< elements of an anchor's row
  int64_t unit = 1;                       ///< columns of a tile
  llvm::SetVector<mlir::Operation *> ops; ///< in program order

  bool contains(mlir::Value value) const { return value.getDefiningOp() && ops.contains(value.getDefiningOp()); }
  /// Results that are used outside of the group, in program order.
  llvm::SmallVector<mlir::Value> outputs() const;
};

/// The groups of a function's body, such that each is a node of an acyclic graph. Reshapes that no group computes,
/// calls, constants and loads of globals belong to none.
struct KernelGroups {
  std::vector<std::unique_ptr<KernelGroup>> groups;
  llvm::DenseMap<mlir::Operation *, KernelGroup *> groupOf;

  /// Why an op is not part of a linear map's kernel, and what to change.
  struct Fault {
    std::string reason, advice;
  };
  llvm::DenseMap<mlir::Operation *, Fault> faults;
};

/// Partitions the single block of `function`. Fails with a diagnostic on an op that has no kernel form.
mlir::FailureOr<KernelGroups> formKernelGroups(mlir::func::FuncOp function, const RowSymbols &rows);

/// (FusionReceipts.cpp) Says for each op that could share a kernel whether it does (passes/api/Receipts.h), in the name
/// of `pass`.
void writeFusionReceipts(const KernelGroups &groups, llvm::StringRef pass);

/// A reshape or constant that a kernel recomputes for itself where it reads it.
bool isView(mlir::Operation *op, const KernelGroups &groups);

} // namespace tilewright
