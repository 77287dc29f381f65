// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory of one tensor between pages that nobody may touch.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <string>

namespace tilewright {

/// Memory, aligned to 64 bytes as kernels may expect, that ends right before a page without access (but for the bytes
/// up to a multiple of 64) and begins behind one. What lies between is filled with 0xFF, the bytes of a NaN. A kernel
/// that reads or writes outside ends the process with a fault; one that writes into the filling shows in `intact()`.
class GuardedMemory {
public:
  /// All of it is filled so: what a kernel leaves out is NaN, and the pages are there before the kernel is timed.
  /// `name` is told when the memory is left ("argument 2"); see `findGuarded`.
  GuardedMemory(std::string name, size_t bytes);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory &) = delete;
  GuardedMemory &operator=(const GuardedMemory &) = delete;

  uint8_t *data() const { return begin; }
  llvm::ArrayRef<uint8_t> bytes() const { return {begin, size}; }
  /// The filling is as it was.
  bool intact() const;

private:
  friend struct GuardedPlace;
  std::string name;
  uint8_t *mapping, *begin;
  size_t size, mappingBytes;
  unsigned slot;
};

/// Which guarded memory an address belongs to, for a handler of the fault: no locks, no allocation.
struct GuardedPlace {
  const char *name = nullptr; ///< null: none
  bool isBefore = false;      ///< the address lies before the memory's first byte, else behind its last

  static GuardedPlace of(const void *address);
};

} // namespace tilewright
