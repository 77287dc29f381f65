// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "ir/interfaces/Interfaces.h"

namespace tilewright {

/// How far the compiled form of a graph-level op may differ from its reference under a numerics mode ("precise" or
/// "fast"), given the reference's operands: the op's own NumericsContract, or what core promises of its ops. Beside it
/// every value may be rounded to its type.
NumericsBound numericsBoundOf(mlir::Operation *op, llvm::StringRef mode);

/// What ops that compute attention on values of `type` promise: exponentials by a polynomial, sums in another order (by
/// tiles, parts or another form of the products); fast may round weights and values to bf16.
NumericsBound attentionBound(mlir::RankedTensorType type, llvm::StringRef mode);

} // namespace tilewright
