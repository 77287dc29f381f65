// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/import/safetensors/SafetensorsFile.h"

#include "frontend/graph/Errors.h"
#include "frontend/graph/Types.h"
#include "frontend/import/json/StrictJson.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/Endian.h"

#include <tuple>

using namespace llvm;

namespace tilewright::safetensors {

namespace {

constexpr uint64_t lengthBytes = 8, maxHeaderBytes = 100'000'000;
/// The header, an entry, its shape.
constexpr unsigned headerDepth = 3;

struct Dtype {
  uint64_t bits = 0; ///< of an element; 0: no dtype of the format
  StringRef element;
};

Dtype dtypeOf(StringRef name) {
  return StringSwitch<Dtype>(name)
      .Case("F4", {4, ""})
      .Cases({"F6_E2M3", "F6_E3M2"}, {6, ""})
      .Case("BOOL", {8, "i1"})
      .Case("U8", {8, ""})
      .Case("I8", {8, "i8"})
      .Cases({"F8_E5M2", "F8_E4M3", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"}, {8, ""})
      .Case("I16", {16, "i16"})
      .Case("U16", {16, ""})
      .Case("F16", {16, "f16"})
      .Case("BF16", {16, "bf16"})
      .Case("I32", {32, "i32"})
      .Case("U32", {32, ""})
      .Case("F32", {32, "f32"})
      .Case("C64", {64, ""})
      .Case("F64", {64, "f64"})
      .Case("I64", {64, "i64"})
      .Case("U64", {64, ""})
      .Default({});
}

class HeaderReader {
public:
  HeaderReader(ArrayRef<uint8_t> file, StringRef name) : file(file), name(name) {}

  Expected<std::vector<TensorEntry>> run() {
    Expected<StringRef> header = headerText();
    if (!header)
      return header.takeError();
    dataStart = lengthBytes + header->size();
    Expected<json::Object> root = parseStrictJson(*header, (name + ": header").str(), headerDepth);
    if (!root)
      return root.takeError();
    for (auto &[key, value] : *root)
      if (Error error = key == "__metadata__" ? checkMetadata(value) : addTensor(key, value))
        return error;
    if (Error error = checkCover())
      return error;
    return std::move(tensors);
  }

private:
  Error fail(const Twine &what) const { return badInput(name + ": " + what); }

  Expected<StringRef> headerText() const {
    if (file.size() < lengthBytes)
      return fail("found " + Twine(file.size()) + " bytes, wanted at least the 8 of the header's length");
    uint64_t length = support::endian::read64le(file.data());
    if (length > maxHeaderBytes)
      return fail("header: found a length of " + Twine(length) + ", wanted at most " + Twine(maxHeaderBytes));
    if (length > file.size() - lengthBytes)
      return fail("header: found a length of " + Twine(length) + ", wanted at most the " +
                  Twine(file.size() - lengthBytes) + " bytes behind it");
    StringRef text(reinterpret_cast<const char *>(file.data()) + lengthBytes, length);
    if (!text.starts_with("{"))
      return fail("header: found " + (text.empty() ? std::string("nothing") : quoted(text.take_front(1))) +
                  " at its beginning, wanted '{'");
    return text;
  }

  Error checkMetadata(const json::Value &value) const {
    const json::Object *object = value.getAsObject();
    if (!object)
      return fail("header: __metadata__ is no object");
    for (const auto &[key, entry] : *object)
      if (!entry.getAsString())
        return fail("header: __metadata__: the value of " + quoted(key) + " is no string");
    return Error::success();
  }

  Error addTensor(StringRef tensorName, const json::Value &value) {
    auto wrong = [&](const Twine &what) { return fail("tensor " + quoted(tensorName) + ": " + what); };
    if (!isPrintableName(tensorName))
      return wrong("its name is not 1 to 1024 bytes of UTF-8 without control characters");
    const json::Object *entry = value.getAsObject();
    std::optional<StringRef> dtype = entry ? entry->getString("dtype") : std::nullopt;
    const json::Array *shape = entry ? entry->getArray("shape") : nullptr;
    const json::Array *offsets = entry ? entry->getArray("data_offsets") : nullptr;
    if (!dtype || !shape || !offsets || offsets->size() != 2 || entry->size() != 3)
      return wrong("wanted \"dtype\", \"shape\" and two \"data_offsets\", and nothing else");
    TensorEntry tensor{tensorName.str(), dtype->str(), {}, 0, 0};
    const uint64_t elementBits = dtypeOf(*dtype).bits;
    if (!elementBits)
      return wrong("unknown dtype " + quoted(*dtype));
    for (const json::Value &dim : *shape) {
      std::optional<uint64_t> size = dim.getAsUINT64();
      if (!size || *size > INT64_MAX)
        return wrong("its shape has " + shorten(dim) + ", wanted an integer from 0 to 2^63 - 1");
      tensor.shape.push_back(static_cast<int64_t>(*size));
    }
    uint64_t places[2];
    for (auto [place, offset] : zip_equal(places, *offsets)) {
      std::optional<uint64_t> number = offset.getAsUINT64();
      if (!number)
        return wrong("found the offset " + shorten(offset) + ", wanted an integer from 0 to 2^64 - 1");
      place = *number;
    }
    uint64_t dataBytes = file.size() - dataStart;
    if (places[0] > places[1] || places[1] > dataBytes)
      return wrong("found data_offsets [" + Twine(places[0]) + ", " + Twine(places[1]) +
                   "], wanted a range within the " + Twine(dataBytes) + " bytes of data");
    std::optional<uint64_t> bits = checkedByteSize(tensor.shape, 1); // elements, so far
    bits = bits ? checkedMulUnsigned(*bits, elementBits) : bits;
    tensor.offset = dataStart + places[0];
    tensor.bytes = places[1] - places[0];
    if (!bits || *bits % 8 || *bits / 8 != tensor.bytes)
      return wrong("found " + Twine(tensor.bytes) + " bytes, wanted " +
                   (!bits       ? std::string("more than 64 bits can count")
                    : *bits % 8 ? std::to_string(*bits) + " bits, which are no whole bytes"
                                : std::to_string(*bits / 8)) +
                   ", as its shape and dtype say");
    tensors.push_back(std::move(tensor));
    return Error::success();
  }

  Error checkCover() {
    llvm::sort(tensors, [](const TensorEntry &a, const TensorEntry &b) {
      return std::tie(a.offset, a.bytes, a.name) < std::tie(b.offset, b.bytes, b.name);
    });
    uint64_t at = dataStart;
    for (const TensorEntry &tensor : tensors) {
      if (tensor.offset != at)
        return fail("tensor " + quoted(tensor.name) + ": begins at byte " + Twine(tensor.offset - dataStart) +
                    " of the data, wanted " + Twine(at - dataStart) + ", where the one before ends");
      at += tensor.bytes;
    }
    if (at != file.size())
      return fail("found " + Twine(file.size() - at) + " bytes behind the last tensor, wanted none");
    return Error::success();
  }

  ArrayRef<uint8_t> file;
  StringRef name;
  uint64_t dataStart = 0;
  std::vector<TensorEntry> tensors;
};

} // namespace

StringRef graphElement(StringRef dtype) { return dtypeOf(dtype).element; }

Expected<std::vector<TensorEntry>> readHeader(ArrayRef<uint8_t> file, StringRef name) {
  return HeaderReader(file, name).run();
}

} // namespace tilewright::safetensors
