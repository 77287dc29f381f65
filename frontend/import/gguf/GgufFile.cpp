// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/import/gguf/GgufFile.h"

#include "frontend/graph/Errors.h"
#include "frontend/graph/Types.h"

#include "llvm/Support/Endian.h"

#include <bit>

using namespace llvm;

namespace tilewright::gguf {

StringRef spell(ValueKind kind) {
  static constexpr StringLiteral names[] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                            "bool", "string", "array", "u64", "i64", "f64"};
  return names[static_cast<uint32_t>(kind)];
}

uint64_t fixedBytes(ValueKind kind) {
  switch (kind) {
  case ValueKind::U8:
  case ValueKind::I8:
  case ValueKind::Bool:
    return 1;
  case ValueKind::U16:
  case ValueKind::I16:
    return 2;
  case ValueKind::U32:
  case ValueKind::I32:
  case ValueKind::F32:
    return 4;
  case ValueKind::U64:
  case ValueKind::I64:
  case ValueKind::F64:
    return 8;
  case ValueKind::String:
  case ValueKind::Array:
    return 0;
  }
  return 0;
}

static std::string describe(const Value &value) {
  if (value.kind != ValueKind::Array)
    return spell(value.kind).str();
  return ("an array of " + Twine(value.count) + " " + spell(value.elementKind)).str();
}

const TensorInfo *GgufFile::findTensor(StringRef name) const {
  auto it = tensorIndex.find(name);
  return it == tensorIndex.end() ? nullptr : &tensorInfos[it->second];
}

const Value *GgufFile::find(StringRef key) const {
  auto it = values.find(key);
  return it == values.end() ? nullptr : &it->second;
}

Expected<const Value *> GgufFile::require(StringRef key, StringRef wanted,
                                          function_ref<bool(const Value &)> fits) const {
  const Value *value = find(key);
  if (!value)
    return badInput(fileName + ": metadata key " + quoted(key) + ": not found, wanted " + wanted);
  if (!fits(*value))
    return badInput(fileName + ": metadata key " + quoted(key) + ": found " + describe(*value) + ", wanted " + wanted);
  return value;
}

static bool isIntegerKind(ValueKind kind) {
  switch (kind) {
  case ValueKind::U8:
  case ValueKind::I8:
  case ValueKind::U16:
  case ValueKind::I16:
  case ValueKind::U32:
  case ValueKind::I32:
  case ValueKind::U64:
  case ValueKind::I64:
    return true;
  default:
    return false;
  }
}

template <typename T> static T readScalar(const uint8_t *data) {
  return support::endian::read<T, endianness::little>(data);
}

/// Reads an integer, or a bool as one; nothing for a u64 beyond the signed range.
static std::optional<int64_t> readInteger(ValueKind kind, const uint8_t *data) {
  switch (kind) {
  case ValueKind::U8:
  case ValueKind::Bool:
    return *data;
  case ValueKind::I8:
    return static_cast<int8_t>(*data);
  case ValueKind::U16:
    return readScalar<uint16_t>(data);
  case ValueKind::I16:
    return readScalar<int16_t>(data);
  case ValueKind::U32:
    return readScalar<uint32_t>(data);
  case ValueKind::I32:
    return readScalar<int32_t>(data);
  case ValueKind::I64:
    return readScalar<int64_t>(data);
  default:
    uint64_t value = readScalar<uint64_t>(data);
    return value <= INT64_MAX ? std::optional<int64_t>(value) : std::nullopt;
  }
}

Expected<int64_t> GgufFile::getInteger(StringRef key) const {
  Expected<const Value *> value = require(key, "an integer", [](const Value &v) { return isIntegerKind(v.kind); });
  if (!value)
    return value.takeError();
  if (std::optional<int64_t> integer = readInteger((*value)->kind, (*value)->bytes.data()))
    return *integer;
  return badInput(fileName + ": metadata key " + quoted(key) + ": found " +
                  Twine(readScalar<uint64_t>((*value)->bytes.data())) + ", wanted an integer below 2^63");
}

Expected<double> GgufFile::getFloat(StringRef key) const {
  Expected<const Value *> value =
      require(key, "a float", [](const Value &v) { return v.kind == ValueKind::F32 || v.kind == ValueKind::F64; });
  if (!value)
    return value.takeError();
  const uint8_t *data = (*value)->bytes.data();
  return (*value)->kind == ValueKind::F32 ? static_cast<double>(std::bit_cast<float>(readScalar<uint32_t>(data)))
                                          : std::bit_cast<double>(readScalar<uint64_t>(data));
}

Expected<bool> GgufFile::getBool(StringRef key) const {
  Expected<const Value *> value = require(key, "a bool", [](const Value &v) { return v.kind == ValueKind::Bool; });
  if (!value)
    return value.takeError();
  return (*value)->bytes[0] != 0;
}

static StringRef asText(ArrayRef<uint8_t> bytes) {
  return StringRef(reinterpret_cast<const char *>(bytes.data()), bytes.size());
}

Expected<StringRef> GgufFile::getString(StringRef key) const {
  Expected<const Value *> value = require(key, "a string", [](const Value &v) { return v.kind == ValueKind::String; });
  if (!value)
    return value.takeError();
  return asText((*value)->bytes);
}

Expected<uint64_t> GgufFile::getCount(StringRef key) const {
  Expected<const Value *> value = require(key, "an array", [](const Value &v) { return v.kind == ValueKind::Array; });
  if (!value)
    return value.takeError();
  return (*value)->count;
}

Expected<std::vector<StringRef>> GgufFile::getStrings(StringRef key) const {
  Expected<const Value *> value = require(key, "an array of strings", [](const Value &v) {
    return v.kind == ValueKind::Array && v.elementKind == ValueKind::String;
  });
  if (!value)
    return value.takeError();
  std::vector<StringRef> strings;
  strings.reserve((*value)->count);
  const uint8_t *data = (*value)->bytes.data();
  // The parser has walked these lengths.
  for (uint64_t i = 0; i < (*value)->count; ++i) {
    uint64_t length = readScalar<uint64_t>(data);
    strings.emplace_back(reinterpret_cast<const char *>(data + 8), length);
    data += 8 + length;
  }
  return strings;
}

Expected<std::vector<int32_t>> GgufFile::getIntegers(StringRef key) const {
  Expected<const Value *> value = require(key, "an array of integers", [](const Value &v) {
    return v.kind == ValueKind::Array && (isIntegerKind(v.elementKind) || v.elementKind == ValueKind::Bool);
  });
  if (!value)
    return value.takeError();
  std::vector<int32_t> integers;
  integers.reserve((*value)->count);
  uint64_t step = fixedBytes((*value)->elementKind);
  for (uint64_t i = 0; i < (*value)->count; ++i) {
    std::optional<int64_t> integer = readInteger((*value)->elementKind, (*value)->bytes.data() + i * step);
    if (!integer || *integer < INT32_MIN || *integer > INT32_MAX)
      return badInput(fileName + ": metadata key " + quoted(key) + "[" + Twine(i) +
                      "]: found an integer beyond 32 bits, wanted one that fits");
    integers.push_back(static_cast<int32_t>(*integer));
  }
  return integers;
}

Expected<std::vector<float>> GgufFile::getFloats(StringRef key) const {
  Expected<const Value *> value = require(key, "an array of f32", [](const Value &v) {
    return v.kind == ValueKind::Array && v.elementKind == ValueKind::F32;
  });
  if (!value)
    return value.takeError();
  std::vector<float> floats;
  floats.reserve((*value)->count);
  for (uint64_t i = 0; i < (*value)->count; ++i)
    floats.push_back(std::bit_cast<float>(readScalar<uint32_t>((*value)->bytes.data() + 4 * i)));
  return floats;
}

Expected<GgufFile> GgufFile::open(StringRef path, const TypeTable &types) {
  Expected<MappedFile> mapped = MappedFile::open(path);
  if (!mapped)
    return mapped.takeError();
  ArrayRef<uint8_t> bytes = mapped->bytes();
  Expected<GgufFile> file = parse(bytes, path, types);
  if (file)
    file->mapping = std::move(*mapped);
  return file;
}

} // namespace tilewright::gguf
