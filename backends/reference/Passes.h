// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tilewright::reference {

/// Replaces every op that has a ReferenceLowering, and what that makes, by core ops. Fails with a diagnostic where an
/// op has no decomposition, or where the decompositions do not end (ir/interfaces/Decompose.h).
mlir::LogicalResult lowerToCoreOps(mlir::ModuleOp module);

/// `reference-lower`: lowerToCoreOps as a pass.
std::unique_ptr<mlir::Pass> createReferenceLowerPass();

/// `reference-interpret`: runs every function without arguments whose name starts with "test", on a copy of the module;
/// an assertion that fails is an error. The module is not changed. Option `precision`: f64 (default) or f32.
std::unique_ptr<mlir::Pass> createReferenceInterpretPass();

/// Makes both known by their flags.
void registerReferencePasses();

} // namespace tilewright::reference
