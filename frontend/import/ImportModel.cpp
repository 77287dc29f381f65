// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/import/ImportModel.h"

#include "frontend/graph/BeneathFile.h"
#include "frontend/graph/Errors.h"
#include "frontend/graph/GraphBuilder.h"
#include "frontend/import/Emitter.h"
#include "frontend/import/GenerationDefaults.h"
#include "frontend/import/ParameterReader.h"
#include "frontend/import/gguf/GgufSource.h"
#include "frontend/import/safetensors/ConfigFolder.h"
#include "frontend/import/tokenizer/GgufTokenizer.h"
#include "frontend/import/tokenizer/TokenizerFolder.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace tilewright {

namespace {

Expected<std::string> realPath(StringRef path) {
  SmallString<256> real;
  if (std::error_code code = sys::fs::real_path(path.empty() ? "." : path, real))
    return ioError(path.empty() ? "." : path, code);
  return real.str().str();
}

/// How the graph names the files of `source`: by its folder's path from that of the graph, with a slash behind it, or
/// by nothing; see importModel.
Expected<std::string> weightsPrefix(const ModelSource &source, StringRef outputPath, std::vector<std::string> &notes) {
  Expected<std::string> modelFolder = realPath(source.folder());
  if (!modelFolder)
    return modelFolder.takeError();
  Expected<std::string> realFolder = realPath(sys::path::parent_path(outputPath));
  if (!realFolder)
    return realFolder.takeError();
  StringRef relative = *modelFolder;
  if (relative.consume_front(*realFolder) &&
      (relative.empty() || StringRef(*realFolder).ends_with("/") || relative.consume_front("/")))
    return relative.empty() ? std::string() : relative.str() + "/";
  notes.push_back("the model is not beneath the graph's folder " + quoted(*realFolder) +
                  ": give later steps --weights-dir " + quoted(*modelFolder) + ", or write the graph beside the model");
  return std::string();
}

/// The first of these floats that is NaN or infinite. (Blocks are never of numbers that have to be finite.)
std::optional<size_t> firstNotFinite(StringRef element, ArrayRef<uint8_t> bytes) {
  const uint32_t exponent =
      StringSwitch<uint32_t>(element).Case("f32", 0x7F800000).Case("bf16", 0x7F80).Case("f16", 0x7C00).Default(0);
  const size_t width = element == "f32" ? 4 : 2, count = exponent ? bytes.size() / width : 0;
  for (size_t i = 0; i < count; ++i) {
    const uint8_t *at = bytes.data() + i * width;
    if (((width == 4 ? support::endian::read32le(at) : support::endian::read16le(at)) & exponent) == exponent)
      return i;
  }
  return std::nullopt;
}

Error addWeights(const ModelSource &source, const Family &family, const Binding &binding, StringRef prefix,
                 GraphBuilder &builder) {
  StringSet<> added;
  auto add = [&](const BoundWeight *weight) {
    if (!weight || !weight->tensor || !added.insert(weight->name).second)
      return;
    if (!weight->parts.empty() || weight->transposed) {
      std::vector<WeightExtent> parts;
      for (const SourceTensor *part : weight->parts.empty() ? ArrayRef(weight->tensor) : ArrayRef(weight->parts))
        parts.push_back({(prefix + part->file).str(), part->offset, part->bytes, xxh3_64bits(source.bytes(*part))});
      builder.addWeight(weight->name, weight->graphType(), std::move(parts), weight->transposed);
      return;
    }
    const SourceTensor &tensor = *weight->tensor;
    WeightExtent extent{(prefix + tensor.file).str(), tensor.offset + weight->offset, weight->bytes,
                        xxh3_64bits(source.bytes(tensor).slice(weight->offset, weight->bytes))};
    std::optional<RowOrder> order;
    if (!weight->permutation.empty())
      order = RowOrder{weight->permutationDims, weight->permutation};
    builder.addWeight(weight->name, weight->graphType(), std::move(extent), std::move(order));
  };
  auto check = [&](const WeightRule &rule, const BoundWeight *weight) -> Error {
    if (rule.finite && weight && weight->tensor)
      for (const SourceTensor *tensor : weight->parts.empty() ? ArrayRef(weight->tensor) : ArrayRef(weight->parts))
        if (std::optional<size_t> place = firstNotFinite(tensor->element, source.bytes(*tensor)))
          return badInput(source.path() + ": tensor " + quoted(tensor->name) + ": found NaN or infinity at place " +
                          Twine(*place) + ", wanted finite numbers");
    add(weight);
    return Error::success();
  };
  for (const WeightRule &rule : family.weights)
    if (Error error = check(rule, binding.weight(rule.name, -1)))
      return error;
  for (int64_t layer = 0; layer < binding.layerCount(); ++layer)
    for (const WeightRule &rule : family.layerWeights)
      if (Error error = check(rule, binding.weight(rule.name, layer)))
        return error;
  return Error::success();
}

/// The value of a description's expression that has to fit into 32 bits.
Expected<uint32_t> evaluate32(StringRef expression, StringRef what, const ModelSource &source, const Binding &binding) {
  Expected<int64_t> value = evaluateInteger(expression, binding.scope(-1));
  if (!value)
    return value.takeError();
  if (*value < 0 || *value > UINT32_MAX)
    return badInput(source.path() + ": " + what + ": found " + Twine(*value) + ", wanted 32 bits");
  return static_cast<uint32_t>(*value);
}

Error setGeneration(const ModelSource &source, const Family &family, const Binding &binding, GraphBuilder &builder) {
  if (family.generation.empty())
    return Error::success();
  graph::GenerationT generation;
  auto add = [&](StringRef name, const Value &value) -> bool {
    if (name == "bad_ids") {
      const ValueList *ids = std::get_if<ValueList>(&value);
      for (const Value &id : ids ? *ids : ValueList()) {
        const int64_t *number = std::get_if<int64_t>(&id);
        if (!number || *number < 0 || *number > INT32_MAX)
          return false;
        generation.bad_ids.push_back(static_cast<int32_t>(*number));
      }
      return ids;
    }
    const int64_t *number = std::get_if<int64_t>(&value);
    int32_t &field = name == "decoder_start_id" ? generation.decoder_start_id
                     : name == "forced_bos_id"  ? generation.forced_bos_id
                                                : generation.forced_eos_id;
    if (!number || *number < -1 || *number > INT32_MAX)
      return false;
    field = static_cast<int32_t>(*number);
    return true;
  };
  for (const auto &[name, expression] : family.generation) {
    Expected<Value> value = evaluate(expression, binding.scope(-1));
    if (!value)
      return value.takeError();
    if (!add(name, *value))
      return badInput(source.path() + ": " + name + ": found " + spell(*value) + ", wanted " +
                      (name == "bad_ids" ? "a list of tokens" : "a token, or -1 for none"));
  }
  builder.setGeneration(std::move(generation));
  return Error::success();
}

/// All of a graph but its tokenizer.
Error buildGraph(const ModelSource &source, const Family &family, const Binding &binding, StringRef prefix,
                 GraphBuilder &builder) {
  builder.setFamily(family.name);
  if (const std::string &key = family.models[source.kind()].nameKey; !key.empty() && source.has(key)) {
    Expected<Value> name = source.get(key, ParameterKind::String);
    if (!name)
      return name.takeError();
    builder.setName(std::get<std::string>(*name));
  }
  if (!family.contextLength.empty()) {
    Expected<uint32_t> context = evaluate32(family.contextLength, "context length", source, binding);
    if (!context)
      return context.takeError();
    builder.setContextLength(*context);
  }
  if (!family.rereadLength.empty()) {
    Expected<uint32_t> length = evaluate32(family.rereadLength, "reread length", source, binding);
    if (!length)
      return length.takeError();
    builder.setRereadLength(*length);
  }
  if (!family.vocabularySize.empty()) {
    Expected<uint32_t> vocabulary = evaluate32(family.vocabularySize, "vocabulary size", source, binding);
    if (!vocabulary)
      return vocabulary.takeError();
    builder.setVocabularySize(*vocabulary);
  }
  if (Error error = setGeneration(source, family, binding, builder))
    return error;
  if (Error error = addWeights(source, family, binding, prefix, builder))
    return error;
  return emitFunctions(family, binding, builder);
}

/// The model has to have a row for each token.
Error checkVocabulary(const ModelSource &source, const Family &family, const Binding &binding, size_t tokens) {
  const Parameter *parameter = family.findParameter(family.vocabularySize);
  if (!parameter)
    return Error::success();
  Expected<int64_t> rows = evaluateInteger(family.vocabularySize, binding.scope(-1));
  if (!rows)
    return rows.takeError();
  return static_cast<uint64_t>(*rows) >= tokens
             ? Error::success()
             : badInput(source.place(keyOf(*parameter, source)) + ": found " + Twine(*rows) + ", wanted at least " +
                        Twine(tokens) + ", the number of tokens in tokenizer.json");
}

/// The tokenizer that lies in the GGUF file or the folder, if any.
Error setTokenizer(const ModelSource &source, const Family &family, const Binding &binding, const gguf::GgufFile *gguf,
                   GraphBuilder &builder) {
  if (!gguf) {
    Expected<std::unique_ptr<graph::TokenizerT>> tokenizer = readTokenizerFolder(source.folder());
    if (!tokenizer)
      return tokenizer.takeError();
    if (*tokenizer) {
      if (Error error = checkVocabulary(source, family, binding, (*tokenizer)->tokens.size()))
        return error;
      builder.setTokenizer(std::move(**tokenizer));
    }
  } else if (gguf->has("tokenizer.ggml.tokens")) {
    Expected<graph::TokenizerT> tokenizer = readTokenizer(*gguf);
    if (!tokenizer)
      return tokenizer.takeError();
    builder.setTokenizer(std::move(*tokenizer));
  }
  return Error::success();
}

Expected<ImportResult> finish(const ModelSource &source, const Family &family, StringRef outputPath,
                              const gguf::GgufFile *gguf, ArrayRef<std::string> outputs) {
  Expected<Binding> binding = Binding::bind(family, source, outputs);
  if (!binding)
    return binding.takeError();
  ImportResult result;
  Expected<std::string> prefix = weightsPrefix(source, outputPath, result.notes);
  if (!prefix)
    return prefix.takeError();
  append_range(result.notes, binding->notes());
  GraphBuilder builder("tilewright import");
  // Before the weights, of which each byte is read for its hash.
  if (Error error = setTokenizer(source, family, *binding, gguf, builder))
    return error;
  if (Error error = buildGraph(source, family, *binding, *prefix, builder))
    return error;
  Expected<std::vector<uint8_t>> bytes = builder.finish();
  if (!bytes)
    return badInput(source.path() + ": " + toString(bytes.takeError()));
  result.bytes = std::move(*bytes);
  result.family = family.name;
  return result;
}

Expected<ImportResult> importGguf(const FamilyLibrary &library, StringRef path, StringRef outputPath,
                                  ArrayRef<std::string> outputs) {
  Expected<gguf::GgufSource> source = gguf::GgufSource::open(path, library.ggufTypes());
  if (!source)
    return source.takeError();
  const gguf::GgufFile &file = source->gguf();
  Expected<StringRef> architecture = file.getString("general.architecture");
  if (!architecture)
    return architecture.takeError();
  auto has = [&](StringRef key) {
    if (!file.has(key))
      return false;
    Expected<int64_t> value = file.getInteger(key);
    const bool isZero = value && *value == 0;
    consumeError(value.takeError()); // who reads the key tells of it
    return !isZero;
  };
  Expected<Family> family = library.find(SourceKind::Gguf, *architecture, path + ": unknown architecture ", has);
  if (!family)
    return family.takeError();
  return finish(*source, *family, outputPath, &file, outputs);
}

/// The model class has to be one of the family's: others have other heads.
Error checkArchitectures(const ModelSource &source, const Family &family) {
  if (!source.has("architectures") || source.isNull("architectures"))
    return Error::success();
  Expected<Value> found = source.get("architectures", ParameterKind::List);
  if (!found)
    return found.takeError();
  const std::vector<std::string> &known = family.models.config.architectures;
  for (const Value &name : std::get<ValueList>(*found))
    if (const std::string *text = std::get_if<std::string>(&name); !text || !is_contained(known, *text))
      return unsupported(source.place("architectures") + ": found " + spell(name) + ", wanted " +
                         join(map_range(known, [](const std::string &k) { return quoted(k); }), " or "));
  return Error::success();
}

Expected<ImportResult> importFolder(const FamilyLibrary &library, StringRef path, StringRef outputPath,
                                    ArrayRef<std::string> outputs) {
  Expected<std::unique_ptr<safetensors::ConfigFolder>> source = safetensors::ConfigFolder::open(path);
  if (!source)
    return source.takeError();
  Expected<Value> type = (*source)->get("model_type", ParameterKind::String);
  if (!type)
    return type.takeError();
  Expected<Family> family = library.find(SourceKind::Config, std::get<std::string>(*type),
                                         (*source)->place("model_type") + ": unknown model type ",
                                         [&](StringRef key) { return (*source)->has(key); });
  if (!family)
    return family.takeError();
  if (Error error = checkArchitectures(**source, *family))
    return error;
  Expected<ImportResult> result = finish(**source, *family, outputPath, nullptr, outputs);
  if (!result)
    return result.takeError();
  Expected<std::vector<std::string>> defaults =
      readGenerationDefaults(path, graph::GetGraph(result->bytes.data())->vocab_size());
  if (!defaults)
    return defaults.takeError();
  append_range(result->notes, *defaults);
  return result;
}

} // namespace

bool isModel(StringRef path) {
  if (sys::fs::is_directory(path))
    return safetensors::ConfigFolder::isOne(path);
  Expected<MappedFile> file = MappedFile::open(path);
  if (!file) {
    consumeError(file.takeError()); // who reads it tells of it
    return false;
  }
  return toStringRef(file->bytes()).starts_with("GGUF");
}

Expected<ImportResult> importModel(StringRef path, StringRef outputPath, ArrayRef<std::string> outputs) {
  Expected<FamilyLibrary> library = FamilyLibrary::load();
  if (!library)
    return library.takeError();
  return sys::fs::is_directory(path) ? importFolder(*library, path, outputPath, outputs)
                                     : importGguf(*library, path, outputPath, outputs);
}

Expected<std::vector<std::string>> listFamilies() {
  Expected<FamilyLibrary> library = FamilyLibrary::load();
  if (!library)
    return library.takeError();
  std::vector<std::string> lines;
  for (const FamilyLibrary::Entry &family : library->entries()) {
    std::string line = family.name + ":";
    if (!family.models.gguf.types.empty())
      line += " GGUF " + join(family.models.gguf.types, ", ");
    for (const auto &[key, wanted] : family.models.gguf.with)
      line += (wanted ? " with " : " without ") + key;
    if (!family.models.config.types.empty())
      line += std::string(StringRef(line).ends_with(":") ? "" : ";") + " config.json " +
              join(family.models.config.types, ", ");
    lines.push_back(std::move(line));
  }
  return lines;
}

} // namespace tilewright
