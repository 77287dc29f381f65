// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 10,000 files and what the format's reference reader says to each (tests/golden/safetensors_headers.py): what it
// refuses is refused here, and what it accepts too unless SafetensorsFile.h names the reason.
#include "frontend/import/safetensors/SafetensorsFile.h"

#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace llvm;
using namespace tilewright;

namespace {

/// Words of the messages about what we refuse and the reference does not.
constexpr StringLiteral ownReasons[] = {"at its beginning, wanted '{'",
                                        " twice",
                                        "its name is not 1 to 1024 bytes",
                                        "__metadata__ is no object",
                                        "wanted \"dtype\", \"shape\" and two \"data_offsets\", and nothing else",
                                        "wanted an integer from 0 to 2^63 - 1"};

TEST(SafetensorsReference, TenThousandFiles) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> golden =
      MemoryBuffer::getFile(TILEWRIGHT_TEST_DATA "/golden/safetensors/headers.safetensors");
  ASSERT_TRUE(golden);
  auto all = arrayRefFromStringRef((*golden)->getBuffer());
  ArrayRef<uint8_t> bytes, accepted, sizes;
  for (const safetensors::TensorEntry &entry : cantFail(safetensors::readHeader(all, "headers.safetensors")))
    (entry.name == "bytes"      ? bytes
     : entry.name == "accepted" ? accepted
                                : sizes) = all.slice(entry.offset, entry.bytes);
  ASSERT_EQ(accepted.size(), 10'000u);
  ASSERT_EQ(sizes.size(), accepted.size() * 2 * sizeof(int64_t));

  size_t met[std::size(ownReasons)] = {}, both = 0;
  for (size_t i = 0; i < accepted.size(); ++i) {
    int64_t size[2]; // bytes, zeros behind them
    std::memcpy(size, sizes.data() + i * sizeof size, sizeof size);
    std::vector<uint8_t> file = bytes.take_front(size[0]).vec();
    bytes = bytes.drop_front(size[0]);
    file.resize(file.size() + size[1]);
    Expected<std::vector<safetensors::TensorEntry>> found = safetensors::readHeader(file, "m");
    if (found) {
      EXPECT_TRUE(accepted[i]) << i << ": " << toStringRef(file).str();
      ++both;
      continue;
    }
    const std::string message = toString(found.takeError());
    if (!accepted[i])
      continue;
    const auto *reason = find_if(ownReasons, [&](StringRef reason) { return StringRef(message).contains(reason); });
    if (reason == std::end(ownReasons))
      ADD_FAILURE() << i << ": " << message << ": " << toStringRef(file).str();
    else
      ++met[reason - ownReasons];
  }
  EXPECT_GT(both, 1000u);
  for (auto [reason, count] : zip_equal(ownReasons, met))
    EXPECT_GT(count, 0u) << reason.str();
}

} // namespace
