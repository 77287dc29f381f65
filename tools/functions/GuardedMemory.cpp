// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/functions/GuardedMemory.h"

#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

namespace tilewright {

namespace {
constexpr size_t kAlignment = 64;
constexpr uint8_t kFilling = 0xFF;

/// Memories that live, for `GuardedPlace::of`; what does not fit is guarded, but not named.
constexpr unsigned kSlots = 1024;
std::atomic<const GuardedMemory *> slots[kSlots];

size_t pageBytes() {
  static const size_t bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}
} // namespace

GuardedMemory::GuardedMemory(std::string name, size_t bytes) : name(std::move(name)), size(bytes) {
  const size_t page = pageBytes();
  const size_t inner = (bytes + kAlignment + page - 1) / page * page;
  mappingBytes = inner + 2 * page;
  void *mapped = mmap(nullptr, mappingBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    llvm::report_bad_alloc_error("no memory for a tensor");
  mapping = static_cast<uint8_t *>(mapped);
  std::memset(mapping + page, kFilling, inner);
  mprotect(mapping, page, PROT_NONE);
  mprotect(mapping + page + inner, page, PROT_NONE);
  begin = mapping + page + (inner - bytes) / kAlignment * kAlignment;
  for (slot = 0; slot < kSlots; ++slot) {
    const GuardedMemory *free = nullptr;
    if (slots[slot].compare_exchange_strong(free, this))
      break;
  }
}

GuardedMemory::~GuardedMemory() {
  if (slot < kSlots)
    slots[slot] = nullptr;
  munmap(mapping, mappingBytes);
}

bool GuardedMemory::intact() const {
  auto isFilling = [](uint8_t byte) { return byte == kFilling; };
  return std::all_of(mapping + pageBytes(), begin, isFilling) &&
         std::all_of(begin + size, mapping + mappingBytes - pageBytes(), isFilling);
}

GuardedPlace GuardedPlace::of(const void *address) {
  auto *at = static_cast<const uint8_t *>(address);
  for (const auto &entry : slots)
    if (const GuardedMemory *memory = entry;
        memory && at >= memory->mapping && at < memory->mapping + memory->mappingBytes)
      return {memory->name.c_str(), at < memory->begin};
  return {};
}

} // namespace tilewright
