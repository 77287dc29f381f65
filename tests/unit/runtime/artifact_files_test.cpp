// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/api/ArtifactFiles.h"

#include "runtime/api/weights_file.h"
#include "tests/unit/runtime/TemporaryFolder.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <numeric>
#include <sys/resource.h>
#include <xxhash.h>

using namespace tilewright;
using namespace tilewright::testing;

namespace {

LayoutDescriptor halves() { return {"f16_rows", 1, 2, 1, {{16, 0, {}, {LayoutField::kRow}}}}; }

} // namespace

TEST(WeightsFile, WritesAlignedWeightsHeaderAndHashes) {
  TemporaryFolder folder;
  WeightsFile file;
  ASSERT_TRUE(file.open(folder.path("model.tww")).ok());
  std::vector<uint8_t> a(2 * 3 * 5), b(2 * 7000);
  std::iota(a.begin(), a.end(), uint8_t{1});
  std::iota(b.begin(), b.end(), uint8_t{9});
  WeightsFile::Placed first, second;
  ASSERT_TRUE(file.add(halves(), 3, 5, nullptr, a.data(), a.size(), first).ok());
  const RowPermutation swap{{2, 3500}, {1, 0}};
  ASSERT_TRUE(file.add(halves(), 7000, 1, &swap, b.data(), b.size(), second).ok());
  EXPECT_EQ(folder.names(), std::vector<std::string>{folder.names().front()}); // the temporary alone
  EXPECT_NE(folder.names().front(), "model.tww");
  WeightsFile::Finished finished;
  ASSERT_TRUE(file.finish(finished).ok());
  EXPECT_EQ(folder.names(), std::vector<std::string>{"model.tww"});

  const std::vector<uint8_t> bytes = readFile(folder.path("model.tww"));
  EXPECT_EQ(first.offset, 4096u);
  EXPECT_EQ(second.offset, 8192u);
  ASSERT_EQ(bytes.size(), second.offset + b.size());
  ASSERT_EQ(finished.length, bytes.size());
  EXPECT_EQ(0, std::memcmp(&bytes[first.offset], a.data(), a.size()));
  EXPECT_EQ(0, std::memcmp(&bytes[second.offset + 2], &b[2 * 3500], 2)); // graph row 1 is stored row (1, 0)
  EXPECT_EQ(first.hash, XXH3_64bits(a.data(), a.size()));
  EXPECT_EQ(second.hash, XXH3_64bits(&bytes[second.offset], b.size()));
  const uint64_t hashes[2] = {first.hash, second.hash};
  tw_weights_header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  EXPECT_EQ(0, std::memcmp(header.magic, "TWW1\0\0\0\0", 8));
  EXPECT_EQ(header.length, bytes.size());
  EXPECT_EQ(header.hash, XXH3_64bits(hashes, 16));
  EXPECT_EQ(header.hash, finished.hash);
}

TEST(WeightsFile, LeavesNothingWhenGivenUp) {
  TemporaryFolder folder;
  {
    WeightsFile file;
    ASSERT_TRUE(file.open(folder.path("model.tww")).ok());
    EXPECT_EQ(folder.names().size(), 1u);
  }
  EXPECT_TRUE(folder.names().empty());
}

TEST(WeightsFile, ReportsAFullDisk) {
  TemporaryFolder folder;
  rlimit before{};
  ASSERT_EQ(0, getrlimit(RLIMIT_FSIZE, &before));
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit tight = before;
  tight.rlim_cur = 16384;
  ASSERT_EQ(0, setrlimit(RLIMIT_FSIZE, &tight));
  Outcome outcome;
  {
    WeightsFile file;
    ASSERT_TRUE(file.open(folder.path("model.tww")).ok());
    std::vector<uint8_t> weight(40000);
    WeightsFile::Placed placed;
    outcome = file.add(halves(), 20000, 1, nullptr, weight.data(), weight.size(), placed);
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(outcome.code, TW_EXHAUSTED);
  EXPECT_NE(outcome.message.find("cannot write"), std::string::npos) << outcome.message;
  EXPECT_TRUE(folder.names().empty());
}

TEST(WeightsFile, ReportsMisuseAsAnOutcome) {
  TemporaryFolder folder;
  WeightsFile file;
  WeightsFile::Placed placed;
  WeightsFile::Finished finished;
  const uint8_t bytes[2] = {};
  EXPECT_EQ(file.add(halves(), 1, 1, nullptr, bytes, 2, placed).code, TW_INVALID);
  EXPECT_EQ(file.finish(finished).code, TW_INVALID);
  EXPECT_EQ(file.open(folder.path("missing/model.tww")).code, TW_IO);
  ASSERT_TRUE(file.open(folder.path("model.tww")).ok());
  EXPECT_EQ(file.add(halves(), 1, 2, nullptr, bytes, 2, placed).message, "source weight has 2 bytes, wanted 4");
  LayoutDescriptor bad = halves();
  bad.fields.clear();
  EXPECT_EQ(checkLayout(bad).code, TW_INVALID);
  EXPECT_TRUE(checkLayout(halves()).ok());
}

TEST(SealCode, AppendsTheHashOfWhatIsThere) {
  TemporaryFolder folder;
  writeFile(folder.path("model.so"), {1, 2, 3});
  ASSERT_TRUE(sealCode(folder.path("model.so")).ok());
  const std::vector<uint8_t> bytes = readFile(folder.path("model.so"));
  ASSERT_EQ(bytes.size(), 3 + sizeof(tw_code_seal));
  tw_code_seal seal;
  std::memcpy(&seal, &bytes[3], sizeof seal);
  EXPECT_EQ(0, std::memcmp(seal.magic, TW_CODE_SEAL_MAGIC, 8));
  EXPECT_EQ(seal.hash, XXH3_64bits(bytes.data(), 3));
  EXPECT_EQ(sealCode(folder.path("missing.so")).code, TW_NOT_FOUND);
}
