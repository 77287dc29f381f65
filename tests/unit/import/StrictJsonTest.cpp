// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/import/json/StrictJson.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace llvm;
using namespace tilewright;

namespace {

std::string verdict(StringRef text, unsigned maxDepth = 4) {
  Expected<json::Object> object = parseStrictJson(text, "f.json", maxDepth);
  if (!object)
    return toString(object.takeError());
  std::string out;
  raw_string_ostream(out) << json::Value(std::move(*object));
  return out;
}

TEST(StrictJson, ReadsWhatIsJson) {
  EXPECT_EQ(verdict(R"( {"a": [1, -2, 0.5, true, null, "x\u00e9"], "b": {"c": {}}} )"),
            "{\"a\":[1,-2,0.5,true,null,\"x\u00e9\"],\"b\":{\"c\":{}}}");
  EXPECT_EQ(verdict("{}"), "{}");
}

TEST(StrictJson, IntegersAreExact) {
  json::Object object = cantFail(parseStrictJson(
      R"({"largest": 18446744073709551615, "odd": 9007199254740993, "least": -9223372036854775808})", "f.json", 1));
  EXPECT_EQ(object.get("largest")->getAsUINT64(), UINT64_MAX);
  EXPECT_EQ(object.get("odd")->getAsInteger(), 9007199254740993);
  EXPECT_EQ(object.get("least")->getAsInteger(), INT64_MIN);
  json::Object beyond = cantFail(parseStrictJson(R"({"n": 18446744073709551616})", "f.json", 1));
  EXPECT_EQ(beyond.get("n")->getAsUINT64(), std::nullopt);
}

TEST(StrictJson, MinusZeroIsNoInteger) {
  json::Object object = cantFail(parseStrictJson(R"({"n": -0})", "f.json", 1));
  EXPECT_EQ(object.get("n")->getAsUINT64(), std::nullopt);
  EXPECT_TRUE(std::signbit(*object.get("n")->getAsNumber()));
}

TEST(StrictJson, ZeroBytesEndNothing) {
  EXPECT_EQ(verdict(StringRef("{}\0", 3)), "f.json: at byte 3: found a zero byte");
  EXPECT_EQ(verdict(StringRef("{}\0{}", 5)), "f.json: at byte 3: found a zero byte");
  EXPECT_EQ(verdict(StringRef("{\"a\": \"\0\"}", 11)), "f.json: at byte 8: found a zero byte");
}

TEST(StrictJson, KeysTwice) {
  EXPECT_EQ(verdict(R"({"a": 1, "b": 2, "a": 1})"), "f.json: it has the key 'a' twice");
  EXPECT_EQ(verdict(R"({"x": {"a": 1, "a": 2}})"), "f.json: it has the key 'a' twice");
  EXPECT_EQ(verdict(R"({"x": {"a": 1}, "y": {"a": 2}, "a": 3})").substr(0, 1), "{");
}

TEST(StrictJson, Depth) {
  EXPECT_EQ(verdict(R"({"a": [[[1]]]})"), R"({"a":[[[1]]]})");
  EXPECT_EQ(verdict(R"({"a": [[[[1]]]]})"), "f.json: it nests deeper than 4");
  EXPECT_EQ(verdict("{\"a\": " + std::string(100000, '[')), "f.json: it nests deeper than 4");
  std::string objects;
  for (int i = 0; i < 100000; ++i)
    objects += "{\"a\":";
  EXPECT_EQ(verdict(objects), "f.json: it nests deeper than 4");
  EXPECT_TRUE(StringRef(verdict(objects, 1000000)).starts_with("f.json: at byte "));
}

TEST(StrictJson, WhatIsNone) {
  EXPECT_EQ(verdict("[1]"), "f.json: found JSON that is no object, wanted one");
  EXPECT_EQ(verdict("7"), "f.json: found JSON that is no object, wanted one");
  for (StringRef text : {"", "{", "{\"a\"}", "{\"a\": }", "{\"a\": 1,}", "{'a': 1}", "{\"a\": 01}", "{\"a\": NaN}",
                         "{\"a\": 1} x", "{\"a\": \"\x01\"}", "{\"a\": \"\xff\"}", "{\"a\": 1e999}",
                         "{\"a\": \"\\ud800\"}", "\xef\xbb", "{\"a\": 1 /* one */}"})
    EXPECT_TRUE(StringRef(verdict(text)).starts_with("f.json: at byte ")) << text.str() << ": " << verdict(text);
  EXPECT_EQ(verdict(StringRef("{\"a\": 1\0}", 9)).substr(0, 16), "f.json: at byte ");
}

} // namespace
