// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_FRONTEND_GRAPH_WEIGHTSOURCE_H
#define TILEWRIGHT_FRONTEND_GRAPH_WEIGHTSOURCE_H

#include "frontend/graph/BeneathFile.h"
#include "frontend/graph/graph_generated.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace tilewright {

/// Where the bytes of a graph's weights lie in memory: inside the graph's own buffer, or in files mapped read-only.
/// Nothing is copied; the graph's buffer must outlive this.
class WeightSource {
public:
  /// Opens each file that `graph` (structurally verified) refers to and checks each weight's extent against it. A file
  /// is looked for beneath `weightsDir` first, if given, and then beneath the folder of `graphPath`; see
  /// `MappedFile::openBeneath` for what is refused.
  static llvm::Expected<WeightSource> open(const graph::Graph &graph, llvm::StringRef graphPath,
                                           llvm::StringRef weightsDir);

  /// The stored bytes of weight `index` of the graph's table: rows in stored order (see RowPermutation). The start is
  /// aligned to the size of a builtin element; no more is promised.
  llvm::ArrayRef<uint8_t> bytes(size_t index) const { return extents[index]; }

  /// Compares the XXH3-64 of weight `index`'s bytes with the graph's. Reads all of them.
  llvm::Error checkHash(const graph::Graph &graph, size_t index) const;

private:
  llvm::Error addFile(llvm::StringRef file, llvm::StringRef graphPath, llvm::StringRef weightsDir);

  llvm::StringMap<MappedFile> files;
  std::vector<llvm::ArrayRef<uint8_t>> extents; ///< by weight
};

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_GRAPH_WEIGHTSOURCE_H
