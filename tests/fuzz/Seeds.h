// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILEWRIGHT_TESTS_FUZZ_SEEDS_H
#define TILEWRIGHT_TESTS_FUZZ_SEEDS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <cstdlib>
#include <string>

namespace tilewright::test {

/// Writes a seed into the folder that TILEWRIGHT_FUZZ_SEEDS names, if it does.
inline void writeSeed(llvm::StringRef name, llvm::ArrayRef<uint8_t> bytes) {
  const char *folder = std::getenv("TILEWRIGHT_FUZZ_SEEDS");
  if (!folder)
    return;
  std::error_code code;
  llvm::raw_fd_ostream os(std::string(folder) + "/" + name.str(), code);
  if (code) {
    llvm::errs() << folder << ": " << code.message() << '\n';
    std::exit(1);
  }
  os.write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
}

} // namespace tilewright::test

#endif // TILEWRIGHT_TESTS_FUZZ_SEEDS_H
