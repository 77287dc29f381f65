// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Headers of safetensors files that lie.
#include "frontend/import/safetensors/SafetensorsFile.h"
#include "tests/unit/support/SafetensorsWriter.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace tilewright;
using namespace tilewright::test;

namespace {

std::string verdict(const std::vector<uint8_t> &file) {
  auto tensors = safetensors::readHeader(file, "m");
  return tensors ? "accepted" : toString(tensors.takeError());
}

std::string entry(StringRef shape, StringRef offsets, StringRef dtype = "F32") {
  return ("{\"w\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}}").str();
}

TEST(SafetensorsHostile, WhatIsAccepted) {
  auto tensors = cantFail(safetensors::readHeader(
      safetensorsOf(
          R"({"__metadata__":{"format":"pt"},"b":{"dtype":"BF16","shape":[2,3],"data_offsets":[8,20]},)"
          R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"e":{"dtype":"I8","shape":[0],"data_offsets":[20,20]}} )",
          20),
      "m"));
  ASSERT_EQ(tensors.size(), 3u);
  EXPECT_EQ(tensors[0].name, "a");
  EXPECT_EQ(tensors[1].shape, (SmallVector<int64_t, 4>{2, 3}));
  EXPECT_EQ(tensors[1].offset, tensors[0].offset + 8);
  EXPECT_EQ(tensors[1].bytes, 12u);
  EXPECT_EQ(safetensors::graphElement("BF16"), "bf16");
  EXPECT_EQ(safetensors::graphElement("F8_E4M3"), "");
  EXPECT_EQ(verdict(safetensorsOf("{}  ", 0)), "accepted");
  EXPECT_EQ(verdict(safetensorsOf(entry("[]", "[0,4]"), 4)), "accepted");
}

TEST(SafetensorsHostile, HeaderLength) {
  EXPECT_EQ(verdict({}), "m: found 0 bytes, wanted at least the 8 of the header's length");
  EXPECT_EQ(verdict(std::vector<uint8_t>(7)), "m: found 7 bytes, wanted at least the 8 of the header's length");
  EXPECT_EQ(verdict(safetensorsOf(0, "", 0)), "m: header: found nothing at its beginning, wanted '{'");
  EXPECT_EQ(verdict(safetensorsOf(1, "{}", 0)).substr(0, 19), "m: header: at byte ");
  EXPECT_EQ(verdict(safetensorsOf(2, "{}", 0)), "accepted");
  EXPECT_EQ(verdict(safetensorsOf(3, "{}", 0)), "m: header: found a length of 3, wanted at most the 2 bytes behind it");
  EXPECT_EQ(verdict(safetensorsOf(100'000'000, "{}", 0)),
            "m: header: found a length of 100000000, wanted at most the 2 bytes behind it");
  for (uint64_t length : {uint64_t(100'000'001), UINT64_MAX, UINT64_MAX - 7, uint64_t(1) << 63})
    EXPECT_EQ(verdict(safetensorsOf(length, "{}", 0)),
              "m: header: found a length of " + std::to_string(length) + ", wanted at most 100000000");
  EXPECT_EQ(verdict(safetensorsOf(" {}", 0)), "m: header: found ' ' at its beginning, wanted '{'");
}

TEST(SafetensorsHostile, Shapes) {
  auto shape = [](StringRef dims) { return verdict(safetensorsOf(entry(dims, "[0,0]"), 0)); };
  EXPECT_EQ(shape("[4294967296,4294967296]"),
            "m: tensor 'w': found 0 bytes, wanted more than 64 bits can count, as its shape and dtype say");
  EXPECT_EQ(shape("[9223372036854775808,2]"),
            "m: tensor 'w': its shape has 9223372036854775808, wanted an integer from 0 to 2^63 - 1");
  EXPECT_EQ(shape("[9223372036854775807,2]"),
            "m: tensor 'w': found 0 bytes, wanted more than 64 bits can count, as its shape and dtype say");
  EXPECT_EQ(shape("[-1,-4]"), "m: tensor 'w': its shape has -1, wanted an integer from 0 to 2^63 - 1");
  EXPECT_EQ(shape("[1.5]"), "m: tensor 'w': its shape has 1.5, wanted an integer from 0 to 2^63 - 1");
  EXPECT_EQ(shape("[\"4\"]"), "m: tensor 'w': its shape has \"4\", wanted an integer from 0 to 2^63 - 1");
  EXPECT_EQ(shape("[18446744073709551616]").substr(0, 31), "m: tensor 'w': its shape has 1.");
  EXPECT_EQ(shape("7"), "m: tensor 'w': wanted \"dtype\", \"shape\" and two \"data_offsets\", and nothing else");
  EXPECT_EQ(
      verdict(safetensorsOf(entry("[4294967296,4294967296]", "[18446744073709551615,18446744073709551615]"), 0)),
      "m: tensor 'w': found data_offsets [18446744073709551615, 18446744073709551615], wanted a range within the 0 "
      "bytes of data");
}

TEST(SafetensorsHostile, Offsets) {
  auto offsets = [](StringRef range, size_t bytes = 8) { return verdict(safetensorsOf(entry("[2]", range), bytes)); };
  EXPECT_EQ(offsets("[0,8]"), "accepted");
  EXPECT_EQ(offsets("[8,0]"), "m: tensor 'w': found data_offsets [8, 0], wanted a range within the 8 bytes of data");
  EXPECT_EQ(offsets("[0,16]"), "m: tensor 'w': found data_offsets [0, 16], wanted a range within the 8 bytes of data");
  EXPECT_EQ(offsets("[0,4]"), "m: tensor 'w': found 4 bytes, wanted 8, as its shape and dtype say");
  EXPECT_EQ(offsets("[-8,0]"), "m: tensor 'w': found the offset -8, wanted an integer from 0 to 2^64 - 1");
  EXPECT_EQ(offsets("[0,8.0]"), "m: tensor 'w': found the offset 8, wanted an integer from 0 to 2^64 - 1");
  EXPECT_EQ(offsets("[0]"), "m: tensor 'w': wanted \"dtype\", \"shape\" and two \"data_offsets\", and nothing else");
  EXPECT_EQ(offsets("[0,8]", 9), "m: found 1 bytes behind the last tensor, wanted none");
  EXPECT_EQ(offsets("[1,9]", 9), "m: tensor 'w': begins at byte 1 of the data, wanted 0, where the one before ends");
  EXPECT_EQ(verdict(safetensorsOf(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                                  R"("b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
                                  12)),
            "m: tensor 'b': begins at byte 4 of the data, wanted 8, where the one before ends");
}

TEST(SafetensorsHostile, KeysAndNames) {
  EXPECT_EQ(verdict(safetensorsOf(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                                  R"("w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
                                  4)),
            "m: header: it has the key 'w' twice");
  EXPECT_EQ(verdict(safetensorsOf(R"({"w":{"dtype":"F32","shape":[1],"shape":[1],"data_offsets":[0,4]}})", 4)),
            "m: header: it has the key 'shape' twice");
  EXPECT_EQ(verdict(safetensorsOf(R"({"__metadata__":{"a":1}})", 0)),
            "m: header: __metadata__: the value of 'a' is no string");
  EXPECT_EQ(verdict(safetensorsOf(R"({"__metadata__":[]})", 0)), "m: header: __metadata__ is no object");
  EXPECT_EQ(verdict(safetensorsOf("{\"w\":" + std::string(100000, '['), 0)), "m: header: it nests deeper than 3");
  EXPECT_EQ(verdict(safetensorsOf(R"({"":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})", 0)),
            "m: tensor '': its name is not 1 to 1024 bytes of UTF-8 without control characters");
  EXPECT_EQ(verdict(safetensorsOf(R"({"a\u0000b":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})", 0))
                    .find("its name is not 1 to 1024 bytes") != std::string::npos,
            true);
  EXPECT_EQ(verdict(safetensorsOf(entry("[1]", "[0,4]", "F23"), 4)), "m: tensor 'w': unknown dtype 'F23'");
}

TEST(SafetensorsHostile, EveryByteChangedAndEveryPrefix) {
  const std::vector<uint8_t> whole = SafetensorsWriter().tensor("a", {2, 3}).tensor("b", {4}).finish();
  ASSERT_EQ(verdict(whole), "accepted");
  size_t refused = 0;
  for (size_t at = 0; at + 40 < whole.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::vector<uint8_t> changed = whole;
      changed[at] ^= 1 << bit;
      refused += verdict(changed) != "accepted";
    }
  EXPECT_GT(refused, 8 * (whole.size() - 40) / 2);
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(verdict({whole.begin(), whole.begin() + size}), "accepted") << size;
}

} // namespace
