// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `my_technique` dialect (MyTechnique.td) and its passes.
#pragma once

#include "ir/interfaces/Interfaces.h"
#include "ir/tw/Tw.h"

#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Pass/Pass.h"

#include "plugins/_template/MyTechniqueDialect.h.inc"

#define GET_OP_CLASSES
#include "plugins/_template/MyTechnique.h.inc"

namespace tilewright::my_technique {

/// my-technique-recognise (stage recognise): raises tw.maximum of equal slices to my_technique.maxout.
std::unique_ptr<mlir::Pass> createRecognise();

} // namespace tilewright::my_technique
