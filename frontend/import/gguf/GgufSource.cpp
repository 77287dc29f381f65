// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/import/gguf/GgufSource.h"

#include "frontend/graph/Types.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace tilewright::gguf {

GgufSource::GgufSource(GgufFile opened) : file(std::move(opened)) {
  SmallString<256> real(file.name());
  if (sys::fs::real_path(file.name(), real)) // bytes in memory
    real = file.name();
  realFolder = sys::path::parent_path(real).str();
  std::string plain = sys::path::filename(real).str();
  for (const TensorInfo &tensor : file.tensors())
    list.push_back(
        {tensor.name, tensor.shape, tensor.type->element, tensor.type->name, plain, tensor.offset, tensor.bytes});
}

const SourceTensor *GgufSource::findTensor(StringRef name) const {
  const TensorInfo *tensor = file.findTensor(name);
  return tensor ? &list[tensor - file.tensors().data()] : nullptr;
}

ArrayRef<uint8_t> GgufSource::bytes(const SourceTensor &tensor) const {
  return file.tensorBytes(file.tensors()[&tensor - list.data()]);
}

std::vector<std::string> GgufSource::keys() const {
  std::vector<std::string> keys;
  for (StringRef key : file.keys())
    keys.push_back(key.str());
  return keys;
}

template <typename T> static Expected<tilewright::Value> valueFrom(Expected<T> found) {
  if (!found)
    return found.takeError();
  return tilewright::Value(std::move(*found));
}

Expected<tilewright::Value> GgufSource::getList(StringRef key) const {
  ValueList values;
  auto append = [&](auto found) -> Expected<tilewright::Value> {
    if (!found)
      return found.takeError();
    for (auto &&element : *found)
      if constexpr (std::is_same_v<std::decay_t<decltype(element)>, StringRef>)
        values.emplace_back(element.str());
      else if constexpr (std::is_same_v<std::decay_t<decltype(element)>, float>)
        values.emplace_back(static_cast<double>(element));
      else
        values.emplace_back(static_cast<int64_t>(element));
    return tilewright::Value(std::move(values));
  };
  const gguf::Value *value = file.find(key);
  ValueKind kind = value ? value->elementKind : ValueKind::U8;
  return kind == ValueKind::String ? append(file.getStrings(key))
         : kind == ValueKind::F32  ? append(file.getFloats(key))
                                   : append(file.getIntegers(key));
}

Expected<tilewright::Value> GgufSource::get(StringRef key, ParameterKind kind) const {
  switch (kind) {
  case ParameterKind::Int:
    return valueFrom(file.getInteger(key));
  case ParameterKind::Float:
    return valueFrom(file.getFloat(key));
  case ParameterKind::Bool: {
    Expected<bool> flag = file.getBool(key);
    return flag ? Expected<tilewright::Value>(int64_t(*flag)) : flag.takeError();
  }
  case ParameterKind::String: {
    Expected<StringRef> text = file.getString(key);
    return text ? Expected<tilewright::Value>(text->str()) : text.takeError();
  }
  case ParameterKind::List:
    return getList(key);
  }
  return getList(key);
}

Expected<int64_t> GgufSource::count(StringRef key) const {
  Expected<uint64_t> count = file.getCount(key);
  return count ? Expected<int64_t>(static_cast<int64_t>(*count)) : count.takeError();
}

std::string GgufSource::place(StringRef key) const { return (file.name() + ": metadata key " + quoted(key)).str(); }

} // namespace tilewright::gguf
