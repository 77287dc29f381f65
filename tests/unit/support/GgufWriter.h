// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes small GGUF files for tests, well-formed ones and, by its raw parts, malformed ones.
#ifndef TILEWRIGHT_TESTS_UNIT_SUPPORT_GGUFWRITER_H
#define TILEWRIGHT_TESTS_UNIT_SUPPORT_GGUFWRITER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace tilewright::test {

/// Bytes in the file's order (little-endian).
class Bytes {
public:
  template <typename T> Bytes &put(T value) {
    static_assert(std::is_arithmetic_v<T>);
    const auto *raw = reinterpret_cast<const uint8_t *>(&value);
    data.insert(data.end(), raw, raw + sizeof(T));
    return *this;
  }
  Bytes &text(llvm::StringRef text) {
    data.insert(data.end(), text.bytes_begin(), text.bytes_end());
    return *this;
  }
  Bytes &string(llvm::StringRef value) { return put<uint64_t>(value.size()).text(value); }

  std::vector<uint8_t> data;
};

enum GgufKind : uint32_t { U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 };

class GgufWriter {
public:
  template <typename T> GgufWriter &scalar(llvm::StringRef key, GgufKind kind, T value) {
    ++entryCount;
    entries.string(key).put<uint32_t>(kind).put(value);
    return *this;
  }
  GgufWriter &u32(llvm::StringRef key, uint32_t value) { return scalar(key, U32, value); }
  GgufWriter &f32(llvm::StringRef key, float value) { return scalar(key, F32, value); }
  GgufWriter &string(llvm::StringRef key, llvm::StringRef value) {
    ++entryCount;
    entries.string(key).put<uint32_t>(STRING).string(value);
    return *this;
  }
  GgufWriter &strings(llvm::StringRef key, llvm::ArrayRef<std::string> values) {
    ++entryCount;
    entries.string(key).put<uint32_t>(ARRAY).put<uint32_t>(STRING).put<uint64_t>(values.size());
    for (const std::string &value : values)
      entries.string(value);
    return *this;
  }
  /// The rest of an entry as it stands.
  GgufWriter &raw(llvm::StringRef key, const Bytes &typeAndValue) {
    ++entryCount;
    entries.string(key).text({reinterpret_cast<const char *>(typeAndValue.data.data()), typeAndValue.data.size()});
    return *this;
  }

  /// A tensor of `bytes` zero bytes; its offset is the next free one.
  GgufWriter &tensor(llvm::StringRef name, llvm::ArrayRef<uint64_t> dims, uint32_t type, uint64_t bytes) {
    rawTensor(name, dims.size(), dims, type, payload.size());
    payload.resize(payload.size() + bytes);
    payload.resize((payload.size() + alignment - 1) / alignment * alignment);
    return *this;
  }
  GgufWriter &rawTensor(llvm::StringRef name, uint32_t rank, llvm::ArrayRef<uint64_t> dims, uint32_t type,
                        uint64_t offset) {
    ++tensorCount;
    tensors.string(name).put(rank);
    for (uint64_t dim : dims)
      tensors.put(dim);
    tensors.put(type).put(offset);
    return *this;
  }

  std::vector<uint8_t> finish() const {
    Bytes out;
    out.text(magic).put(version).put(tensorCount).put(entryCount);
    out.data.insert(out.data.end(), entries.data.begin(), entries.data.end());
    out.data.insert(out.data.end(), tensors.data.begin(), tensors.data.end());
    out.data.resize((out.data.size() + alignment - 1) / alignment * alignment);
    out.data.insert(out.data.end(), payload.begin(), payload.end());
    return out.data;
  }

  std::string magic = "GGUF";
  uint32_t version = 3;
  uint64_t alignment = 32;
  uint64_t tensorCount = 0;
  uint64_t entryCount = 0;
  Bytes entries;
  Bytes tensors;
  std::vector<uint8_t> payload;
};

} // namespace tilewright::test

#endif // TILEWRIGHT_TESTS_UNIT_SUPPORT_GGUFWRITER_H
