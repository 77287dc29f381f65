// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_FRONTEND_GRAPH_GRAPHFILE_H
#define TILEWRIGHT_FRONTEND_GRAPH_GRAPHFILE_H

#include "frontend/graph/WeightSource.h"
#include "frontend/graph/graph_generated.h"

#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace tilewright {

struct LoadOptions {
  /// Where weights files are looked for before the graph's own folder; empty: only there.
  std::string weightsDir;
  /// False leaves the weights files unopened and their extents unchecked: for looking at a graph alone.
  bool openWeights = true;
};

/// A graph file that has passed the checks of the file's bytes and of its structure; what its ops mean is checked by
/// their own verifiers after translation. Everything `graph()` gives may be read without further checks.
class GraphFile {
public:
  /// The schema version this build writes, and the newest it reads.
  static constexpr uint32_t schemaVersion = 1;
  /// One byte short of the FlatBuffers limit, which its verifier only asserts.
  static constexpr uint64_t maxFileBytes = (uint64_t(1) << 31) - 2;

  /// Maps `path`, a regular file, and verifies it, in this order: size, identifier, schema version, generated verifier
  /// with limits, structure, extents of the weights.
  static llvm::Expected<GraphFile> load(llvm::StringRef path, const LoadOptions &options = {});

  /// The same for bytes in memory. `path` names them in messages, and its folder is where weights files lie.
  static llvm::Expected<GraphFile> loadBytes(std::unique_ptr<llvm::MemoryBuffer> bytes, llvm::StringRef path,
                                             const LoadOptions &options = {});

  const graph::Graph &graph() const { return *root; }
  const WeightSource &weights() const { return source; }
  bool hasWeights() const { return weightsOpen; }
  llvm::StringRef path() const { return name; }
  uint64_t sizeInBytes() const { return buffer->getBufferSize(); }
  llvm::StringRef bytes() const { return buffer->getBuffer(); }

private:
  GraphFile() = default;

  std::unique_ptr<llvm::MemoryBuffer> buffer;
  std::string name;
  const graph::Graph *root = nullptr;
  WeightSource source;
  bool weightsOpen = false;
};

} // namespace tilewright

#endif // TILEWRIGHT_FRONTEND_GRAPH_GRAPHFILE_H
