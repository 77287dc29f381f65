// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the golden cases: a safetensors file with a case's attributes in its metadata. For trusted test data only.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace tilewright::test {

class Safetensors {
public:
  /// `path` is relative to tests/.
  explicit Safetensors(const std::string &path) {
    std::ifstream file(std::string(TILEWRIGHT_TEST_DATA) + "/" + path, std::ios::binary);
    const std::string all{std::istreambuf_iterator<char>(file), {}};
    uint64_t headerBytes = 0;
    if (all.size() < 8)
      throw std::runtime_error("cannot read test data " + path);
    std::memcpy(&headerBytes, all.data(), 8);
    header = nlohmann::json::parse(all.substr(8, headerBytes));
    body = all.substr(8 + headerBytes);
  }

  /// The `attrs` entry of the metadata.
  nlohmann::json attributes() const {
    return nlohmann::json::parse(header["__metadata__"]["attrs"].get<std::string>());
  }
  std::vector<size_t> shape(const std::string &name) const {
    return header.at(name)["shape"].get<std::vector<size_t>>();
  }

  /// Elements of a tensor, row-major; T must have the stored type's size (BOOL: uint8_t).
  template <typename T> std::vector<T> read(const std::string &name, const std::string &dtype) const {
    const auto &entry = header.at(name);
    if (entry["dtype"] != dtype)
      throw std::runtime_error(name + " is " + entry["dtype"].get<std::string>() + ", wanted " + dtype);
    const size_t begin = entry["data_offsets"][0], end = entry["data_offsets"][1];
    std::vector<T> values((end - begin) / sizeof(T));
    std::memcpy(values.data(), body.data() + begin, end - begin);
    return values;
  }

private:
  nlohmann::json header;
  std::string body;
};

} // namespace tilewright::test
