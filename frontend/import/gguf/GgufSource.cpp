// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/import/gguf/GgufSource.h"

#include "frontend/graph/Errors.h"
#include "frontend/graph/Types.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace tilewright::gguf {

Error GgufSource::add(GgufFile file) {
  SmallString<256> real(file.name());
  if (std::error_code code = sys::fs::real_path(file.name(), real))
    return ioError(file.name(), code);
  StringRef folder = sys::path::parent_path(real);
  if (files.empty())
    realFolder = folder.str();
  else if (folder != realFolder)
    return badInput(file.name() + ": found a link into " + quoted(folder) + ", wanted a file in " + quoted(realFolder) +
                    ", where the first one is");
  for (const TensorInfo &tensor : file.tensors()) {
    if (!index.try_emplace(tensor.name, list.size()).second)
      return badInput(file.name() + ": tensor " + quoted(tensor.name) + ": found in an earlier file as well");
    list.push_back({tensor.name, tensor.shape, tensor.type->element, tensor.type->name, sys::path::filename(real).str(),
                    tensor.offset, tensor.bytes});
    fileOf.push_back(files.size());
  }
  files.push_back(std::move(file));
  return Error::success();
}

/// The number in this entry of a file's; `otherwise` where there is none.
static Expected<int64_t> splitNumber(const GgufFile &file, StringRef key, int64_t otherwise) {
  return file.has(key) ? file.getInteger(key) : Expected<int64_t>(otherwise);
}

/// Fails unless `file` says that it is number `no` of `count`.
static Error checkPart(const GgufFile &file, int64_t no, int64_t count) {
  Expected<int64_t> foundNo = splitNumber(file, "split.no", 0), foundCount = splitNumber(file, "split.count", 1);
  if (!foundNo || !foundCount)
    return joinErrors(foundNo.takeError(), foundCount.takeError());
  if (*foundNo == no && *foundCount == count)
    return Error::success();
  return badInput(file.name() + ": found number " + Twine(*foundNo) + " (from 0) of the " + Twine(*foundCount) +
                  " files that a model is split into, wanted number " + Twine(no) + " of " + Twine(count));
}

Expected<GgufSource> GgufSource::open(StringRef path, const TypeTable &types) {
  Expected<GgufFile> first = GgufFile::open(path, types);
  Expected<int64_t> count = first ? splitNumber(*first, "split.count", 1) : Expected<int64_t>(1);
  if (!first || !count)
    return joinErrors(first.takeError(), count.takeError());
  constexpr int64_t mostFiles = 99999; // in five digits
  if (*count < 1 || *count > mostFiles)
    return badInput(path + ": metadata key 'split.count': found " + Twine(*count) + ", wanted 1 to " +
                    Twine(mostFiles));
  if (Error error = checkPart(*first, 0, *count))
    return std::move(error);
  auto ending = [&](int64_t no) { return formatv("-{0,0+5}-of-{1,0+5}.gguf", no + 1, *count).str(); };
  StringRef stem = path;
  if (*count > 1 && !stem.consume_back(ending(0)))
    return badInput(path + ": found the first of " + Twine(*count) +
                    " files that a model is split into, wanted a name "
                    "that ends in " +
                    quoted(ending(0)) + ", to find the others by");
  Expected<int64_t> tensors = splitNumber(*first, "split.tensors.count", -1);
  if (!tensors)
    return tensors.takeError();
  GgufSource source;
  if (Error error = source.add(std::move(*first)))
    return std::move(error);
  for (int64_t no = 1; no < *count; ++no) {
    Expected<GgufFile> file = GgufFile::open((stem + ending(no)).str(), types);
    if (!file)
      return file.takeError();
    if (Error error = checkPart(*file, no, *count))
      return std::move(error);
    if (Error error = source.add(std::move(*file)))
      return std::move(error);
  }
  if (*tensors >= 0 && static_cast<uint64_t>(*tensors) != source.list.size())
    return badInput(path + ": metadata key 'split.tensors.count': found " + Twine(*tensors) + ", wanted " +
                    Twine(source.list.size()) + ", the tensors of all files");
  return std::move(source);
}

const SourceTensor *GgufSource::findTensor(StringRef name) const {
  auto it = index.find(name);
  return it == index.end() ? nullptr : &list[it->second];
}

ArrayRef<uint8_t> GgufSource::bytes(const SourceTensor &tensor) const {
  const GgufFile &file = files[fileOf[&tensor - list.data()]];
  return file.tensorBytes(*file.findTensor(tensor.name));
}

std::vector<std::string> GgufSource::keys() const {
  std::vector<std::string> keys;
  for (StringRef key : gguf().keys())
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
  const gguf::Value *value = gguf().find(key);
  ValueKind kind = value ? value->elementKind : ValueKind::U8;
  return kind == ValueKind::String ? append(gguf().getStrings(key))
         : kind == ValueKind::F32  ? append(gguf().getFloats(key))
                                   : append(gguf().getIntegers(key));
}

Expected<tilewright::Value> GgufSource::get(StringRef key, ParameterKind kind) const {
  switch (kind) {
  case ParameterKind::Int:
    return valueFrom(gguf().getInteger(key));
  case ParameterKind::Float:
    return valueFrom(gguf().getFloat(key));
  case ParameterKind::Bool: {
    Expected<bool> flag = gguf().getBool(key);
    return flag ? Expected<tilewright::Value>(int64_t(*flag)) : flag.takeError();
  }
  case ParameterKind::String: {
    Expected<StringRef> text = gguf().getString(key);
    return text ? Expected<tilewright::Value>(text->str()) : text.takeError();
  }
  case ParameterKind::List:
    return getList(key);
  }
  return getList(key);
}

Expected<int64_t> GgufSource::count(StringRef key) const {
  Expected<uint64_t> count = gguf().getCount(key);
  return count ? Expected<int64_t>(static_cast<int64_t>(*count)) : count.takeError();
}

std::string GgufSource::place(StringRef key) const { return (gguf().name() + ": metadata key " + quoted(key)).str(); }

} // namespace tilewright::gguf
