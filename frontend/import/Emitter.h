// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_FRONTEND_IMPORT_EMITTER_H
#define TILEWRIGHT_FRONTEND_IMPORT_EMITTER_H

#include "frontend/graph/GraphBuilder.h"
#include "frontend/import/Binding.h"

namespace tilewright {

/// Adds the functions of a bound family to `builder`, whose weights have been added under their names. Layers whose
/// weights agree in presence and type, and whose options are equal, share one function.
llvm::Error emitFunctions(const Family &family, const Binding &binding, GraphBuilder &builder);

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_IMPORT_EMITTER_H
