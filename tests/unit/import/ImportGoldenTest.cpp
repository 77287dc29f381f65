// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Imports the small golden models and loads the graphs again with their weights.
#include "frontend/graph/Inspect.h"
#include "frontend/import/ImportModel.h"
#include "tests/unit/support/TestFolder.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace tilewright;

namespace {

class ImportGolden : public testing::TestWithParam<const char *> {};

TEST_P(ImportGolden, LoadsBackWithItsWeights) {
  std::string folder = std::string(TILEWRIGHT_TEST_DATA) + "/golden/gguf/" + GetParam();
  std::string output = folder + "/model.twg"; // only named, never written
  Expected<ImportResult> imported = importModel(folder + "/model.gguf", output);
  ASSERT_TRUE(bool(imported)) << toString(imported.takeError());
  EXPECT_TRUE(imported->notes.empty());
  StringRef bytes(reinterpret_cast<const char *>(imported->bytes.data()), imported->bytes.size());
  Expected<GraphFile> file = GraphFile::loadBytes(MemoryBuffer::getMemBufferCopy(bytes), output);
  ASSERT_TRUE(bool(file)) << toString(file.takeError());
  const graph::Graph &graph = file->graph();
  ASSERT_EQ(graph.functions()->size(), 2u);
  EXPECT_EQ(graph.functions()->Get(0)->name()->str(), "layer");
  EXPECT_EQ(graph.entry()->str(), "step");
  EXPECT_EQ(graph.context_length(), 256u);
  EXPECT_EQ(graph.vocab_size(), graph.tokenizer()->tokens()->size());
  for (uint32_t i = 0; i < graph.weights()->size(); ++i) {
    Error error = file->weights().checkHash(graph, i);
    EXPECT_FALSE(bool(error)) << toString(std::move(error));
  }
}

/// graph.txt is what `tilewright inspect --table` prints for the import.
TEST(ImportGoldenText, IsTheWholeGraph) {
  for (const char *model : {"llama_q4_1", "llama_f32_ropefreqs_tied"}) {
    std::string folder = std::string(TILEWRIGHT_TEST_DATA) + "/golden/gguf/" + model;
    ImportResult imported = cantFail(importModel(folder + "/model.gguf", folder + "/model.twg"));
    GraphFile file = cantFail(GraphFile::loadBytes(test::bufferOf(imported.bytes), folder + "/model.twg"));
    std::string text;
    raw_string_ostream os(text);
    inspectTable(file, os);
    std::vector<uint8_t> wanted = test::readBytes(folder + "/graph.txt");
    EXPECT_EQ(text, std::string(wanted.begin(), wanted.end())) << model;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ImportGolden,
                         testing::Values("llama_f32", "llama_f16", "llama_bf16", "llama_q4_0", "llama_q4_1",
                                         "llama_q5_0", "llama_q5_1", "llama_q8_0", "llama_kquants",
                                         "llama_f32_ropefreqs_tied"));

} // namespace
