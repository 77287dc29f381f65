// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A damaged plugin file is an error or, where the damage does not matter, a note; never a crash.
#include "plugins/api/Note.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <unistd.h>

namespace fs = std::filesystem;
using namespace tilewright;

namespace {

std::string read(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class NoteFuzz : public testing::Test {
protected:
  void SetUp() override {
    fs::path folder = fs::read_symlink("/proc/self/exe").parent_path() / "../lib/tilewright/plugins";
    std::vector<fs::path> plugins;
    if (fs::is_directory(folder))
      for (const auto &entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".so")
          plugins.push_back(entry.path());
    if (plugins.empty())
      GTEST_SKIP() << "no plugin was built into " << folder;
    // The smallest, so that the loops stay short.
    good = read(*std::min_element(plugins.begin(), plugins.end(), [](const fs::path &a, const fs::path &b) {
      return fs::file_size(a) < fs::file_size(b);
    }));
    path = testing::TempDir() + "/note-fuzz-" + std::to_string(getpid()) + ".so";
  }
  void TearDown() override {
    if (!path.empty())
      std::remove(path.c_str());
  }

  /// Whether the bytes are taken for a plugin.
  bool isPlugin(const std::string &bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc).write(bytes.data(), bytes.size());
    llvm::Expected<PluginNote> note = readPluginNote(path);
    if (note)
      return true;
    std::string message = llvm::toString(note.takeError());
    EXPECT_NE(message.find(path), std::string::npos) << message;
    EXPECT_NE(message.find("wanted"), std::string::npos) << message;
    return false;
  }

  std::string good, path;
};

TEST_F(NoteFuzz, TheWholeFileIsAPlugin) { EXPECT_TRUE(isPlugin(good)); }

TEST_F(NoteFuzz, EachByteOfTheHeaders) {
  // ELF header and program headers at the start, section headers at the end.
  size_t ends = std::min<size_t>(256, good.size());
  for (size_t i = 0; i < ends; ++i)
    for (unsigned char flip : {0x01, 0xFF}) {
      std::string bytes = good;
      bytes[i] ^= flip;
      isPlugin(bytes);
      bytes = good;
      bytes[bytes.size() - 1 - i] ^= flip;
      isPlugin(bytes);
    }
}

TEST_F(NoteFuzz, EachByteOfTheNote) {
  size_t at = good.find("TWPLUGIN");
  ASSERT_NE(at, std::string::npos);
  // Magic, versions, sizes, LLVM, ABI: any change is refused.
  for (size_t i = 0; i < 24; ++i) {
    std::string bytes = good;
    bytes[at + i] ^= 0x40;
    EXPECT_FALSE(isPlugin(bytes)) << "byte " << i;
  }
}

TEST_F(NoteFuzz, EachSectionOffsetOutOfTheFile) {
  // Eight bytes of ones over every aligned word of the last two kilobytes: sizes, offsets and links of all sections.
  for (size_t i = good.size() - std::min<size_t>(2048, good.size()); i + 8 <= good.size(); i += 8) {
    std::string bytes = good;
    bytes.replace(i, 8, 8, '\xFF');
    isPlugin(bytes);
  }
}

TEST_F(NoteFuzz, EveryLength) {
  size_t step = std::max<size_t>(1, good.size() / 200);
  for (size_t size = 0; size < good.size(); size += size < 128 ? 1 : step)
    EXPECT_FALSE(isPlugin(good.substr(0, size))) << size;
}

} // namespace
