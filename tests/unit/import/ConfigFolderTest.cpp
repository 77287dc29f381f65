// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folders of config.json and safetensors files: what is read, and what is refused.
#include "frontend/import/safetensors/ConfigFolder.h"
#include "tests/unit/support/SafetensorsWriter.h"
#include "tests/unit/support/TestFolder.h"

#include <gtest/gtest.h>

#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace tilewright;
using namespace tilewright::test;
using safetensors::ConfigFolder;

namespace {

/// What is opened or read of a folder's files.
class OpenLog {
public:
  explicit OpenLog(const std::string &folder) : queue(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    EXPECT_GE(inotify_add_watch(queue, folder.c_str(), IN_OPEN | IN_ACCESS), 0) << folder;
  }
  ~OpenLog() { close(queue); }
  OpenLog(const OpenLog &) = delete;

  /// Names since the last call.
  std::vector<std::string> names() {
    std::vector<std::string> found;
    alignas(inotify_event) char events[4096];
    for (ssize_t bytes; (bytes = read(queue, events, sizeof events)) > 0;)
      for (const char *at = events; at < events + bytes;) {
        const auto *event = reinterpret_cast<const inotify_event *>(at);
        found.push_back(event->len ? event->name : ".");
        at += sizeof *event + event->len;
      }
    return found;
  }

private:
  int queue;
};

class ConfigFolders : public testing::Test {
protected:
  void writeText(StringRef name, StringRef text) { folder.write(name, arrayRefFromStringRef(text)); }
  void writeConfig(StringRef text = "{}") { writeText("config.json", text); }
  void writeIndex(StringRef map) {
    writeText("model.safetensors.index.json", ("{\"metadata\": {}, \"weight_map\": {" + map + "}}").str());
  }

  /// The error without the folder's name, or "accepted".
  std::string verdict() {
    Expected<std::unique_ptr<ConfigFolder>> opened = ConfigFolder::open(folder.path());
    if (opened)
      return "accepted";
    std::string message = toString(opened.takeError());
    for (size_t at; (at = message.find(folder.path() + "/")) != std::string::npos;)
      message.erase(at, folder.path().size() + 1);
    return message;
  }

  std::unique_ptr<ConfigFolder> open() { return cantFail(ConfigFolder::open(folder.path())); }

  TestFolder folder;
};

TEST_F(ConfigFolders, OneFile) {
  writeConfig();
  folder.write("model.safetensors", SafetensorsWriter().tensor("a", {2, 3}).tensor("b", {4}).finish());
  std::unique_ptr<ConfigFolder> source = open();
  ASSERT_EQ(source->tensors().size(), 2u);
  const SourceTensor *b = source->findTensor("b");
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(b->name, "b");
  EXPECT_EQ(b->element, "f32");
  EXPECT_EQ(b->storage, "F32");
  EXPECT_EQ(b->file, "model.safetensors");
  EXPECT_EQ(source->bytes(*b).size(), 16u);
  EXPECT_EQ(source->findTensor("c"), nullptr);
}

TEST_F(ConfigFolders, Metadata) {
  writeConfig(R"({"n": 3, "x": 0.5, "one": 1, "on": true, "s": "t", "list": [1, 2.5, "a"], "none": null,
                  "in": {"deep": {"k": 7}, "empty": {}}, "mixed": [null], "large": 18446744073709551615})");
  folder.write("model.safetensors", SafetensorsWriter().finish());
  std::unique_ptr<ConfigFolder> source = open();
  auto found = [&](StringRef key, ParameterKind kind) -> std::string {
    Expected<Value> value = source->get(key, kind);
    if (value)
      return spell(*value);
    std::string message = toString(value.takeError());
    return message.substr(message.find("config.json"));
  };
  EXPECT_EQ(source->keys(), (std::vector<std::string>{"in.deep.k", "in.empty", "large", "list", "mixed", "n", "none",
                                                      "on", "one", "s", "x"}));
  EXPECT_EQ(found("n", ParameterKind::Int), "3");
  EXPECT_EQ(found("in.deep.k", ParameterKind::Int), "7");
  EXPECT_EQ(found("one", ParameterKind::Float), "1");
  EXPECT_EQ(found("on", ParameterKind::Bool), "1");
  EXPECT_EQ(found("list", ParameterKind::List), "[1, 2.5, 'a']");
  EXPECT_TRUE(source->has("none"));
  EXPECT_TRUE(source->isNull("none"));
  EXPECT_FALSE(source->has("in.deep.q"));
  EXPECT_FALSE(source->has("n.k"));
  EXPECT_EQ(found("q", ParameterKind::Int), "config.json: field 'q': not found, wanted an integer");
  EXPECT_EQ(found("x", ParameterKind::Int), "config.json: field 'x': found 0.5, wanted an integer");
  EXPECT_EQ(found("s", ParameterKind::Bool), "config.json: field 's': found \"t\", wanted a bool");
  EXPECT_EQ(found("on", ParameterKind::Float), "config.json: field 'on': found true, wanted a float");
  EXPECT_EQ(found("mixed", ParameterKind::List), "config.json: field 'mixed': found [null], wanted a list");
  EXPECT_EQ(found("large", ParameterKind::Int),
            "config.json: field 'large': found 18446744073709551615, wanted an integer");
}

TEST_F(ConfigFolders, Shards) {
  writeConfig();
  folder.write("model-1.safetensors", SafetensorsWriter().tensor("a", {2, 3}).finish());
  folder.write("model-2.safetensors", SafetensorsWriter().tensor("b", {4}).finish());
  writeIndex(R"("a": "model-1.safetensors", "b": "model-2.safetensors")");
  std::unique_ptr<ConfigFolder> source = open();
  EXPECT_EQ(source->findTensor("a")->file, "model-1.safetensors");
  EXPECT_EQ(source->findTensor("b")->file, "model-2.safetensors");

  writeIndex(R"("a": "model-1.safetensors", "b": "model-1.safetensors", "c": "model-2.safetensors")");
  EXPECT_EQ(verdict(), "model.safetensors.index.json: index and files differ:\n"
                       "  tensor 'b': found in 'model-2.safetensors', wanted it in 'model-1.safetensors'\n"
                       "  tensor 'c': missing, wanted it in 'model-2.safetensors'");
  writeIndex(R"("a": "model-1.safetensors")");
  EXPECT_EQ(verdict(), "accepted"); // a file that the index does not name is none of the model's
  folder.write("model-1.safetensors", SafetensorsWriter().tensor("a", {2, 3}).tensor("more", {1}).finish());
  EXPECT_EQ(verdict(), "model.safetensors.index.json: index and files differ:\n"
                       "  tensor 'more': found in 'model-1.safetensors', but the index does not have it");
  writeIndex(R"("a": "model-1.safetensors", "b": "model-3.safetensors")");
  EXPECT_EQ(verdict(), "model.safetensors.index.json: weight_map: 'b': the file 'model-3.safetensors' is missing");
  folder.write("model-3.safetensors", SafetensorsWriter().tensor("a", {1}).tensor("b", {1}).finish());
  EXPECT_EQ(verdict(), "model-3.safetensors: tensor 'a': found it in 'model-1.safetensors' too, wanted it once");
  writeIndex(R"("a": "model-1.safetensors", "a": "model-2.safetensors")");
  EXPECT_EQ(verdict(), "model.safetensors.index.json: it has the key 'a' twice");
  writeText("model.safetensors.index.json", R"({"weight_map": {}, "more": 1})");
  EXPECT_EQ(verdict(), "model.safetensors.index.json: found the key 'more', wanted metadata and weight_map");
  writeText("model.safetensors.index.json", R"({"metadata": {}})");
  EXPECT_EQ(verdict(), "model.safetensors.index.json: found no object \"weight_map\", wanted one");
}

TEST_F(ConfigFolders, NamesThatLeaveTheFolder) {
  writeConfig();
  TestFolder outside;
  std::string other = outside.write("x.safetensors", SafetensorsWriter().tensor("a", {1}).finish());
  folder.makeFolder("sub");
  folder.write("sub/x.safetensors", SafetensorsWriter().tensor("a", {1}).finish());
  OpenLog outsideLog(outside.path()), subLog(folder.path("sub"));
  auto named = [&](StringRef name) {
    writeIndex(("\"a\": \"" + name + "\"").str());
    return verdict();
  };
  std::string wanted = ", wanted that of a file in the model's folder",
              head = "model.safetensors.index.json: weight_map: 'a': ";
  EXPECT_EQ(named("../x.safetensors"), head + "file name '../x.safetensors' has a part '..'" + wanted);
  EXPECT_EQ(named(other), head + "file name '" + other + "' is absolute" + wanted);
  EXPECT_EQ(named("a/../../x"), head + "file name 'a/../../x' has a part '..'" + wanted);
  EXPECT_EQ(named("sub/x.safetensors"), head + "file name 'sub/x.safetensors' has a folder in it" + wanted);
  EXPECT_EQ(named(""),
            head + "file name '' is not a file name of 1 to 1024 bytes of UTF-8 without control characters" + wanted);
  EXPECT_EQ(named("x\\u0000.safetensors").find("without control characters") != std::string::npos, true);
  ASSERT_EQ(symlink(other.c_str(), folder.path("link.safetensors").c_str()), 0);
  EXPECT_EQ(named("link.safetensors"), "link.safetensors: a link stands in the way at 'link.safetensors'; weights are "
                                       "read without following links");
  EXPECT_EQ(named("sub"), "sub: is not a regular file");
  ASSERT_EQ(mkfifo(folder.path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(named("fifo"), "fifo: is not a regular file");
  writeText("model.safetensors.index.json", R"({"weight_map": {"a": 1}})");
  EXPECT_EQ(verdict(), head + "found 1, wanted the name of a file");
  // Refused before anything there is opened.
  EXPECT_EQ(outsideLog.names(), std::vector<std::string>());
  EXPECT_EQ(subLog.names(), std::vector<std::string>{"."}); // which turned out to be no file
  readBytes(other);
  EXPECT_EQ(outsideLog.names().front(), "x.safetensors");
}

TEST_F(ConfigFolders, LinksToTheFilesThemselves) {
  TestFolder outside;
  const std::string config = outside.write("c", arrayRefFromStringRef("{}")),
                    weights = outside.write("m", SafetensorsWriter().finish());
  OpenLog log(outside.path());
  ASSERT_EQ(symlink(config.c_str(), folder.path("config.json").c_str()), 0);
  EXPECT_EQ(verdict(),
            "config.json: a link stands in the way at 'config.json'; weights are read without following links");
  ASSERT_EQ(unlink(folder.path("config.json").c_str()), 0);
  writeConfig();
  ASSERT_EQ(symlink(weights.c_str(), folder.path("model.safetensors").c_str()), 0);
  EXPECT_EQ(verdict(), "model.safetensors: a link stands in the way at 'model.safetensors'; weights are read without "
                       "following links");
  EXPECT_EQ(log.names(), std::vector<std::string>());
}

TEST_F(ConfigFolders, WhatIsNoModel) {
  EXPECT_EQ(verdict(), "config.json: No such file or directory");
  writeConfig("{\"a\": " + std::string(100000, '['));
  EXPECT_EQ(verdict(), "config.json: it nests deeper than 16");
  writeConfig(R"({"a": 1, "a": 1})");
  EXPECT_EQ(verdict(), "config.json: it has the key 'a' twice");
  writeConfig();
  EXPECT_EQ(verdict(),
            folder.path() + ": found neither model.safetensors nor model.safetensors.index.json, wanted one of them");
  folder.write("model.safetensors", SafetensorsWriter().finish());
  EXPECT_EQ(verdict(), "accepted");
  writeIndex("");
  EXPECT_EQ(verdict(),
            folder.path() + ": found both model.safetensors and model.safetensors.index.json, wanted one of them");
}

} // namespace
