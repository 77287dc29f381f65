// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `quantization` dialect: storage types of weights (Quantization.td).
#pragma once

#include "ir/interfaces/Interfaces.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"

#include "plugins/quantization/QuantizationDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "plugins/quantization/QuantizationTypes.h.inc"

namespace tilewright {
class GoldenCase; // frontend/api/GoldenCase.h
}

namespace tilewright::quantization {

/// Attaches StorageType to the builtin f16 and bf16 types of a context.
void attachHalfStorage(mlir::MLIRContext &context);

/// The graph of a golden case of quantised weights.
void buildGolden(GoldenCase &golden);

} // namespace tilewright::quantization
