// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which file code was loaded from, whatever name it was asked for by.
#include "runtime/module/CodeFile.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <dlfcn.h>

namespace fs = std::filesystem;
using tilewright::codeFile;

TEST(CodeFile, IsTheProgramForItsOwnCode) {
  EXPECT_EQ(codeFile(reinterpret_cast<const void *>(&codeFile)), fs::read_symlink("/proc/self/exe"));
}

TEST(CodeFile, IsTheLibraryLinksResolvedForWhatItHolds) {
  const fs::path library = codeFile(::dlsym(RTLD_DEFAULT, "qsort"));
  EXPECT_EQ(library, fs::canonical(library));
  EXPECT_TRUE(library.filename().string().starts_with("libc")) << library;
}

// A library that was asked for relative to a folder that is no longer the current one.
TEST(CodeFile, DoesNotDependOnTheCurrentFolder) {
  const fs::path before = fs::current_path();
  const fs::path half = fs::canonical(fs::path(TILEWRIGHT_FAKE_HALVES) / "libtilewright_fake_rt.so");
  fs::current_path(half.parent_path());
  void *library = ::dlopen("./libtilewright_fake_rt.so", RTLD_NOW | RTLD_LOCAL);
  fs::current_path("/");
  ASSERT_TRUE(library) << ::dlerror();
  EXPECT_EQ(codeFile(::dlsym(library, "tilewrightRuntimeHalf")), half);
  fs::current_path(before);
  ::dlclose(library);
}

TEST(CodeFile, IsNothingForWhatIsNoCode) {
  const int local = 0;
  EXPECT_EQ(codeFile(nullptr), fs::path());
  EXPECT_EQ(codeFile(&local), fs::path());
}
