// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/graph/PackGraph.h"

#include "frontend/graph/GraphFile.h"
#include "frontend/graph/RequiredPlugins.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace tilewright {

std::vector<uint8_t> packGraph(graph::GraphT &graph) {
  auto pack = [&] {
    flatbuffers::FlatBufferBuilder builder;
    graph::FinishGraphBuffer(builder, graph::CreateGraph(builder, &graph));
    return std::vector<uint8_t>(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
  };
  // Required plugins are computed from a packed graph, and are part of it.
  graph.required_plugins = computeRequiredPlugins(*graph::GetGraph(pack().data()));
  return pack();
}

Error checkPacked(ArrayRef<uint8_t> bytes, StringRef path) {
  LoadOptions structureOnly;
  structureOnly.openWeights = false;
  return GraphFile::loadBytes(MemoryBuffer::getMemBufferCopy(toStringRef(bytes)), path, structureOnly).takeError();
}

} // namespace tilewright
