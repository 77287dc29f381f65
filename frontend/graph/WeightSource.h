// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_FRONTEND_GRAPH_WEIGHTSOURCE_H
#define TILEWRIGHT_FRONTEND_GRAPH_WEIGHTSOURCE_H

#include "frontend/graph/BeneathFile.h"
#include "frontend/graph/graph_generated.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <vector>

namespace tilewright {

/// Bytes of a weight, valid as long as this and the source.
class WeightBytes {
public:
  WeightBytes(llvm::ArrayRef<uint8_t> mapped) : view(mapped) {}
  WeightBytes(std::vector<uint8_t> made)
      : owned(std::make_shared<const std::vector<uint8_t>>(std::move(made))), view(*owned) {}

  operator llvm::ArrayRef<uint8_t>() const { return view; }
  const uint8_t *data() const { return view.data(); }
  size_t size() const { return view.size(); }

private:
  std::shared_ptr<const std::vector<uint8_t>> owned; ///< null: mapped
  llvm::ArrayRef<uint8_t> view;
};

/// Where the bytes of a graph's weights lie in memory: inside the graph's own buffer, or in files mapped read-only. The
/// graph's buffer must outlive this.
class WeightSource {
public:
  /// Opens each file that `graph` (structurally verified) refers to and checks each weight's extent against it. A file
  /// is looked for beneath `weightsDir` first, if given, and then beneath the folder of `graphPath`; see
  /// `MappedFile::openBeneath` for what is refused.
  static llvm::Expected<WeightSource> open(const graph::Graph &graph, llvm::StringRef graphPath,
                                           llvm::StringRef weightsDir);

  /// The bytes of weight `index` of the graph's table: rows in stored order (see RowPermutation). Nothing is copied,
  /// but of a weight of parts or one that is stored transposed: these are put together in memory at each call. The
  /// start is aligned to the size of a builtin element; no more is promised.
  WeightBytes bytes(size_t index) const;

  /// Compares the XXH3-64 of weight `index`'s bytes with the graph's. Reads all of them.
  llvm::Error checkHash(const graph::Graph &graph, size_t index) const;

private:
  llvm::Error addFile(llvm::StringRef file, llvm::StringRef graphPath, llvm::StringRef weightsDir);

  /// Finds one extent of a weight.
  llvm::Error addExtent(llvm::StringRef file, uint64_t offset, uint64_t length, const llvm::Twine &place);

  struct Stored {
    llvm::SmallVector<llvm::ArrayRef<uint8_t>, 1> parts;
    uint64_t rows = 0, columns = 0, elementBytes = 0; ///< of the matrices that are stored transposed; 0: none are
  };

  llvm::StringMap<MappedFile> files;
  std::vector<Stored> weights;
};

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_GRAPH_WEIGHTSOURCE_H
