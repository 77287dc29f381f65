// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_FRONTEND_GRAPH_VERIFIER_H
#define TILEWRIGHT_FRONTEND_GRAPH_VERIFIER_H

#include "frontend/graph/graph_generated.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace tilewright {

/// Inline weights of one graph, all together: 64 MiB.
inline constexpr uint64_t maxInlineBytes = uint64_t(64) << 20;
inline constexpr uint32_t maxRank = 16;

/// Checks what the generated verifier does not know: indices in range, each value defined once and before its use,
/// operand segments, calls without cycles and with matching arguments and results, names, types' spelling, sizes
/// without overflow, relative file names, tokenizer ids, and that `required_plugins` is what ops and types need.
/// `graph` has passed the generated verifier; `file` names it in messages; `fileBytes` bounds the work (a graph whose
/// vectors share bytes could otherwise be much larger than its file).
llvm::Error verifyStructure(const graph::Graph &graph, llvm::StringRef file, uint64_t fileBytes);

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_GRAPH_VERIFIER_H
