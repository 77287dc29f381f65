// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GGUF files that lie about their sizes, counts, types and alignment. Each gives one error that says what was found.
#include "frontend/import/EmbeddedFiles.h"
#include "frontend/import/gguf/GgufFile.h"
#include "tests/unit/support/GgufWriter.h"
#include "tests/unit/support/ProcessorTime.h"
#include "tests/unit/support/TestFolder.h"

#include <gtest/gtest.h>

#include <sys/resource.h>

using namespace llvm;
using namespace tilewright;
using namespace tilewright::test;

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

/// The error of a file, or "accepted".
std::string verdict(ArrayRef<uint8_t> bytes) {
  std::unique_ptr<MemoryBuffer> exact = bufferOf(bytes);
  ArrayRef<uint8_t> view(reinterpret_cast<const uint8_t *>(exact->getBufferStart()), exact->getBufferSize());
  Expected<gguf::GgufFile> file = gguf::GgufFile::parse(view, "t.gguf", types());
  return file ? "accepted" : toString(file.takeError());
}

std::string verdict(const GgufWriter &writer) { return verdict(writer.finish()); }

std::string tensorVerdict(ArrayRef<uint64_t> dims, uint32_t type = 0, uint64_t offset = 0) {
  GgufWriter writer;
  writer.rawTensor("w", dims.size(), dims, type, offset);
  writer.payload.resize(4096);
  return verdict(writer);
}

constexpr uint64_t two63 = uint64_t(1) << 63;
constexpr uint64_t two32 = uint64_t(1) << 32;

TEST(GgufHostile, Header) {
  EXPECT_EQ(verdict(ArrayRef<uint8_t>()), "t.gguf: magic: found an empty file, wanted 'GGUF'");
  EXPECT_EQ(verdict({'G', 'G', 'U', 'F', 3, 0}), "t.gguf: header: found a file of 6 bytes, wanted at least 24");
  GgufWriter writer;
  writer.magic = "GGML";
  EXPECT_EQ(verdict(writer), "t.gguf: magic: found 'GGML', wanted 'GGUF'");
  writer.magic = "FUGG";
  EXPECT_EQ(verdict(writer), "t.gguf: found a big-endian GGUF file, wanted a little-endian one");
  writer.magic = "GGUF";
  writer.version = 0x03000000;
  EXPECT_EQ(verdict(writer), "t.gguf: found a big-endian GGUF file, wanted a little-endian one");
  for (uint32_t version : {0u, 1u, 4u, 0xffffffffu}) {
    writer.version = version;
    EXPECT_EQ(verdict(writer), "t.gguf: version: found " + std::to_string(version) + ", wanted 2 or 3");
  }
  writer.version = 3;
  EXPECT_EQ(verdict(writer), "accepted");
}

TEST(GgufHostile, CountsBeyondTheFile) {
  GgufWriter writer;
  writer.payload.resize(1000);
  writer.tensorCount = uint64_t(1) << 61;
  EXPECT_EQ(verdict(writer),
            "t.gguf: tensor count: found 2305843009213693952, wanted at most 30 in a file of this size");
  writer.tensorCount = 0;
  writer.entryCount = two63;
  EXPECT_EQ(verdict(writer),
            "t.gguf: metadata count: found 9223372036854775808, wanted at most 72 in a file of this size");
}

TEST(GgufHostile, ProductsThatWrap) {
  EXPECT_EQ(tensorVerdict({two63, 2}),
            "t.gguf: tensor 'w', dimension 0: found 9223372036854775808, wanted 1 to 2^63 - 1");
  EXPECT_EQ(tensorVerdict({two63 - 1, 2}),
            "t.gguf: tensor 'w': found dimensions that need more than 2^64 bytes, wanted at most the file's 4192");
  EXPECT_EQ(tensorVerdict({(uint64_t(1) << 42) + 1, 1152}),
            "t.gguf: tensor 'w': found dimensions that need 20266198323171840 bytes, wanted at most the file's 4192");
  EXPECT_EQ(tensorVerdict({two32, two32}),
            "t.gguf: tensor 'w': found dimensions that need more than 2^64 bytes, wanted at most the file's 4192");
  EXPECT_EQ(tensorVerdict({8}, 0, UINT64_MAX - 31),
            "t.gguf: tensor 'w': found 32 bytes at offset 18446744073709551584, wanted them within the 4096 bytes of "
            "tensor data");
  EXPECT_EQ(tensorVerdict({8}, 0, 4096),
            "t.gguf: tensor 'w': found 32 bytes at offset 4096, wanted them within the 4096 bytes of tensor data");
  EXPECT_EQ(tensorVerdict({8}, 0, 4064), "accepted");
  // Two tensors near 2^63 bytes each, whose sum wraps.
  GgufWriter writer;
  writer.rawTensor("a", 1, {(two63 - 64) / 4}, 0, 0).rawTensor("b", 1, {(two63 - 64) / 4}, 0, two63 - 64);
  EXPECT_EQ(verdict(writer),
            "t.gguf: tensor 'a': found dimensions that need 9223372036854775744 bytes, wanted at most the file's 96");
}

TEST(GgufHostile, ZeroAndNegativeDimensions) {
  EXPECT_EQ(tensorVerdict({0}), "t.gguf: tensor 'w', dimension 0: found 0, wanted 1 to 2^63 - 1");
  for (size_t zero = 0; zero < 4; ++zero) {
    SmallVector<uint64_t, 4> dims = {4, 4, 4, 4};
    dims[zero] = 0;
    EXPECT_EQ(tensorVerdict(dims),
              "t.gguf: tensor 'w', dimension " + std::to_string(zero) + ": found 0, wanted 1 to 2^63 - 1");
  }
  EXPECT_EQ(tensorVerdict({UINT64_MAX, 4}),
            "t.gguf: tensor 'w', dimension 0: found 18446744073709551615, wanted 1 to 2^63 - 1");
}

TEST(GgufHostile, NumberOfDimensions) {
  for (uint32_t rank : {0u, 5u, 9u, 0xffffffffu}) {
    GgufWriter writer;
    writer.rawTensor("w", rank, {4, 4}, 0, 0);
    writer.payload.resize(4096);
    EXPECT_EQ(verdict(writer),
              "t.gguf: tensor 'w', number of dimensions: found " + std::to_string(rank) + ", wanted 1 to 4");
  }
}

TEST(GgufHostile, Alignment) {
  auto withAlignment = [](GgufKind kind, auto value, uint64_t real = 32) {
    GgufWriter writer;
    writer.alignment = real;
    writer.scalar("general.alignment", kind, value).tensor("w", {4}, 0, 16).tensor("v", {4}, 0, 16);
    return verdict(writer);
  };
  for (uint32_t value : {0u, 3u, 4u, 1u << 17, 1u << 31, 0xffffffffu})
    EXPECT_EQ(withAlignment(U32, value), "t.gguf: metadata key 'general.alignment': found " + std::to_string(value) +
                                             ", wanted a power of two from 8 to 65536");
  EXPECT_EQ(withAlignment(I32, int32_t(-1)),
            "t.gguf: metadata key 'general.alignment': found a value of type i32, wanted one of type u32");
  EXPECT_EQ(withAlignment(U32, 8u, 8), "accepted");
  EXPECT_EQ(withAlignment(U32, 65536u, 65536), "accepted");
  EXPECT_EQ(withAlignment(U32, 64u, 32), "t.gguf: tensor 'v', offset: found 32, wanted a multiple of the alignment 64");
  GgufWriter text;
  text.string("general.alignment", "32");
  EXPECT_EQ(verdict(text),
            "t.gguf: metadata key 'general.alignment': found a value of type string, wanted one of type u32");
  GgufWriter twice;
  twice.u32("general.alignment", 32).u32("general.alignment", 32);
  EXPECT_EQ(verdict(twice), "t.gguf: metadata key 'general.alignment': found it twice, wanted it once");
}

TEST(GgufHostile, StringAndArrayLengths) {
  GgufWriter key;
  ++key.entryCount;
  key.entries.put<uint64_t>(two63).text("x");
  key.payload.resize(64);
  EXPECT_EQ(verdict(key), "t.gguf: metadata entry 0, key: found a length of 9223372036854775808 bytes, wanted at most "
                          "the 96 that are left");
  GgufWriter string;
  string.raw("k", Bytes().put<uint32_t>(STRING).put<uint64_t>(uint64_t(1) << 40));
  string.payload.resize(32);
  EXPECT_EQ(verdict(string),
            "t.gguf: metadata key 'k': found a length of 1099511627776 bytes, wanted at most the 51 that "
            "are left");
  auto arrayOf = [](uint32_t kind, uint64_t count) {
    GgufWriter writer;
    writer.raw("k", Bytes().put<uint32_t>(ARRAY).put(kind).put(count));
    writer.payload.resize(64);
    return verdict(writer);
  };
  EXPECT_EQ(arrayOf(U64, uint64_t(1) << 61),
            "t.gguf: metadata key 'k': found an array of 2305843009213693952 u64, wanted "
            "at most 9 in the 79 bytes that are left");
  EXPECT_EQ(arrayOf(STRING, uint64_t(1) << 61),
            "t.gguf: metadata key 'k': found an array of 2305843009213693952 string, wanted at most 9 in the 79 bytes "
            "that are left");
  EXPECT_EQ(arrayOf(ARRAY, 1),
            "t.gguf: metadata key 'k': found an array of arrays, wanted one of numbers, bools or strings");
  EXPECT_EQ(arrayOf(13, 1), "t.gguf: metadata key 'k', element type: found value type 13, wanted 0 to 12");
  GgufWriter element;
  element.raw("k", Bytes().put<uint32_t>(ARRAY).put<uint32_t>(STRING).put<uint64_t>(2).string("ab").put<uint64_t>(99));
  EXPECT_EQ(verdict(element),
            "t.gguf: metadata key 'k'[1]: found a string longer than the 37 bytes that are left, wanted a shorter one");
}

TEST(GgufHostile, TenMillionEmptyStringsNeedNoMemory) {
  GgufWriter writer;
  constexpr uint64_t count = 10'000'000;
  writer.raw("k", Bytes().put<uint32_t>(ARRAY).put<uint32_t>(STRING).put<uint64_t>(count));
  writer.entries.data.resize(writer.entries.data.size() + 8 * count);
  std::vector<uint8_t> bytes = writer.finish();
  rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  double start = processorTime();
  Expected<gguf::GgufFile> file = gguf::GgufFile::parse(bytes, "t.gguf", types());
  EXPECT_LT(processorTime() - start, 1.0);
  getrusage(RUSAGE_SELF, &after);
  ASSERT_TRUE(bool(file)) << toString(file.takeError());
  EXPECT_EQ(cantFail(file->getCount("k")), count);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 64 * 1024);
}

TEST(GgufHostile, SmallFilesNeedLittleMemory) {
  rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  for (uint64_t count : {uint64_t(1) << 20, uint64_t(1) << 40, two63, UINT64_MAX}) {
    GgufWriter writer;
    writer.tensorCount = count;
    writer.entryCount = count;
    writer.payload.resize(900);
    EXPECT_NE(verdict(writer), "accepted");
  }
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 64 * 1024);
}

TEST(GgufHostile, Names) {
  auto withKey = [](StringRef key) { return verdict(GgufWriter().u32(key, 1)); };
  EXPECT_EQ(withKey(""), "t.gguf: metadata entry 0, key: found '', wanted 1 to 65535 bytes of UTF-8 without control "
                         "characters");
  EXPECT_EQ(withKey(StringRef("a\0b", 3)), "t.gguf: metadata entry 0, key: found 'a\\x00b', wanted 1 to 65535 bytes of "
                                           "UTF-8 without control characters");
  EXPECT_EQ(withKey("a\xff"), "t.gguf: metadata entry 0, key: found 'a\\xff', wanted 1 to 65535 bytes of UTF-8 without "
                              "control characters");
  auto withTensor = [](StringRef name) {
    GgufWriter writer;
    writer.tensor(name, {4}, 0, 16);
    return verdict(writer);
  };
  EXPECT_EQ(withTensor(""),
            "t.gguf: tensor 0, name: found '', wanted 1 to 64 bytes of UTF-8 without control characters");
  EXPECT_EQ(withTensor(StringRef("a\0", 2)),
            "t.gguf: tensor 0, name: found 'a\\x00', wanted 1 to 64 bytes of UTF-8 without control characters");
  EXPECT_EQ(withTensor("\xc3\x28"),
            "t.gguf: tensor 0, name: found '\\xc3(', wanted 1 to 64 bytes of UTF-8 without control characters");
  EXPECT_EQ(withTensor(std::string(65, 'a')), "t.gguf: tensor 0, name: found '" + std::string(65, 'a') +
                                                  "', wanted 1 to 64 bytes of UTF-8 without control characters");
  GgufWriter twice;
  twice.tensor("w", {4}, 0, 16).tensor("w", {4}, 0, 16);
  EXPECT_EQ(verdict(twice), "t.gguf: tensor 'w': found it twice, wanted it once");
}

TEST(GgufHostile, ValuesAndTypes) {
  EXPECT_EQ(verdict(GgufWriter().scalar("k", BOOL, uint8_t(2))),
            "t.gguf: metadata key 'k': found a bool of value 2, wanted 0 or 1");
  EXPECT_EQ(verdict(GgufWriter().scalar("k", static_cast<GgufKind>(13), uint32_t(1))),
            "t.gguf: metadata key 'k': found value type 13, wanted 0 to 12");
  EXPECT_EQ(tensorVerdict({256}, 99),
            "t.gguf: tensor 'w', type: found the unknown type id 99, wanted one of the types that GGUF has");
  EXPECT_EQ(tensorVerdict({256}, 4), "t.gguf: unsupported quantisation Q4_2 of tensor w");
  EXPECT_EQ(tensorVerdict({48}, 3),
            "t.gguf: tensor 'w': found rows of 48 elements, wanted a multiple of 32, the block of Q4_1");
  GgufWriter large;
  large.scalar("k", U64, UINT64_MAX);
  std::vector<uint8_t> bytes = large.finish();
  gguf::GgufFile file = cantFail(gguf::GgufFile::parse(bytes, "t.gguf", types()));
  EXPECT_EQ(toString(file.getInteger("k").takeError()),
            "t.gguf: metadata key 'k': found 18446744073709551615, wanted an integer below 2^63");
}

TEST(GgufHostile, TensorsThatOverlap) {
  GgufWriter writer;
  writer.rawTensor("a", 1, {16}, 0, 0).rawTensor("b", 1, {16}, 0, 32);
  writer.payload.resize(128);
  EXPECT_EQ(verdict(writer), "t.gguf: tensor 'b': found its bytes within those of tensor 'a', wanted separate ones");
}

TEST(GgufHostile, DataSectionBeyondTheEnd) {
  GgufWriter writer;
  writer.tensor("w", {4}, 0, 16);
  std::vector<uint8_t> bytes = writer.finish();
  bytes.resize(24 + writer.tensors.data.size());
  EXPECT_EQ(verdict(bytes), "t.gguf: tensor data: found the end of the file at byte 57, wanted the data at byte 64");
}

/// A file with each kind of value and two tensors.
std::vector<uint8_t> smallFile() {
  GgufWriter writer;
  writer.string("general.architecture", "x").u32("general.alignment", 32).f32("f", 1).strings("s", {"a", "bc"});
  writer.scalar("b", BOOL, uint8_t(1)).scalar("u", U64, uint64_t(5));
  writer.raw("i", Bytes().put<uint32_t>(ARRAY).put<uint32_t>(I32).put<uint64_t>(2).put<int32_t>(1).put<int32_t>(2));
  writer.tensor("w", {4, 2}, 0, 32).tensor("q", {32, 2}, 2, 36);
  return writer.finish();
}

/// Uses everything that a file which was accepted promises.
void use(const gguf::GgufFile &file) {
  uint64_t sum = 0;
  for (const gguf::TensorInfo &tensor : file.tensors())
    for (uint8_t byte : file.tensorBytes(tensor))
      sum += byte;
  for (StringRef key : file.keys()) {
    consumeError(file.getInteger(key).takeError());
    consumeError(file.getFloat(key).takeError());
    consumeError(file.getBool(key).takeError());
    if (Expected<std::vector<StringRef>> strings = file.getStrings(key))
      for (StringRef string : *strings)
        sum += string.size();
    else
      consumeError(strings.takeError());
    consumeError(file.getIntegers(key).takeError());
    consumeError(file.getFloats(key).takeError());
  }
  EXPECT_GE(sum, 0u);
}

void parseAndUse(ArrayRef<uint8_t> bytes, uint64_t &accepted) {
  std::unique_ptr<MemoryBuffer> exact = bufferOf(bytes);
  ArrayRef<uint8_t> view(reinterpret_cast<const uint8_t *>(exact->getBufferStart()), exact->getBufferSize());
  Expected<gguf::GgufFile> file = gguf::GgufFile::parse(view, "t.gguf", types());
  if (!file) {
    EXPECT_FALSE(toString(file.takeError()).empty());
    return;
  }
  ++accepted;
  use(*file);
}

TEST(GgufHostile, EveryPrefix) {
  std::vector<uint8_t> bytes = smallFile();
  ASSERT_EQ(verdict(bytes), "accepted");
  uint64_t accepted = 0;
  // The last tensor's 36 bytes are followed by padding that nobody needs.
  size_t needed = bytes.size() - 28;
  for (size_t length = 0; length < needed; ++length)
    parseAndUse(ArrayRef(bytes).take_front(length), accepted);
  EXPECT_EQ(accepted, 0u);
  parseAndUse(ArrayRef(bytes).take_front(needed), accepted);
  EXPECT_EQ(accepted, 1u);
}

TEST(GgufHostile, EveryByteChanged) {
  const std::vector<uint8_t> bytes = smallFile();
  uint64_t accepted = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::vector<uint8_t> changed = bytes;
    for (int bit = 0; bit < 8; ++bit) {
      changed[at] = bytes[at] ^ (1 << bit);
      parseAndUse(changed, accepted);
    }
    for (uint8_t value : {0, 255}) {
      changed[at] = value;
      parseAndUse(changed, accepted);
    }
  }
  EXPECT_GT(accepted, 0u);
  EXPECT_LT(accepted, bytes.size() * 10);
}

TEST(GgufHostile, EveryWordChanged) {
  const std::vector<uint8_t> bytes = smallFile();
  uint64_t accepted = 0;
  for (size_t at = 0; at + 8 <= bytes.size(); ++at)
    for (uint64_t value :
         {uint64_t(0), uint64_t(1), two63, two63 - 1, UINT64_MAX, UINT64_MAX - 7, two32, bytes.size() + 0ul}) {
      std::vector<uint8_t> changed = bytes;
      memcpy(changed.data() + at, &value, 8);
      parseAndUse(changed, accepted);
    }
  EXPECT_LT(accepted, bytes.size() * 8);
}

TEST(GgufHostile, OpenRefusesWhatIsNoFile) {
  TestFolder folder;
  EXPECT_EQ(toString(gguf::GgufFile::open(folder.path("none.gguf"), types()).takeError()),
            folder.path("none.gguf") + ": No such file or directory");
  EXPECT_EQ(toString(gguf::GgufFile::open(folder.path(), types()).takeError()),
            folder.path() + ": is not a regular file");
  EXPECT_EQ(toString(gguf::GgufFile::open(folder.write("empty.gguf", {}), types()).takeError()),
            folder.path("empty.gguf") + ": magic: found an empty file, wanted 'GGUF'");
}

} // namespace
