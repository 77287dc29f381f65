// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reverse-mode differentiation of graph-level functions through the Gradient interface.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace tilewright {

/// Attribute of a function that asks for its gradient: argument numbers, `array<i64: 0, 2>`.
inline constexpr llvm::StringLiteral differentiateAttribute = "tw.differentiate";

/// Makes `@f.gradient` behind `function` @f, with respect to the arguments `wrt` (strictly increasing, floats):
///
///   (arguments of f, one cotangent for each float result of f) -> (one gradient for each argument of `wrt`)
///
/// The forward values are computed again inside of it. Ops on the way must implement Gradient, or ReferenceLowering,
/// and are then differentiated as the core ops that define them; calls use the gradient of the function they call,
/// which is made once for each set of arguments (`@f.gradient.0.2` for callees). An argument that no result depends on
/// has gradient 0. Fails with a diagnostic on the op that cannot be differentiated; then the module is as it was.
mlir::FailureOr<mlir::func::FuncOp> differentiate(mlir::func::FuncOp function, llvm::ArrayRef<int64_t> wrt);

/// `differentiate-functions`: differentiates each function that has `tw.differentiate`, and takes the attribute away.
std::unique_ptr<mlir::Pass> createDifferentiateFunctionsPass();

} // namespace tilewright
