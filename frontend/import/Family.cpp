// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads family descriptions. json::Path reports where a description goes wrong: "llama.json: missing value at
// (root).functions[1].name".
#include "frontend/import/Family.h"

#include "frontend/graph/Errors.h"
#include "frontend/graph/Types.h"
#include "frontend/import/EmbeddedFiles.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <cstdlib>
#include <map>

using namespace llvm;

namespace tilewright {

using json::ObjectMapper;
using json::Path;

static bool fromJSON(const json::Value &value, ParameterKind &kind, Path path) {
  std::optional<StringRef> text = value.getAsString();
  for (auto [name, known] : {std::pair<StringRef, ParameterKind>{"int", ParameterKind::Int},
                             {"float", ParameterKind::Float},
                             {"bool", ParameterKind::Bool},
                             {"string", ParameterKind::String}})
    if (text == name) {
      kind = known;
      return true;
    }
  path.report("expected int, float, bool or string");
  return false;
}

static bool fromJSON(const json::Value &value, Parameter &parameter, Path path) {
  ObjectMapper mapper(value, path);
  if (!mapper || !mapper.map("name", parameter.name) || !mapper.map("type", parameter.kind) ||
      !mapper.mapOptional("gguf", parameter.key) || !mapper.mapOptional("gguf_count", parameter.countKey) ||
      !mapper.mapOptional("about", parameter.about) || !mapper.map("min", parameter.min) ||
      !mapper.map("max", parameter.max) || !mapper.map("above", parameter.above))
    return false;
  const json::Object &object = *value.getAsObject();
  if (const json::Value *byDefault = object.get("default"))
    parameter.byDefault = *byDefault;
  if (const json::Array *allowed = object.getArray("allowed"))
    parameter.allowed.assign(allowed->begin(), allowed->end());
  if (parameter.key.empty() && parameter.countKey.empty() && !parameter.byDefault) {
    path.report("expected gguf, gguf_count or default");
    return false;
  }
  return true;
}

static bool fromJSON(const json::Value &value, Requirement &requirement, Path path) {
  ObjectMapper mapper(value, path);
  return mapper && mapper.map("require", requirement.expression) && mapper.map("message", requirement.message);
}

static bool fromJSON(const json::Value &value, PermutationRule &rule, Path path) {
  ObjectMapper mapper(value, path);
  std::vector<int64_t> perm;
  if (!mapper || !mapper.map("dims", rule.dims) || !mapper.map("perm", perm))
    return false;
  if (perm.size() != rule.dims.size() || any_of(perm, [](int64_t axis) { return axis < 0 || axis > UINT8_MAX; })) {
    path.field("perm").report("expected one axis for each of dims");
    return false;
  }
  rule.perm.assign(perm.begin(), perm.end());
  return true;
}

static bool fromJSON(const json::Value &value, WeightRule &rule, Path path) {
  ObjectMapper mapper(value, path);
  return mapper && mapper.map("name", rule.name) && mapper.map("gguf", rule.tensor) &&
         mapper.map("shape", rule.shape) && mapper.mapOptional("optional", rule.optional) &&
         mapper.mapOptional("otherwise", rule.otherwise) && mapper.map("row_permutation", rule.permutation);
}

static bool fromJSON(const json::Value &value, OpRule &rule, Path path) {
  ObjectMapper mapper(value, path);
  std::vector<std::string> operands;
  if (!mapper || !mapper.mapOptional("op", rule.op) || !mapper.mapOptional("call", rule.callee) ||
      !mapper.mapOptional("operands", operands) || !mapper.mapOptional("operand_groups", rule.operandGroups) ||
      !mapper.mapOptional("results", rule.results) || !mapper.mapOptional("each_layer", rule.eachLayer))
    return false;
  if (!rule.op.empty() + !rule.callee.empty() + !rule.eachLayer.empty() != 1) {
    path.report("expected one of op, call and each_layer");
    return false;
  }
  rule.grouped = !rule.operandGroups.empty();
  if (!operands.empty() && rule.grouped) {
    path.report("expected operands or operand_groups");
    return false;
  }
  if (!operands.empty())
    rule.operandGroups.push_back(std::move(operands));
  if (const json::Object *attributes = value.getAsObject()->getObject("attributes"))
    for (const auto &[name, attribute] : *attributes)
      rule.attributes.emplace_back(StringRef(name).str(), attribute);
  llvm::sort(rule.attributes, [](const auto &a, const auto &b) { return a.first < b.first; });
  return true;
}

static bool fromJSON(const json::Value &value, NamedRule &rule, Path path) {
  if (std::optional<StringRef> text = value.getAsString()) {
    rule.text = text->str();
    return true;
  }
  rule.eachLayer = true;
  ObjectMapper mapper(value, path);
  return mapper && mapper.map("each_layer", rule.text);
}

static bool fromJSON(const json::Value &value, FunctionRule &rule, Path path) {
  ObjectMapper mapper(value, path);
  return mapper && mapper.map("name", rule.name) && mapper.mapOptional("per_layer", rule.perLayer) &&
         mapper.map("arguments", rule.arguments) && mapper.mapOptional("weights", rule.weights) &&
         mapper.map("body", rule.body) && mapper.map("results", rule.results);
}

static bool fromJSON(const json::Value &value, TokenizerFlag &flag, Path path) {
  ObjectMapper mapper(value, path);
  return mapper && mapper.map("key", flag.key) && mapper.mapOptional("default_for", flag.defaultFor);
}

static bool fromJSON(const json::Value &value, TokenizerRule &rule, Path path) {
  ObjectMapper mapper(value, path);
  return mapper && mapper.map("kind", rule.kind) && mapper.map("tokens", rule.tokens) &&
         mapper.mapOptional("pre", rule.pre) && mapper.mapOptional("token_types", rule.tokenTypes) &&
         mapper.mapOptional("merges", rule.merges) && mapper.mapOptional("scores", rule.scores) &&
         mapper.mapOptional("bos_id", rule.bosId) && mapper.mapOptional("eos_id", rule.eosId) &&
         mapper.mapOptional("unk_id", rule.unkId) && mapper.mapOptional("pad_id", rule.padId) &&
         mapper.mapOptional("chat_template", rule.chatTemplate) && mapper.mapOptional("add_bos", rule.addBos) &&
         mapper.mapOptional("add_space_prefix", rule.addSpacePrefix) && mapper.mapOptional("eot_ids", rule.eotIds) &&
         mapper.mapOptional("eot_tokens", rule.eotTokens);
}

/// The part of a description that one file format needs.
struct GgufSection {
  Family &family;
};

static bool fromJSON(const json::Value &value, GgufSection &section, Path path) {
  ObjectMapper mapper(value, path);
  return mapper && mapper.map("architectures", section.family.architectures) &&
         mapper.mapOptional("name", section.family.modelNameKey) && mapper.map("prefix", section.family.keyPrefix) &&
         mapper.mapOptional("known_keys", section.family.knownKeys);
}

static bool fromJSON(const json::Value &value, Family &family, Path path) {
  ObjectMapper mapper(value, path);
  GgufSection section{family};
  if (!mapper || !mapper.map("family", family.name) || !mapper.map("gguf", section) ||
      !mapper.map("parameters", family.parameters) || !mapper.mapOptional("requirements", family.requirements) ||
      !mapper.map("weights", family.weights) || !mapper.map("layers", family.layers) ||
      !mapper.map("layer_weights", family.layerWeights) || !mapper.map("entry", family.entry) ||
      !mapper.mapOptional("context_length", family.contextLength) || !mapper.map("functions", family.functions) ||
      !mapper.map("tokenizer", family.tokenizer))
    return false;
  if (const json::Object *symbols = value.getAsObject()->getObject("symbols"))
    for (const auto &[name, about] : *symbols)
      family.symbols.push_back(StringRef(name).str());
  return true;
}

Expected<Family> Family::parse(StringRef text, StringRef file) {
  Expected<json::Value> document = json::parse(text);
  if (!document)
    return badInput(file + ": " + toString(document.takeError()));
  Family family;
  Path::Root root(file);
  if (!fromJSON(*document, family, root))
    return badInput(toString(root.getError()));
  return family;
}

static Error addFolder(StringRef folder, std::map<std::string, std::string> &files) {
  std::error_code code;
  for (sys::fs::directory_iterator it(folder, code), end; it != end && !code; it.increment(code)) {
    StringRef name = sys::path::filename(it->path());
    if (!name.ends_with(".json"))
      continue;
    ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(it->path());
    if (!buffer)
      return ioError(it->path(), buffer.getError());
    files[name.str()] = (*buffer)->getBuffer().str();
  }
  return code ? ioError("TILEWRIGHT_SHARE: " + folder, code) : Error::success();
}

Expected<FamilyLibrary> FamilyLibrary::load() {
  std::map<std::string, std::string> files; // in order of name, so that results do not depend on the folder's
  for (const EmbeddedFile &file : embeddedFamilies())
    files[file.name.str()] = file.content.str();
  if (const char *share = std::getenv("TILEWRIGHT_SHARE"); share && *share)
    if (Error error = addFolder((Twine(share) + "/families").str(), files))
      return error;
  FamilyLibrary library;
  static constexpr StringLiteral typesFile = "gguf-types.json";
  for (const auto &[name, text] : files) {
    if (name == typesFile) {
      Expected<gguf::TypeTable> types = gguf::TypeTable::parse(text, name);
      if (!types)
        return types.takeError();
      library.types = std::move(*types);
      continue;
    }
    Expected<Family> family = Family::parse(text, name);
    if (!family)
      return family.takeError();
    library.all.push_back(std::move(*family));
  }
  return library;
}

Expected<const Family *> FamilyLibrary::findArchitecture(StringRef architecture, StringRef file) const {
  StringRef nearest;
  unsigned distance = UINT_MAX;
  for (const Family &family : all)
    for (const std::string &known : family.architectures) {
      if (architecture == known)
        return &family;
      unsigned d = architecture.take_front(256).edit_distance(known);
      if (d < distance) {
        distance = d;
        nearest = known;
      }
    }
  return unsupported(file + ": unknown architecture " + quoted(architecture) +
                     (nearest.empty() ? ": no family is known" : ", nearest known: " + quoted(nearest)));
}

} // namespace tilewright
