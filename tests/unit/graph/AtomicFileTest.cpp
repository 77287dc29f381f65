// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/graph/AtomicFile.h"

#include "frontend/graph/Errors.h"
#include "tests/unit/support/TestFolder.h"

#include <gtest/gtest.h>

#include <csignal>
#include <sys/resource.h>

using namespace llvm;
using namespace tilewright;
using namespace tilewright::test;

namespace {

TEST(AtomicFile, WritesAndReplaces) {
  TestFolder folder;
  std::string path = folder.path("out");
  std::vector<uint8_t> first(1000, 1), second(10, 2);
  EXPECT_EQ(toString(writeFileAtomically(path, first)), "");
  EXPECT_EQ(readBytes(path), first);
  EXPECT_EQ(toString(writeFileAtomically(path, second)), "");
  EXPECT_EQ(readBytes(path), second);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"out"});
}

TEST(AtomicFile, AnErrorOfTheWriterLeavesWhatWasThere) {
  TestFolder folder;
  std::string path = folder.write("out", {1, 2, 3});
  Error error = writeFileAtomically(path, [](raw_pwrite_stream &os) -> Error {
    os << "half of it";
    return badInput("no more");
  });
  EXPECT_EQ(toString(std::move(error)), "no more");
  EXPECT_EQ(readBytes(path), (std::vector<uint8_t>{1, 2, 3}));
  EXPECT_EQ(folder.names(), std::vector<std::string>{"out"});
}

TEST(AtomicFile, AFullDiskLeavesNothing) {
  TestFolder folder;
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 4096;
  auto *handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  Error error = writeFileAtomically(folder.path("out"), std::vector<uint8_t>(100000, 1));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(toString(std::move(error)), folder.path("out") + ": writing failed: File too large");
  EXPECT_TRUE(folder.names().empty());
}

TEST(AtomicFile, PlacesThatCannotBeWritten) {
  TestFolder folder;
  EXPECT_EQ(toString(writeFileAtomically(folder.path("none/out"), std::vector<uint8_t>{1})),
            folder.path("none/out") + ": cannot be written: No such file or directory");
  folder.makeFolder("sub");
  EXPECT_EQ(toString(writeFileAtomically(folder.path("sub"), std::vector<uint8_t>{1})),
            folder.path("sub") + ": cannot be written: it is not a regular file");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"sub"});
}

} // namespace
