// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads golden cases (safetensors) where exceptions are off; Safetensors.h is for the others. For trusted test data
// only.
#pragma once

#include "backends/reference/Tensor.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstring>
#include <optional>
#include <string>

namespace tilewright::test {

class GoldenCase {
public:
  /// `path` is relative to tests/. A file that cannot be read is an empty case.
  explicit GoldenCase(const std::string &path) {
    auto buffer = llvm::MemoryBuffer::getFile(std::string(TILEWRIGHT_TEST_DATA) + "/" + path);
    if (!buffer || (*buffer)->getBufferSize() < 8)
      return;
    file = std::move(*buffer);
    uint64_t headerBytes = 0;
    std::memcpy(&headerBytes, file->getBufferStart(), 8);
    auto parsed = llvm::json::parse(file->getBuffer().substr(8, headerBytes));
    if (!parsed) {
      llvm::consumeError(parsed.takeError());
      return;
    }
    header = std::move(*parsed->getAsObject());
    body = file->getBuffer().drop_front(8 + headerBytes);
  }

  bool isRead() const { return !header.empty(); }

  /// An object of the metadata, which holds JSON in strings: "attrs", "f32_err".
  llvm::json::Object metadata(llvm::StringRef key) const {
    auto parsed = llvm::json::parse(*header.getObject("__metadata__")->getString(key));
    return parsed ? *parsed->getAsObject() : (llvm::consumeError(parsed.takeError()), llvm::json::Object());
  }

  bool has(llvm::StringRef name) const { return header.getObject(name); }

  /// A tensor of F32, F64, I64 or BOOL; nothing when the case does not have it.
  std::optional<reference::Tensor> tensor(llvm::StringRef name) const {
    const llvm::json::Object *entry = header.getObject(name);
    if (!entry)
      return std::nullopt;
    reference::Shape shape;
    for (const llvm::json::Value &d : *entry->getArray("shape"))
      shape.push_back(*d.getAsInteger());
    llvm::StringRef kind = *entry->getString("dtype");
    const char *data = body.data() + *(*entry->getArray("data_offsets"))[0].getAsInteger();
    if (kind == "F32" || kind == "F64") {
      reference::Tensor t = reference::Tensor::floats(shape);
      for (int64_t i = 0; i < t.size(); ++i)
        t.reals[i] = kind == "F32" ? at<float>(data, i) : at<double>(data, i);
      return t;
    }
    reference::Tensor t = reference::Tensor::ints(shape);
    for (int64_t i = 0; i < t.size(); ++i)
      t.integers[i] = kind == "I64" ? at<int64_t>(data, i) : at<uint8_t>(data, i);
    return t;
  }

private:
  template <typename T> static T at(const char *data, int64_t i) {
    T value;
    std::memcpy(&value, data + i * sizeof(T), sizeof(T));
    return value;
  }

  std::unique_ptr<llvm::MemoryBuffer> file;
  llvm::json::Object header;
  llvm::StringRef body;
};

} // namespace tilewright::test
