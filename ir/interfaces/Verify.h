// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an op's interfaces give is checked by whoever calls them: plugins write them.
#pragma once

#include "ir/interfaces/Interfaces.h"

namespace tilewright {

/// Whether `values`, which the op's form (`interface`: "TileLowering", say) gave, are one for each result. Fails with a
/// diagnostic on the op.
llvm::LogicalResult verifyGiven(mlir::Operation *op, llvm::StringRef interface, llvm::ArrayRef<mlir::Value> values);

/// As verifyGiven, and each of its result's type.
llvm::LogicalResult verifyGivenTypes(mlir::Operation *op, llvm::StringRef interface,
                                     llvm::ArrayRef<mlir::Value> values);

/// Whether `map` is one of `op`: an entry for each operand and result, with the dimensions of its type where it is cut;
/// every loop is there and followed, by dimensions that agree on its steps where they are static. Fails with a
/// diagnostic on the op. The functions of ir/interfaces/Tiling.h take a map that is right.
llvm::LogicalResult verifyLoopMap(mlir::Operation *op, const LoopMap &map);

} // namespace tilewright
