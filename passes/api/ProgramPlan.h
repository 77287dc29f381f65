// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where every tensor of a program (functions of tw.dispatch and calls) lives in the activation arena.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

namespace tilewright {

/// The arena has three regions, one after another, by what a buffer's size is proportional to: padded rows, padded
/// logit rows, or nothing. Each is planned alone, so a plan holds for every number of rows.
enum class ArenaRegion : unsigned { Rows = 0, LogitRows = 1, Constant = 2 };
inline constexpr unsigned numArenaRegions = 3;

/// One number per region: bytes per padded row, per padded logit row, and bytes.
struct RegionBytes {
  uint64_t bytes[numArenaRegions] = {0, 0, 0};
  uint64_t &operator[](ArenaRegion region) { return bytes[static_cast<unsigned>(region)]; }
  uint64_t operator[](ArenaRegion region) const { return bytes[static_cast<unsigned>(region)]; }
};

struct ArenaPlace {
  ArenaRegion region;
  uint64_t offset; ///< bytes per unit of the region
};

/// The plan of one function. Its results live where the caller says, its arguments are not its own. The caller of a
/// function that none here calls may leave out a result (backends/cpu/Entry.h): one that is read inside as well has a
/// place.
struct FunctionPlan {
  llvm::DenseMap<mlir::Value, ArenaPlace> places;
  /// Start of a call's own arena inside this function's regions.
  llvm::DenseMap<mlir::Operation *, RegionBytes> callBases;
  RegionBytes size;
  RegionBytes lowerBound;   ///< largest sum of live bytes
  RegionBytes withoutReuse; ///< sum of all buffers
};

/// The value whose memory `value` is: views (tw.reshape between dispatches) have none of their own.
mlir::Value storageOf(mlir::Value value);

/// What the first dimension of a tensor that a dispatch or call makes counts, as the kernel that writes it says: "N",
/// "R", or a multiple of one (ir/tw/RowCount.h). Fails where no kernel says so.
mlir::FailureOr<mlir::Attribute> leadingDim(mlir::Value value, const mlir::SymbolTable &symbols);

using ProgramPlan = llvm::MapVector<mlir::Operation *, FunctionPlan>;

/// Plans every function of `module` that consists of dispatches, calls and weight loads. Buffers are multiples of 64
/// bytes per unit. Fails with a diagnostic on a value whose size is not proportional to one count.
mlir::FailureOr<ProgramPlan> planProgram(mlir::ModuleOp module);

} // namespace tilewright
