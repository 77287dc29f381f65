// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled models that commands made by themselves (`tilewright generate model.gguf`), by a key that says what they
// were made from. Folders beneath one; the last use of each is its model.so's time of modification.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace tilewright::driver {

class ModelCache {
public:
  struct Entry {
    std::string name;
    uint64_t bytes = 0;
    std::chrono::system_clock::time_point used;
  };

  explicit ModelCache(std::string folder) : folder(std::move(folder)) {}
  /// TILEWRIGHT_CACHE_SIZE in bytes, or with K, M, G or T behind it (powers of 1000); 50G. An error for anything else.
  static llvm::Expected<uint64_t> sizeLimit();

  std::string path(llvm::StringRef key) const { return folder + "/" + key.str(); }
  /// Whether the model is there; then it counts as used now.
  bool use(llvm::StringRef key) const;
  /// Keeps others from compiling the same model while the lock lives; waits for who does. Makes the folder.
  class Lock {
  public:
    explicit Lock(int file) : file(file) {}
    Lock(Lock &&other) noexcept : file(std::exchange(other.file, -1)) {}
    Lock &operator=(Lock &&) = delete;
    ~Lock();

  private:
    int file;
  };
  llvm::Expected<Lock> lock(llvm::StringRef key) const;

  /// What is there, the least recently used first. What killed processes have left half made goes.
  std::vector<Entry> entries() const;
  /// Removes the least recently used models until the others have at most `bytes`, but not `kept`. Returns what was
  /// removed. Models that are in use stay readable to whoever uses them.
  llvm::Expected<std::vector<Entry>> shrink(uint64_t bytes, llvm::StringRef kept = "") const;

private:
  std::string folder;
};

/// "12.5 MB"
std::string sizeText(uint64_t bytes);

} // namespace tilewright::driver
