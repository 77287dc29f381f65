// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_FRONTEND_IMPORT_EMITTER_H
#define TILEWRIGHT_FRONTEND_IMPORT_EMITTER_H

#include "frontend/graph/GraphBuilder.h"
#include "frontend/import/Binding.h"

namespace tilewright {

/// Adds the functions of a bound family to `builder`, whose weights have been added under the names of their tensors.
/// Layers whose weights agree in presence and type share one function.
llvm::Error emitFunctions(const Family &family, const Binding &binding, GraphBuilder &builder);

/// The graph type of a tensor that a model file has.
Tensor graphType(const gguf::TensorInfo &tensor);

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_IMPORT_EMITTER_H
