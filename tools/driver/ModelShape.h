// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether a compiled model can be one of a graph's: what both say of what goes in and comes out.
#pragma once

#include "frontend/graph/GraphFile.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <string>

namespace tilewright::driver {

/// Weights, their types and how they are computed may differ; what is compared with the truth number by number may not.
struct ModelShape {
  std::string kind; ///< "decoder", "encoder", "encoder-decoder"
  int64_t vocabulary = 0, context = 0;
  std::string results; ///< of a row, as text: "logits, hidden[64]"
};

/// `module` is the graph's.
llvm::Expected<ModelShape> shapeOf(const graph::Graph &graph, mlir::ModuleOp module);
/// Of a compiled model, by its description (tw_model_describe).
llvm::Expected<ModelShape> shapeOf(llvm::StringRef description);

/// Fails where the two differ, naming what does; `place` is the compiled model's.
llvm::Error checkShape(const ModelShape &compiled, const ModelShape &wanted, const std::string &place);

} // namespace tilewright::driver
