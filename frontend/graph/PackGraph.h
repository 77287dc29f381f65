// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_FRONTEND_GRAPH_PACKGRAPH_H
#define TILEWRIGHT_FRONTEND_GRAPH_PACKGRAPH_H

#include "frontend/graph/graph_generated.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <vector>

namespace tilewright {

/// The bytes of a graph file. Sets the plugins that `graph` requires.
std::vector<uint8_t> packGraph(graph::GraphT &graph);

/// Whether GraphFile takes `bytes`; weights files need not be there. `path` names the graph in errors.
llvm::Error checkPacked(llvm::ArrayRef<uint8_t> bytes, llvm::StringRef path);

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_GRAPH_PACKGRAPH_H
