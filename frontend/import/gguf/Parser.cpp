// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The checks of a GGUF file. Every length in it is compared with the bytes that are left before anything is done with
// it.
#include "frontend/graph/Errors.h"
#include "frontend/graph/Types.h"
#include "frontend/import/gguf/GgufFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SwapByteOrder.h"

using namespace llvm;

namespace tilewright::gguf {

static constexpr uint64_t headerBytes = 24;
static constexpr uint64_t maxKeyBytes = 65535; // the format's own limit
static constexpr uint64_t maxTensorNameBytes = 64;
static constexpr uint32_t maxDimensions = 4;
static constexpr uint64_t minAlignment = 8, maxAlignment = 65536;
/// The least a metadata entry can take: length and one byte of key, type, one byte of value.
static constexpr uint64_t minEntryBytes = 8 + 1 + 4 + 1;
/// The least a tensor's entry can take: length and one byte of name, rank, one dimension, type, offset.
static constexpr uint64_t minTensorBytes = 8 + 1 + 4 + 8 + 4 + 8;

class Parser {
public:
  Parser(ArrayRef<uint8_t> bytes, StringRef name, const TypeTable &types) : types(types) {
    file.all = bytes;
    file.fileName = name.str();
  }

  Expected<GgufFile> run() {
    if (Error error = readHeader())
      return error;
    for (uint64_t i = 0; i < entryCount; ++i)
      if (Error error = readEntry(i))
        return error;
    if (Error error = readAlignment())
      return error;
    for (uint64_t i = 0; i < tensorCount; ++i)
      if (Error error = readTensor(i))
        return error;
    if (Error error = placeTensors())
      return error;
    return std::move(file);
  }

private:
  Error fail(const Twine &place, const Twine &found, const Twine &wanted) const {
    return badInput(file.fileName + ": " + place + ": found " + found + ", wanted " + wanted);
  }

  uint64_t left() const { return file.all.size() - at; }

  template <typename T> Expected<T> read(const Twine &place) {
    if (left() < sizeof(T))
      return fail(place, "the end of the file at byte " + Twine(file.all.size()), Twine(sizeof(T)) + " more bytes");
    T value = support::endian::read<T, endianness::little>(file.all.data() + at);
    at += sizeof(T);
    return value;
  }

  Expected<ArrayRef<uint8_t>> take(uint64_t length, const Twine &place) {
    if (length > left())
      return fail(place, "a length of " + Twine(length) + " bytes", "at most the " + Twine(left()) + " that are left");
    ArrayRef<uint8_t> bytes = file.all.slice(at, length);
    at += length;
    return bytes;
  }

  Expected<StringRef> readString(const Twine &place) {
    Expected<uint64_t> length = read<uint64_t>(place);
    if (!length)
      return length.takeError();
    Expected<ArrayRef<uint8_t>> bytes = take(*length, place);
    if (!bytes)
      return bytes.takeError();
    return StringRef(reinterpret_cast<const char *>(bytes->data()), bytes->size());
  }

  Error readHeader() {
    StringRef magic(reinterpret_cast<const char *>(file.all.data()), std::min<size_t>(4, file.all.size()));
    if (magic == "FUGG")
      return unsupported(file.fileName + ": found a big-endian GGUF file, wanted a little-endian one");
    if (magic != "GGUF")
      return fail("magic", magic.empty() ? "an empty file" : quoted(magic), "'GGUF'");
    if (file.all.size() < headerBytes)
      return fail("header", "a file of " + Twine(file.all.size()) + " bytes", "at least " + Twine(headerBytes));
    at = 4;
    file.fileVersion = cantFail(read<uint32_t>("version"));
    uint32_t swapped = llvm::byteswap(file.fileVersion);
    if (swapped >= 1 && swapped <= 3)
      return unsupported(file.fileName + ": found a big-endian GGUF file, wanted a little-endian one");
    if (file.fileVersion != 2 && file.fileVersion != 3)
      return unsupported(file.fileName + ": version: found " + Twine(file.fileVersion) + ", wanted 2 or 3");
    tensorCount = cantFail(read<uint64_t>("tensor count"));
    entryCount = cantFail(read<uint64_t>("metadata count"));
    if (tensorCount > left() / minTensorBytes)
      return fail("tensor count", Twine(tensorCount),
                  "at most " + Twine(left() / minTensorBytes) + " in a file of this size");
    if (entryCount > left() / minEntryBytes)
      return fail("metadata count", Twine(entryCount),
                  "at most " + Twine(left() / minEntryBytes) + " in a file of this size");
    return Error::success();
  }

  Expected<ValueKind> readKind(const Twine &place) {
    Expected<uint32_t> kind = read<uint32_t>(place);
    if (!kind)
      return kind.takeError();
    if (*kind > static_cast<uint32_t>(ValueKind::F64))
      return fail(place, "value type " + Twine(*kind), "0 to 12");
    return static_cast<ValueKind>(*kind);
  }

  Error readEntry(uint64_t index) {
    std::string place = ("metadata entry " + Twine(index)).str();
    Expected<StringRef> key = readString(place + ", key");
    if (!key)
      return key.takeError();
    if (key->empty() || key->size() > maxKeyBytes || !isPrintableText(*key))
      return fail(place + ", key", quoted(*key),
                  "1 to " + Twine(maxKeyBytes) + " bytes of UTF-8 without control characters");
    place = "metadata key " + quoted(*key);
    auto [entry, isNew] = file.values.try_emplace(*key);
    if (!isNew)
      return fail(place, "it twice", "it once");
    file.keyOrder.push_back(entry->first());
    Value &value = entry->second;
    Expected<ValueKind> kind = readKind(place);
    if (!kind)
      return kind.takeError();
    value.kind = *kind;
    if (*kind == ValueKind::Array)
      return readArray(value, place);
    if (*kind == ValueKind::String) {
      Expected<StringRef> string = readString(place);
      if (!string)
        return string.takeError();
      value.bytes = arrayRefFromStringRef(*string);
      return Error::success();
    }
    Expected<ArrayRef<uint8_t>> bytes = take(fixedBytes(*kind), place);
    if (!bytes)
      return bytes.takeError();
    value.bytes = *bytes;
    return checkBools(*kind, *bytes, place);
  }

  Error readArray(Value &value, const std::string &place) {
    Expected<ValueKind> kind = readKind(place + ", element type");
    if (!kind)
      return kind.takeError();
    value.elementKind = *kind;
    Expected<uint64_t> count = read<uint64_t>(place + ", count");
    if (!count)
      return count.takeError();
    value.count = *count;
    if (*kind == ValueKind::Array)
      return fail(place, "an array of arrays", "one of numbers, bools or strings");
    uint64_t leastBytes = *kind == ValueKind::String ? 8 : fixedBytes(*kind);
    if (*count > left() / leastBytes)
      return fail(place, "an array of " + Twine(*count) + " " + spell(*kind),
                  "at most " + Twine(left() / leastBytes) + " in the " + Twine(left()) + " bytes that are left");
    if (*kind != ValueKind::String) {
      Expected<ArrayRef<uint8_t>> bytes = take(*count * leastBytes, place);
      if (!bytes)
        return bytes.takeError();
      value.bytes = *bytes;
      return checkBools(*kind, *bytes, place);
    }
    uint64_t start = at;
    for (uint64_t i = 0; i < *count; ++i) {
      if (left() < 8 || support::endian::read64le(file.all.data() + at) > left() - 8)
        return fail(place + "[" + Twine(i) + "]", "a string longer than the " + Twine(left()) + " bytes that are left",
                    "a shorter one");
      at += 8 + support::endian::read64le(file.all.data() + at);
    }
    value.bytes = file.all.slice(start, at - start);
    return Error::success();
  }

  Error checkBools(ValueKind kind, ArrayRef<uint8_t> bytes, const Twine &place) const {
    if (kind == ValueKind::Bool)
      for (uint8_t byte : bytes)
        if (byte > 1)
          return fail(place, "a bool of value " + Twine(unsigned(byte)), "0 or 1");
    return Error::success();
  }

  Error readAlignment() {
    const Value *value = file.find("general.alignment");
    if (!value)
      return Error::success();
    StringRef place = "metadata key 'general.alignment'";
    if (value->kind != ValueKind::U32)
      return fail(place, "a value of type " + spell(value->kind), "one of type u32");
    file.fileAlignment = support::endian::read32le(value->bytes.data());
    if (!isPowerOf2_64(file.fileAlignment) || file.fileAlignment < minAlignment || file.fileAlignment > maxAlignment)
      return fail(place, Twine(file.fileAlignment),
                  "a power of two from " + Twine(minAlignment) + " to " + Twine(maxAlignment));
    return Error::success();
  }

  Error readTensor(uint64_t index) {
    std::string place = ("tensor " + Twine(index)).str();
    Expected<StringRef> name = readString(place + ", name");
    if (!name)
      return name.takeError();
    if (name->empty() || name->size() > maxTensorNameBytes || !isPrintableText(*name))
      return fail(place + ", name", quoted(*name),
                  "1 to " + Twine(maxTensorNameBytes) + " bytes of UTF-8 without control characters");
    place = "tensor " + quoted(*name);
    if (!file.tensorIndex.try_emplace(*name, file.tensorInfos.size()).second)
      return fail(place, "it twice", "it once");
    Expected<uint32_t> rank = read<uint32_t>(place + ", number of dimensions");
    if (!rank)
      return rank.takeError();
    if (*rank < 1 || *rank > maxDimensions)
      return fail(place + ", number of dimensions", Twine(*rank), "1 to " + Twine(maxDimensions));
    TensorInfo tensor;
    tensor.name = *name;
    for (uint32_t i = 0; i < *rank; ++i) {
      Expected<uint64_t> size = read<uint64_t>(place + ", dimension " + Twine(i));
      if (!size)
        return size.takeError();
      if (*size < 1 || *size > INT64_MAX)
        return fail(place + ", dimension " + Twine(i), Twine(*size), "1 to 2^63 - 1");
      tensor.shape.push_back(static_cast<int64_t>(*size));
    }
    Expected<uint32_t> typeId = read<uint32_t>(place + ", type");
    if (!typeId)
      return typeId.takeError();
    Expected<uint64_t> offset = read<uint64_t>(place + ", offset");
    if (!offset)
      return offset.takeError();
    tensor.offset = *offset;
    tensor.type = types.find(*typeId);
    if (!tensor.type)
      return fail(place + ", type", "the unknown type id " + Twine(*typeId), "one of the types that GGUF has");
    if (tensor.type->elements == 0)
      return unsupported(file.fileName + ": unsupported quantisation " + tensor.type->name + " of tensor " + *name);
    // GGUF's first dimension is the row; the graph's last.
    if (tensor.shape.front() % static_cast<int64_t>(tensor.type->elements) != 0)
      return fail(place, "rows of " + Twine(tensor.shape.front()) + " elements",
                  "a multiple of " + Twine(tensor.type->elements) + ", the block of " + tensor.type->name);
    std::reverse(tensor.shape.begin(), tensor.shape.end());
    SmallVector<int64_t, 4> blocks = tensor.shape;
    blocks.back() /= static_cast<int64_t>(tensor.type->elements);
    std::optional<uint64_t> bytes = checkedByteSize(blocks, tensor.type->bytes);
    if (!bytes || *bytes > file.all.size())
      return fail(place, "dimensions that need " + (bytes ? Twine(*bytes) : Twine("more than 2^64")) + " bytes",
                  "at most the file's " + Twine(file.all.size()));
    tensor.bytes = *bytes;
    file.tensorInfos.push_back(std::move(tensor));
    return Error::success();
  }

  /// Turns offsets within the data section into offsets within the file, and checks them against it and each other.
  Error placeTensors() {
    if (file.tensorInfos.empty())
      return Error::success();
    uint64_t size = file.all.size();
    // `at` is within the file and the alignment is small, so this cannot wrap.
    uint64_t start = alignTo(at, file.fileAlignment);
    if (start > size)
      return fail("tensor data", "the end of the file at byte " + Twine(size), "the data at byte " + Twine(start));
    for (TensorInfo &tensor : file.tensorInfos) {
      std::string place = "tensor " + quoted(tensor.name);
      if (tensor.offset % file.fileAlignment != 0)
        return fail(place + ", offset", Twine(tensor.offset),
                    "a multiple of the alignment " + Twine(file.fileAlignment));
      if (tensor.offset > size - start || tensor.bytes > size - start - tensor.offset)
        return fail(place, Twine(tensor.bytes) + " bytes at offset " + Twine(tensor.offset),
                    "them within the " + Twine(size - start) + " bytes of tensor data");
      tensor.offset += start;
    }
    std::vector<const TensorInfo *> order;
    order.reserve(file.tensorInfos.size());
    for (const TensorInfo &tensor : file.tensorInfos)
      order.push_back(&tensor);
    llvm::sort(order, [](const TensorInfo *a, const TensorInfo *b) { return a->offset < b->offset; });
    for (size_t i = 1; i < order.size(); ++i)
      if (order[i]->offset < order[i - 1]->offset + order[i - 1]->bytes)
        return fail("tensor " + quoted(order[i]->name),
                    "its bytes within those of tensor " + quoted(order[i - 1]->name), "separate ones");
    return Error::success();
  }

  const TypeTable &types;
  GgufFile file;
  uint64_t at = 0;
  uint64_t tensorCount = 0;
  uint64_t entryCount = 0;
};

Expected<GgufFile> GgufFile::parse(ArrayRef<uint8_t> bytes, StringRef name, const TypeTable &types) {
  return Parser(bytes, name, types).run();
}

} // namespace tilewright::gguf
