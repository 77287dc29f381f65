// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files for tests of code without exceptions.
#ifndef TILEWRIGHT_TESTS_UNIT_SUPPORT_TESTFOLDER_H
#define TILEWRIGHT_TESTS_UNIT_SUPPORT_TESTFOLDER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tilewright::test {

/// A folder that vanishes with the test.
class TestFolder {
public:
  TestFolder() {
    llvm::SmallString<128> path;
    llvm::cantFail(llvm::errorCodeToError(llvm::sys::fs::createUniqueDirectory("tilewright-test", path)));
    llvm::SmallString<128> real;
    llvm::cantFail(llvm::errorCodeToError(llvm::sys::fs::real_path(path, real)));
    root = real.str().str();
  }
  ~TestFolder() { (void)llvm::sys::fs::remove_directories(root); }
  TestFolder(const TestFolder &) = delete;
  TestFolder &operator=(const TestFolder &) = delete;

  std::string path(llvm::StringRef name = "") const { return name.empty() ? root : root + "/" + name.str(); }

  std::string makeFolder(llvm::StringRef name) const {
    llvm::cantFail(llvm::errorCodeToError(llvm::sys::fs::create_directories(path(name))));
    return path(name);
  }

  std::string write(llvm::StringRef name, llvm::ArrayRef<uint8_t> bytes) const {
    std::error_code code;
    llvm::raw_fd_ostream os(path(name), code);
    llvm::cantFail(llvm::errorCodeToError(code));
    os.write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    return path(name);
  }

  std::vector<std::string> names() const {
    std::vector<std::string> result;
    std::error_code code;
    for (llvm::sys::fs::directory_iterator it(root, code), end; it != end && !code; it.increment(code))
      result.push_back(llvm::sys::path::filename(it->path()).str());
    llvm::sort(result);
    return result;
  }

private:
  std::string root;
};

inline std::vector<uint8_t> readBytes(llvm::StringRef path) {
  auto buffer = llvm::cantFail(llvm::errorOrToExpected(llvm::MemoryBuffer::getFile(path)));
  return {buffer->getBuffer().bytes_begin(), buffer->getBuffer().bytes_end()};
}

/// The bytes as a buffer of exactly their size on the heap, so that AddressSanitizer sees a read beyond them.
inline std::unique_ptr<llvm::MemoryBuffer> bufferOf(llvm::ArrayRef<uint8_t> bytes) {
  auto buffer = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(bytes.size(), "test", llvm::Align(16));
  if (!bytes.empty())
    memcpy(buffer->getBufferStart(), bytes.data(), bytes.size());
  return buffer;
}

} // namespace tilewright::test

#endif // TILEWRIGHT_TESTS_UNIT_SUPPORT_TESTFOLDER_H
