// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `position_encoding` dialect (PositionEncoding.td).
#pragma once

#include "ir/interfaces/Interfaces.h"
#include "ir/tw/Tw.h"

#include "mlir/Pass/Pass.h"

#include "plugins/position_encoding/PositionEncodingDialect.h.inc"

#define GET_OP_CLASSES
#include "plugins/position_encoding/PositionEncoding.h.inc"

namespace tilewright {
class GoldenRegistry; // frontend/api/GoldenCase.h
}

namespace tilewright::position_encoding {

/// `position-encoding-expand-attention`: relation_attention becomes core ops.
std::unique_ptr<mlir::Pass> createExpandAttention();

/// The graphs of golden cases of these techniques.
void addGolden(GoldenRegistry &registry);

} // namespace tilewright::position_encoding
