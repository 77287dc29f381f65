// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/import/EmbeddedFiles.h"
#include "frontend/import/gguf/GgufFile.h"
#include "tests/unit/support/GgufWriter.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace tilewright;
using tilewright::test::GgufWriter;

namespace {

const gguf::TypeTable &types() {
  static gguf::TypeTable table = [] {
    for (const EmbeddedFile &file : embeddedFamilies())
      if (file.name == "gguf-types.json")
        return cantFail(gguf::TypeTable::parse(file.content, file.name));
    return gguf::TypeTable();
  }();
  return table;
}

TEST(GgufFile, ReadsTypedMetadataAndTensors) {
  for (uint32_t version : {2u, 3u}) {
    GgufWriter writer;
    writer.version = version;
    writer.u32("a.number", 7).f32("a.float", 0.5f).string("a.text", "hello").strings("a.list", {"x", "", "yz"});
    writer.scalar("a.negative", test::I64, int64_t(-3)).scalar("a.flag", test::BOOL, uint8_t(1));
    writer.tensor("w", {4, 3}, 0, 48).tensor("q", {64, 2}, 3, 80);
    std::vector<uint8_t> bytes = writer.finish();
    Expected<gguf::GgufFile> file = gguf::GgufFile::parse(bytes, "t.gguf", types());
    ASSERT_TRUE(bool(file)) << toString(file.takeError());
    EXPECT_EQ(file->version(), version);
    EXPECT_EQ(cantFail(file->getInteger("a.number")), 7);
    EXPECT_EQ(cantFail(file->getInteger("a.negative")), -3);
    EXPECT_EQ(cantFail(file->getFloat("a.float")), 0.5);
    EXPECT_EQ(cantFail(file->getString("a.text")), "hello");
    EXPECT_TRUE(cantFail(file->getBool("a.flag")));
    EXPECT_EQ(cantFail(file->getStrings("a.list")), (std::vector<StringRef>{"x", "", "yz"}));
    EXPECT_EQ(toString(file->getInteger("a.text").takeError()),
              "t.gguf: metadata key 'a.text': found string, wanted an integer");
    EXPECT_EQ(toString(file->getString("b").takeError()), "t.gguf: metadata key 'b': not found, wanted a string");
    const gguf::TensorInfo *tensor = file->findTensor("q");
    ASSERT_NE(tensor, nullptr);
    EXPECT_EQ(tensor->shape, (SmallVector<int64_t, 4>{2, 64}));
    EXPECT_EQ(tensor->type->name, "Q4_1");
    EXPECT_EQ(tensor->bytes, 80u);
    EXPECT_EQ(tensor->offset % 32, 0u);
    EXPECT_EQ(file->tensorBytes(*tensor).size(), 80u);
  }
}

} // namespace
