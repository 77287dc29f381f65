// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes small safetensors files for tests: well-formed ones, or a header as it stands.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace tilewright::test {

/// A file with this length, header and `bytes` zero bytes of data.
inline std::vector<uint8_t> safetensorsOf(uint64_t length, llvm::StringRef header, size_t bytes) {
  std::vector<uint8_t> file(8);
  std::memcpy(file.data(), &length, 8);
  file.insert(file.end(), header.bytes_begin(), header.bytes_end());
  file.resize(file.size() + bytes);
  return file;
}

inline std::vector<uint8_t> safetensorsOf(llvm::StringRef header, size_t bytes) {
  return safetensorsOf(header.size(), header, bytes);
}

class SafetensorsWriter {
public:
  /// A tensor of zeros, of a type of 4 bytes.
  SafetensorsWriter &tensor(llvm::StringRef name, std::vector<int64_t> shape, llvm::StringRef dtype = "F32") {
    size_t bytes = 4;
    std::string dims;
    for (int64_t size : shape) {
      bytes *= static_cast<size_t>(size);
      dims += (dims.empty() ? "" : ",") + std::to_string(size);
    }
    entries += (entries.empty() ? "" : ",") +
               ("\"" + name.str() + "\":{\"dtype\":\"" + dtype.str() + "\",\"shape\":[" + dims +
                "],\"data_offsets\":[" + std::to_string(at) + "," + std::to_string(at + bytes) + "]}");
    at += bytes;
    return *this;
  }
  std::vector<uint8_t> finish() const {
    std::string header = "{" + entries + "}";
    header.resize((header.size() + 7) / 8 * 8, ' '); // data are aligned to what they hold
    return safetensorsOf(header, at);
  }

private:
  std::string entries;
  size_t at = 0;
};

} // namespace tilewright::test
