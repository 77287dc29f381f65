// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tokenizers as importers read them, made into the runtime's.
#pragma once

#include "frontend/graph/graph_generated.h"
#include "runtime/tokenize/Tokenizer.h"
#include "runtime/tokenize/TokenizerTable.h"

#include <memory>
#include <string>

namespace tilewright::test {

/// The way through the graph file.
inline TokenizerData dataOf(const graph::TokenizerT &read) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(graph::Tokenizer::Pack(builder, &read));
  return tokenizerData(*flatbuffers::GetRoot<graph::Tokenizer>(builder.GetBufferPointer()));
}

/// The tokenizer of a folder of tests/golden/tokenizers: of its tokenizer.json and what is beside it, or of the GGUF
/// file that its gguf.json describes. Null with a failure of the test if it cannot be read.
std::unique_ptr<Tokenizer> goldenTokenizer(const std::string &name);

/// Where the folders are.
std::string goldenFolder();

} // namespace tilewright::test
