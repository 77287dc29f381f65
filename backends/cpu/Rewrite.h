// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Greedy rewriting with a budget: a pattern set that does not terminate becomes an error, not a hang.
#pragma once

#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tilewright {

/// Applies `patterns` below `op`; emits an error when they have not settled within the budget.
mlir::LogicalResult rewriteWithBudget(mlir::Operation *op, mlir::RewritePatternSet &&patterns, llvm::StringRef what,
                                      bool fold = true);

/// The same of `ops`, which are below `op`, and of what is made of them.
mlir::LogicalResult rewriteWithBudget(llvm::ArrayRef<mlir::Operation *> ops, mlir::RewritePatternSet &&patterns,
                                      mlir::Operation *op, llvm::StringRef what);

/// Adds the canonicalization patterns of every loaded dialect and registered op, but those of linalg ops: they take a
/// generic that copies for its input, which bufferisation then copies in its own, slow way; and but those of
/// vector.insert: they write rows that repeat one number as a list of all their elements.
void populateCanonicalization(mlir::RewritePatternSet &patterns);

/// Adds the canonicalization patterns of vector.shape_cast alone.
void populateShapeCastFolding(mlir::RewritePatternSet &patterns);

/// Upstream's canonicalizer without the patterns that change what a kernel computes; the functions above leave them out
/// too.
std::unique_ptr<mlir::Pass> createCanonicalizer();

} // namespace tilewright
