// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `rms_norm` dialect (RmsNorm.td).
#pragma once

#include "ir/interfaces/Interfaces.h"
#include "ir/interfaces/Tiling.h"
#include "ir/tw/Tw.h"

#include "plugins/rms_norm/RmsNormDialect.h.inc"

#define GET_OP_CLASSES
#include "plugins/rms_norm/RmsNorm.h.inc"

namespace tilewright {
class GoldenCase; // frontend/api/GoldenCase.h
}

namespace tilewright::rms_norm {

/// Graph of a golden case of this technique.
void buildGolden(GoldenCase &golden);

} // namespace tilewright::rms_norm
