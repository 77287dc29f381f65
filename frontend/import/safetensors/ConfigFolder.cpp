// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/import/safetensors/ConfigFolder.h"

#include "frontend/graph/Errors.h"
#include "frontend/graph/Types.h"
#include "frontend/import/json/StrictJson.h"
#include "frontend/import/safetensors/SafetensorsFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

#include <map>

using namespace llvm;

namespace tilewright::safetensors {

namespace {

constexpr StringLiteral configFile = "config.json", wholeFile = "model.safetensors",
                        indexFile = "model.safetensors.index.json";
constexpr unsigned configDepth = 16;

StringRef textOf(const MappedFile &file) {
  return {reinterpret_cast<const char *>(file.bytes().data()), file.bytes().size()};
}

void collectKeys(const json::Object &object, const Twine &prefix, std::vector<std::string> &keys) {
  for (const auto &[name, value] : object) {
    std::string key = (prefix + StringRef(name)).str();
    const json::Object *nested = value.getAsObject();
    if (nested && !nested->empty())
      collectKeys(*nested, key + ".", keys);
    else
      keys.push_back(std::move(key));
  }
}

} // namespace

bool ConfigFolder::isOne(StringRef path) { return sys::fs::exists(path + "/" + configFile); }

Expected<std::unique_ptr<ConfigFolder>> ConfigFolder::open(StringRef path) {
  std::unique_ptr<ConfigFolder> folder(new ConfigFolder(path));
  Expected<MappedFile> config = MappedFile::openBeneath(path, configFile);
  if (!config)
    return config.takeError();
  Expected<json::Object> root = parseStrictJson(textOf(*config), folder->metadataFile(), configDepth);
  if (!root)
    return root.takeError();
  folder->root = std::move(*root);
  if (Error error = folder->readTensors())
    return error;
  return folder;
}

Error ConfigFolder::readTensors() {
  bool whole = sys::fs::exists(folderPath + "/" + wholeFile), index = sys::fs::exists(folderPath + "/" + indexFile);
  if (whole && index)
    return badInput(folderPath + ": found both " + wholeFile + " and " + indexFile + ", wanted one of them");
  if (whole)
    return addFile(wholeFile);
  if (!index)
    return badInput(folderPath + ": found neither " + wholeFile + " nor " + indexFile + ", wanted one of them");
  Expected<MappedFile> mapped = MappedFile::openBeneath(folderPath, indexFile);
  return mapped ? readIndex(*mapped) : mapped.takeError();
}

Error ConfigFolder::addFile(StringRef name) {
  Expected<MappedFile> mapped = MappedFile::openBeneath(folderPath, name);
  if (!mapped)
    return mapped.takeError();
  std::string shown = folderPath + "/" + name.str();
  Expected<std::vector<TensorEntry>> entries = readHeader(mapped->bytes(), shown);
  if (!entries)
    return entries.takeError();
  files.try_emplace(name, std::move(*mapped));
  for (TensorEntry &entry : *entries) {
    auto [place, added] = places.try_emplace(entry.name, list.size());
    if (!added)
      return badInput(shown + ": tensor " + quoted(entry.name) + ": found it in " + quoted(list[place->second].file) +
                      " too, wanted it once");
    list.push_back({place->first(), std::move(entry.shape), graphElement(entry.dtype).str(), std::move(entry.dtype),
                    name.str(), entry.offset, entry.bytes});
  }
  return Error::success();
}

Error ConfigFolder::readIndex(const MappedFile &index) {
  std::string shown = folderPath + "/" + indexFile.str();
  Expected<json::Object> root = parseStrictJson(textOf(index), shown, configDepth);
  if (!root)
    return root.takeError();
  const json::Object *map = root->getObject("weight_map");
  if (!map)
    return badInput(shown + ": found no object \"weight_map\", wanted one");
  for (const auto &[key, value] : *root)
    if (key != "weight_map" && key != "metadata")
      return badInput(shown + ": found the key " + quoted(StringRef(key)) + ", wanted metadata and weight_map");
  std::map<std::string, std::string> fileOf; // by tensor, sorted, so that messages do not depend on a hash
  for (const auto &[tensor, file] : *map) {
    std::optional<StringRef> name = file.getAsString();
    if (!name)
      return badInput(shown + ": weight_map: " + quoted(StringRef(tensor)) + ": found " + shorten(file) +
                      ", wanted the name of a file");
    std::string problem = relativePathProblem(*name);
    if (problem.empty() && name->contains('/'))
      problem = "has a folder in it";
    if (!problem.empty())
      return badInput(shown + ": weight_map: " + quoted(StringRef(tensor)) + ": file name " + quoted(*name) + " " +
                      problem + ", wanted that of a file in the model's folder");
    fileOf[StringRef(tensor).str()] = name->str();
  }
  std::map<std::string, std::string> firstTensor; // by file
  for (const auto &[tensor, file] : fileOf)
    firstTensor.try_emplace(file, tensor);
  for (const auto &[file, tensor] : firstTensor)
    if (!sys::fs::exists(folderPath + "/" + file))
      return badInput(shown + ": weight_map: " + quoted(tensor) + ": the file " + quoted(file) + " is missing");
    else if (Error error = addFile(file))
      return error;
  std::string problems;
  for (const auto &[tensor, file] : fileOf) {
    const SourceTensor *found = findTensor(tensor);
    if (!found)
      problems += "\n  tensor " + quoted(tensor) + ": missing, wanted it in " + quoted(file);
    else if (found->file != file)
      problems +=
          "\n  tensor " + quoted(tensor) + ": found in " + quoted(found->file) + ", wanted it in " + quoted(file);
  }
  for (const SourceTensor &tensor : list)
    if (!fileOf.count(tensor.name.str()))
      problems += "\n  tensor " + quoted(tensor.name) + ": found in " + quoted(tensor.file) +
                  ", but the index does not have it";
  return problems.empty() ? Error::success() : badInput(shown + ": index and files differ:" + problems);
}

const SourceTensor *ConfigFolder::findTensor(StringRef name) const {
  auto place = places.find(name);
  return place == places.end() ? nullptr : &list[place->second];
}

ArrayRef<uint8_t> ConfigFolder::bytes(const SourceTensor &tensor) const {
  return files.find(tensor.file)->second.bytes().slice(tensor.offset, tensor.bytes);
}

std::vector<std::string> ConfigFolder::keys() const {
  std::vector<std::string> keys;
  collectKeys(root, "", keys);
  llvm::sort(keys);
  return keys;
}

const json::Value *ConfigFolder::find(StringRef key) const {
  const json::Object *object = &root;
  while (object) {
    auto [name, rest] = key.split('.');
    const json::Value *value = object->get(name);
    if (rest.empty() || !value)
      return value;
    object = value->getAsObject();
    key = rest;
  }
  return nullptr;
}

bool ConfigFolder::has(StringRef key) const { return find(key); }

bool ConfigFolder::isNull(StringRef key) const {
  const json::Value *value = find(key);
  // Transformers takes an empty table for none.
  return value && (value->getAsNull() || (value->getAsObject() && value->getAsObject()->empty()));
}

std::string ConfigFolder::place(StringRef key) const { return metadataFile() + ": field " + quoted(key); }

Expected<Value> ConfigFolder::get(StringRef key, ParameterKind kind) const {
  const json::Value *value = find(key);
  if (!value)
    return badInput(place(key) + ": not found, wanted " + spell(kind));
  bool fits = kind == ParameterKind::Int      ? value->getAsInteger().has_value()
              : kind == ParameterKind::Float  ? value->getAsNumber().has_value()
              : kind == ParameterKind::Bool   ? value->getAsBoolean().has_value()
              : kind == ParameterKind::String ? value->getAsString().has_value()
                                              : value->getAsArray() != nullptr;
  if (fits && kind == ParameterKind::Float)
    return Value(*value->getAsNumber());
  std::optional<Value> converted = fits ? valueOf(*value) : std::nullopt;
  if (!converted)
    return badInput(place(key) + ": found " + shorten(*value) + ", wanted " + spell(kind));
  return std::move(*converted);
}

Expected<int64_t> ConfigFolder::count(StringRef key) const {
  Expected<Value> value = get(key, ParameterKind::List);
  return value ? Expected<int64_t>(static_cast<int64_t>(std::get<ValueList>(*value).size())) : value.takeError();
}

} // namespace tilewright::safetensors
