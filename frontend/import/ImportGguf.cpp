// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/import/ImportGguf.h"

#include "frontend/graph/Errors.h"
#include "frontend/graph/GraphBuilder.h"
#include "frontend/import/Emitter.h"
#include "frontend/import/Tokenizer.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace tilewright {

static Expected<std::string> realPath(StringRef path) {
  SmallString<256> real;
  if (std::error_code code = sys::fs::real_path(path.empty() ? "." : path, real))
    return ioError(path.empty() ? "." : path, code);
  return real.str().str();
}

/// How the graph names `model`, see importGguf.
static Expected<std::string> weightsFileName(StringRef model, StringRef outputPath, std::vector<std::string> &notes) {
  Expected<std::string> realModel = realPath(model);
  if (!realModel)
    return realModel.takeError();
  Expected<std::string> realFolder = realPath(sys::path::parent_path(outputPath));
  if (!realFolder)
    return realFolder.takeError();
  StringRef relative = *realModel;
  if (relative.consume_front(*realFolder) && (StringRef(*realFolder).ends_with("/") || relative.consume_front("/")))
    return relative.str();
  notes.push_back("the model is not beneath the graph's folder " + quoted(*realFolder) +
                  ": give later steps --weights-dir " + quoted(sys::path::parent_path(*realModel)) +
                  ", or write the graph beside the model");
  return sys::path::filename(*realModel).str();
}

static void addWeights(const gguf::GgufFile &file, const Family &family, const Binding &binding, StringRef fileName,
                       GraphBuilder &builder) {
  StringSet<> added;
  auto add = [&](const BoundWeight *weight) {
    if (!weight || !weight->tensor || !added.insert(weight->tensor->name).second)
      return;
    const gguf::TensorInfo &tensor = *weight->tensor;
    WeightExtent extent{fileName.str(), tensor.offset, tensor.bytes, xxh3_64bits(file.tensorBytes(tensor))};
    std::optional<RowOrder> order;
    if (!weight->permutation.empty())
      order = RowOrder{weight->permutationDims, weight->permutation};
    builder.addWeight(tensor.name, graphType(tensor), std::move(extent), std::move(order));
  };
  for (const WeightRule &rule : family.weights)
    add(binding.weight(rule.name, -1));
  for (int64_t layer = 0; layer < binding.layerCount(); ++layer)
    for (const WeightRule &rule : family.layerWeights)
      add(binding.weight(rule.name, layer));
}

Expected<ImportResult> importGguf(StringRef path, StringRef outputPath) {
  Expected<FamilyLibrary> library = FamilyLibrary::load();
  if (!library)
    return library.takeError();
  Expected<gguf::GgufFile> file = gguf::GgufFile::open(path, library->ggufTypes());
  if (!file)
    return file.takeError();
  if (file->has("split.count")) {
    Expected<int64_t> count = file->getInteger("split.count");
    if (!count)
      return count.takeError();
    if (*count != 1)
      return unsupported(path + ": found one of " + Twine(*count) +
                         " files that a model is split into, wanted the whole model in one file");
  }
  Expected<StringRef> architecture = file->getString("general.architecture");
  if (!architecture)
    return architecture.takeError();
  Expected<const Family *> family = library->findArchitecture(*architecture, path);
  if (!family)
    return family.takeError();
  Expected<Binding> binding = Binding::bind(**family, *file);
  if (!binding)
    return binding.takeError();
  ImportResult result;
  Expected<std::string> fileName = weightsFileName(path, outputPath, result.notes);
  if (!fileName)
    return fileName.takeError();

  GraphBuilder builder("tilewright import");
  builder.setFamily((*family)->name);
  if (!(*family)->modelNameKey.empty() && file->has((*family)->modelNameKey)) {
    Expected<StringRef> name = file->getString((*family)->modelNameKey);
    if (!name)
      return name.takeError();
    builder.setName(*name);
  }
  if (!(*family)->contextLength.empty()) {
    Expected<int64_t> context = evaluateInteger((*family)->contextLength, binding->numbers());
    if (!context)
      return context.takeError();
    if (*context < 0 || *context > UINT32_MAX)
      return badInput(path + ": context length: found " + Twine(*context) + ", wanted 32 bits");
    builder.setContextLength(static_cast<uint32_t>(*context));
  }
  addWeights(*file, **family, *binding, *fileName, builder);
  if (Error error = emitFunctions(**family, *binding, builder))
    return error;
  if ((*family)->tokenizer) {
    Expected<graph::TokenizerT> tokenizer = readTokenizer(*(*family)->tokenizer, *file);
    if (!tokenizer)
      return tokenizer.takeError();
    builder.setTokenizer(std::move(*tokenizer));
  }
  Expected<std::vector<uint8_t>> bytes = builder.finish();
  if (!bytes)
    return badInput(path + ": " + toString(bytes.takeError()));
  result.bytes = std::move(*bytes);
  result.family = (*family)->name;
  for (const std::string &key : binding->ignoredKeys())
    result.notes.push_back("metadata key " + quoted(key) + " is not known to family " + quoted((*family)->name) +
                           " and had no influence");
  return result;
}

} // namespace tilewright
