// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/safetensors/Safetensors.h"

#include "tools/files/InputFiles.h"
#include "tools/files/OutputFile.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>

using nlohmann::json;

namespace tilewright {
namespace {

constexpr uint64_t maxHeaderBytes = 100'000'000;
constexpr size_t maxDepth = 8;

uint64_t bytesOf(const std::string &dtype) {
  static const std::map<std::string, uint64_t> sizes = {{"BOOL", 1}, {"U8", 1},   {"I8", 1},  {"I16", 2}, {"U16", 2},
                                                        {"F16", 2},  {"BF16", 2}, {"I32", 4}, {"U32", 4}, {"F32", 4},
                                                        {"I64", 8},  {"U64", 8},  {"F64", 8}};
  auto it = sizes.find(dtype);
  return it == sizes.end() ? 0 : it->second;
}

[[noreturn]] void bad(const std::string &path, const std::string &message) {
  throw SafetensorsError(path + ": " + message);
}

/// The JSON reader with two rules that nlohmann's parser leaves to its user: no key twice, bounded depth.
json parseStrict(const std::string &path, const std::string &text) {
  std::vector<std::set<std::string>> keys;
  auto watch = [&](int depth, json::parse_event_t event, json &value) {
    if (static_cast<size_t>(depth) > maxDepth)
      bad(path, "the header is nested deeper than " + std::to_string(maxDepth));
    if (event == json::parse_event_t::object_start)
      keys.emplace_back();
    else if (event == json::parse_event_t::object_end)
      keys.pop_back();
    else if (event == json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
      bad(path, "the header has the key '" + value.get<std::string>() + "' twice");
    return true;
  };
  try {
    return json::parse(text, watch);
  } catch (const json::exception &error) {
    bad(path, std::string("the header is not JSON: ") + error.what());
  }
}

struct Extent {
  uint64_t begin, end;
  std::string name;
};

} // namespace

int64_t NamedTensor::elements() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

SafetensorsFile readSafetensors(const std::string &path) {
  if (const std::optional<std::string> problem = notRegular(path))
    throw SafetensorsError(*problem);
  std::ifstream file(path, std::ios::binary);
  if (!file)
    bad(path, std::strerror(errno));
  file.seekg(0, std::ios::end);
  const uint64_t size = static_cast<uint64_t>(file.tellg());
  file.seekg(0);
  uint8_t lengthBytes[8];
  if (size < 8 || !file.read(reinterpret_cast<char *>(lengthBytes), 8))
    bad(path, "has " + std::to_string(size) + " bytes; a safetensors file has at least 8");
  uint64_t length = 0;
  std::memcpy(&length, lengthBytes, 8);
  if (length > maxHeaderBytes || length > size - 8)
    bad(path, "the header claims " + std::to_string(length) + " bytes; the file has " + std::to_string(size - 8) +
                  " behind it (limit 100000000)");
  std::string header(length, '\0');
  if (!file.read(header.data(), static_cast<std::streamsize>(length)) || header.empty() || header[0] != '{')
    bad(path, "the header does not begin with '{'");
  const uint64_t dataBytes = size - 8 - length;

  SafetensorsFile result;
  std::vector<Extent> extents;
  json root = parseStrict(path, header);
  for (auto &[name, entry] : root.items()) {
    if (name == "__metadata__") {
      for (auto &[key, text] : entry.items()) {
        if (!text.is_string())
          bad(path, "__metadata__ holds a value of '" + key + "' that is not text");
        result.metadata[key] = text.get<std::string>();
      }
      continue;
    }
    auto wrong = [&](const std::string &what) { bad(path, "tensor '" + name + "': " + what); };
    if (!entry.is_object() || !entry.contains("dtype") || !entry.contains("shape") || !entry.contains("data_offsets") ||
        !entry["dtype"].is_string() || !entry["shape"].is_array() || !entry["data_offsets"].is_array() ||
        entry["data_offsets"].size() != 2)
      wrong("wanted dtype, shape and two data_offsets");
    NamedTensor tensor;
    tensor.dtype = entry["dtype"].get<std::string>();
    uint64_t bytes = bytesOf(tensor.dtype);
    if (bytes == 0)
      wrong("unknown dtype '" + tensor.dtype + "'");
    for (const json &dim : entry["shape"]) {
      if (!dim.is_number_unsigned())
        wrong("a dimension is not a whole number >= 0");
      uint64_t extent = dim.get<uint64_t>();
      if (extent > INT64_MAX || __builtin_mul_overflow(bytes, extent, &bytes))
        wrong("its size overflows");
      tensor.shape.push_back(static_cast<int64_t>(extent));
    }
    for (const json &offset : entry["data_offsets"])
      if (!offset.is_number_unsigned())
        wrong("an offset is not a whole number >= 0");
    uint64_t begin = entry["data_offsets"][0].get<uint64_t>(), end = entry["data_offsets"][1].get<uint64_t>();
    if (begin > end || end > dataBytes)
      wrong("data_offsets [" + std::to_string(begin) + ", " + std::to_string(end) + ") lie outside the " +
            std::to_string(dataBytes) + " bytes of data");
    if (end - begin != bytes)
      wrong("has " + std::to_string(end - begin) + " bytes; its shape and dtype want " + std::to_string(bytes));
    extents.push_back({begin, end, name});
    tensor.bytes.resize(bytes);
    file.seekg(static_cast<std::streamoff>(8 + length + begin));
    if (!file.read(reinterpret_cast<char *>(tensor.bytes.data()), static_cast<std::streamsize>(bytes)))
      wrong("cannot be read");
    result.tensors.emplace(name, std::move(tensor));
  }
  std::sort(extents.begin(), extents.end(),
            [](const Extent &a, const Extent &b) { return std::tie(a.begin, a.end) < std::tie(b.begin, b.end); });
  uint64_t at = 0;
  for (const Extent &extent : extents) {
    if (extent.begin != at)
      bad(path, "tensor '" + extent.name + "' begins at byte " + std::to_string(extent.begin) + "; wanted " +
                    std::to_string(at) + " (no gap, no overlap)");
    at = extent.end;
  }
  if (at != dataBytes)
    bad(path, std::to_string(dataBytes - at) + " bytes behind the last tensor");
  return result;
}

std::optional<std::string> readSafetensors(const std::string &path, SafetensorsFile &file) noexcept {
  try {
    file = readSafetensors(path);
    return std::nullopt;
  } catch (const std::exception &error) {
    return error.what();
  }
}

namespace {

uint64_t byteSize(const TensorSource &tensor) {
  uint64_t bytes = bytesOf(tensor.dtype);
  for (int64_t extent : tensor.shape)
    if (extent < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes))
      throw std::runtime_error("tensor '" + tensor.name + "': its size overflows");
  return bytes;
}

void writeAll(const std::string &path, std::vector<TensorSource> tensors,
              const std::map<std::string, std::string> &metadata) {
  // Large elements first, so that every tensor is aligned to its own.
  std::sort(tensors.begin(), tensors.end(), [](const TensorSource &a, const TensorSource &b) {
    const uint64_t left = bytesOf(a.dtype), right = bytesOf(b.dtype);
    return left != right ? left > right : a.name < b.name;
  });
  json header = json::object();
  if (!metadata.empty())
    header["__metadata__"] = metadata;
  uint64_t at = 0;
  for (const TensorSource &tensor : tensors) {
    if (header.contains(tensor.name))
      throw std::runtime_error(path + ": cannot be written: the format has no second tensor '" + tensor.name + "'");
    const uint64_t bytes = byteSize(tensor);
    header[tensor.name] = {{"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {at, at + bytes}}};
    at += bytes;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const uint64_t length = text.size();

  OutputFile file(path);
  file.write(&length, sizeof length);
  file.write(text.data(), text.size());
  for (const TensorSource &tensor : tensors) {
    uint64_t written = 0;
    std::optional<std::string> problem = tensor.write([&](const void *bytes, size_t count) {
      file.write(bytes, count);
      written += count;
    });
    if (problem)
      throw std::runtime_error("tensor '" + tensor.name + "': " + *problem);
    if (written != byteSize(tensor))
      throw std::runtime_error("tensor '" + tensor.name + "': has " + std::to_string(written) +
                               " bytes; its shape and dtype want " + std::to_string(byteSize(tensor)));
  }
  file.commit();
}

} // namespace

void writeSafetensors(const std::string &path, const TensorMap &tensors) {
  std::vector<TensorSource> sources;
  for (const auto &[name, tensor] : tensors)
    sources.push_back({name, tensor.dtype, tensor.shape, [&tensor](const TensorSource::Sink &sink) {
                         sink(tensor.bytes.data(), tensor.bytes.size());
                         return std::optional<std::string>();
                       }});
  writeAll(path, std::move(sources), {});
}

std::optional<std::string> writeSafetensors(const std::string &path, std::vector<TensorSource> tensors,
                                            const std::map<std::string, std::string> &metadata) noexcept {
  try {
    writeAll(path, std::move(tensors), metadata);
    return std::nullopt;
  } catch (const std::exception &error) {
    return error.what();
  }
}

} // namespace tilewright
