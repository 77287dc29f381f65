// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads family descriptions. json::Path reports where a description goes wrong: "llama.json: missing value at
// (root).functions[1].name".
#include "frontend/import/Family.h"

#include "frontend/graph/Errors.h"
#include "frontend/graph/Types.h"
#include "frontend/import/EmbeddedFiles.h"
#include "frontend/import/FieldMapper.h"
#include "frontend/import/Forms.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <cstdlib>
#include <map>

using namespace llvm;

namespace tilewright {

using json::Path;

static bool fromJSON(const json::Value &value, ParameterKind &kind, Path path) {
  std::optional<StringRef> text = value.getAsString();
  for (auto [name, known] : {std::pair<StringRef, ParameterKind>{"int", ParameterKind::Int},
                             {"float", ParameterKind::Float},
                             {"bool", ParameterKind::Bool},
                             {"string", ParameterKind::String},
                             {"list", ParameterKind::List}})
    if (text == name) {
      kind = known;
      return true;
    }
  path.report("expected int, float, bool, string or list");
  return false;
}

/// A string, or a list of strings; absent: none.
static bool mapStrings(FieldMapper &mapper, StringLiteral key, std::vector<std::string> &strings, Path path) {
  const json::Value *value = mapper.get(key);
  if (!value)
    return true;
  if (std::optional<StringRef> one = value->getAsString()) {
    strings.push_back(one->str());
    return true;
  }
  return json::fromJSON(*value, strings, path.field(key));
}

static bool readList(const json::Value &value, std::vector<json::Value> &entries, Path path) {
  const json::Array *array = value.getAsArray();
  if (array)
    entries.assign(array->begin(), array->end());
  else
    path.report("expected a list");
  return array;
}

/// `value` for both kinds of files, or {"config": value} for one, or both. Whether `take` took all there is.
template <typename Take> static bool forKinds(const json::Value *value, Path path, Take take) {
  static constexpr std::pair<SourceKind, StringLiteral> kinds[] = {{SourceKind::Gguf, "gguf"},
                                                                   {SourceKind::Config, "config"}};
  if (!value)
    return true;
  if (!value->getAsObject())
    return all_of(kinds, [&](const auto &kind) { return take(kind.first, *value, path); });
  FieldMapper mapper(*value, path);
  for (auto [kind, key] : kinds)
    if (const json::Value *own = mapper.get(key); own && !take(kind, *own, path.field(key)))
      return false;
  return mapper.finish();
}

static bool fromJSON(const json::Value &value, Parameter &parameter, Path path) {
  FieldMapper mapper(value, path);
  if (!mapper || !mapper.map("name", parameter.name) || !mapper.map("type", parameter.kind) ||
      !mapper.mapOptional("gguf_count", parameter.countKey) || !mapper.mapOptional("gguf_tensor", parameter.tensor) ||
      !mapper.mapOptional("about", parameter.about) || !mapper.map("min", parameter.min) ||
      !mapper.map("max", parameter.max) || !mapper.map("above", parameter.above))
    return false;
  auto setDefault = [&](SourceKind kind, const json::Value &own, Path) {
    parameter.byDefault[kind] = own;
    return true;
  };
  auto setAllowed = [&](SourceKind kind, const json::Value &own, Path place) {
    return readList(own, parameter.allowed[kind], place);
  };
  auto setWhen = [&](SourceKind kind, const json::Value &own, Path place) {
    return json::fromJSON(own, parameter.when[kind], place);
  };
  if (!mapStrings(mapper, "gguf", parameter.keys.gguf, path) ||
      !mapStrings(mapper, "config", parameter.keys.config, path) ||
      !forKinds(mapper.get("default"), path.field("default"), setDefault) ||
      !forKinds(mapper.get("allowed"), path.field("allowed"), setAllowed) ||
      !forKinds(mapper.get("when"), path.field("when"), setWhen))
    return false;
  if (const json::Value *neutral = mapper.get("neutral"))
    parameter.neutral = *neutral;
  if (const json::Value *whenNull = mapper.get("null"))
    parameter.whenNull = *whenNull;
  if (parameter.keys.gguf.empty() && parameter.keys.config.empty() && parameter.countKey.empty() &&
      !parameter.byDefault.gguf && !parameter.byDefault.config) {
    path.report("expected gguf, config, gguf_count or default");
    return false;
  }
  return mapper.finish();
}

static bool fromJSON(const json::Value &value, OptionRule &rule, Path path) {
  FieldMapper mapper(value, path);
  if (!mapper || !mapper.map("name", rule.name) || !mapper.mapOptional("per_layer", rule.perLayer))
    return false;
  const json::Value *byDefault = mapper.get("default");
  if (!byDefault) {
    path.field("default").report("missing value");
    return false;
  }
  rule.byDefault = *byDefault;
  const json::Value *allowed = mapper.get("allowed");
  return (!allowed || readList(*allowed, rule.allowed, path.field("allowed"))) && mapper.finish();
}

static bool fromJSON(const json::Value &value, Requirement &requirement, Path path) {
  FieldMapper mapper(value, path);
  return mapper && mapper.map("require", requirement.expression) && mapper.map("message", requirement.message) &&
         mapper.mapOptional("if", requirement.condition) && mapper.finish();
}

static bool fromJSON(const json::Value &value, PermutationRule &rule, Path path) {
  FieldMapper mapper(value, path);
  std::vector<int64_t> perm;
  if (!mapper || !mapper.map("dims", rule.dims) || !mapper.map("perm", perm))
    return false;
  if (perm.size() != rule.dims.size() || any_of(perm, [](int64_t axis) { return axis < 0 || axis > UINT8_MAX; })) {
    path.field("perm").report("expected one axis for each of dims");
    return false;
  }
  rule.perm.assign(perm.begin(), perm.end());
  return mapper.finish();
}

static bool fromJSON(const json::Value &value, TensorRule &rule, Path path) {
  if (std::optional<StringRef> name = value.getAsString()) {
    rule.tensor = name->str();
    return true;
  }
  FieldMapper mapper(value, path);
  if (!mapper || !mapper.map("tensor", rule.tensor) || !mapper.mapOptional("from", rule.from) ||
      !mapper.mapOptional("of", rule.of) || !mapper.mapOptional("stored", rule.stored) ||
      !mapper.mapOptional("parts", rule.parts) || !mapper.mapOptional("transposed", rule.transposed) ||
      !mapper.map("row_permutation", rule.permutation))
    return false;
  const bool isSlice = !rule.of.empty(), isMade = rule.transposed || !rule.parts.empty();
  if (rule.from.empty() == isSlice || isSlice + isMade + rule.permutation.has_value() > 1) {
    path.report("expected from and of together, and one of them, row_permutation, and transposed or parts");
    return false;
  }
  return mapper.finish();
}

/// true, false, or an expression.
static bool mapCondition(FieldMapper &mapper, StringLiteral key, std::string &condition, Path path) {
  const json::Value *value = mapper.get(key);
  if (!value)
    return true;
  if (std::optional<bool> flag = value->getAsBoolean()) {
    condition = *flag ? "1" : "0";
    return true;
  }
  return json::fromJSON(*value, condition, path.field(key));
}

static bool fromJSON(const json::Value &value, WeightRule &rule, Path path) {
  FieldMapper mapper(value, path);
  return mapper && mapper.map("name", rule.name) && mapper.map("gguf", rule.tensor.gguf) &&
         mapper.map("config", rule.tensor.config) && mapper.map("shape", rule.shape) &&
         mapper.mapOptional("if", rule.condition) && mapper.mapOptional("otherwise", rule.otherwise) &&
         mapCondition(mapper, "optional", rule.optional, path) && mapper.mapOptional("finite", rule.finite) &&
         mapper.finish();
}

static bool fromJSON(const json::Value &value, AttributeRule &rule, Path path) {
  if (!value.getAsObject()) {
    rule.value = value;
    return true;
  }
  FieldMapper mapper(value, path);
  const json::Value *given = mapper.get("value");
  if (!mapper.map("if", rule.condition) || !given) {
    path.report("expected a value, or if and value");
    return false;
  }
  rule.value = *given;
  return mapper.finish();
}

static bool fromJSON(const json::Value &value, OpRule &rule, Path path) {
  FieldMapper mapper(value, path);
  std::vector<std::string> operands;
  if (!mapper || !mapper.mapOptional("op", rule.op) || !mapper.mapOptional("call", rule.callee) ||
      !mapper.mapOptional("if", rule.condition) || !mapper.mapOptional("let", rule.alias.first) ||
      !mapper.mapOptional("operands", operands) || !mapper.mapOptional("operand_groups", rule.operandGroups) ||
      !mapper.mapOptional("results", rule.results) || !mapper.mapOptional("each_layer", rule.eachLayer))
    return false;
  if (!rule.op.empty() + !rule.callee.empty() + !rule.eachLayer.empty() + !rule.alias.first.empty() != 1) {
    path.report("expected one of op, call, let and each_layer");
    return false;
  }
  if (!rule.alias.first.empty() && !mapper.map("be", rule.alias.second))
    return false;
  rule.grouped = !rule.operandGroups.empty();
  if (!operands.empty() && rule.grouped) {
    path.report("expected operands or operand_groups");
    return false;
  }
  if (!operands.empty())
    rule.operandGroups.push_back(std::move(operands));
  if (const json::Object *attributes = mapper.getObject("attributes"))
    for (const auto &[name, attribute] : *attributes) {
      AttributeRule &made = rule.attributes.emplace_back();
      made.name = StringRef(name).str();
      if (!fromJSON(attribute, made, path.field("attributes").field(made.name)))
        return false;
    }
  llvm::sort(rule.attributes, [](const auto &a, const auto &b) { return a.name < b.name; });
  return mapper.finish();
}

static bool fromJSON(const json::Value &value, NamedRule &rule, Path path) {
  if (std::optional<StringRef> text = value.getAsString()) {
    rule.text = text->str();
    return true;
  }
  FieldMapper mapper(value, path);
  std::string once;
  if (!mapper || !mapper.mapOptional("each_layer", rule.text) || !mapper.mapOptional("value", once) ||
      !mapper.mapOptional("if", rule.condition))
    return false;
  rule.eachLayer = !rule.text.empty();
  if (rule.eachLayer == !once.empty()) {
    path.report("expected each_layer or value");
    return false;
  }
  if (!rule.eachLayer)
    rule.text = once;
  return mapper.finish();
}

static bool fromJSON(const json::Value &value, FunctionRule &rule, Path path) {
  FieldMapper mapper(value, path);
  return mapper && mapper.map("name", rule.name) && mapper.mapOptional("per_layer", rule.perLayer) &&
         mapCondition(mapper, "if", rule.condition, path) && mapper.map("arguments", rule.arguments) &&
         mapper.mapOptional("weights", rule.weights) && mapper.map("body", rule.body) &&
         mapper.map("results", rule.results) && mapper.finish();
}

static bool fromJSON(const json::Value &value, IgnoredTensor &rule, Path path) {
  if (std::optional<StringRef> name = value.getAsString()) {
    rule.name = name->str();
    return true;
  }
  FieldMapper mapper(value, path);
  return mapper && mapper.map("tensor", rule.name) && mapper.mapOptional("parts", rule.parts) &&
         mapper.map("if", rule.condition) && mapper.mapOptional("note", rule.note) && mapper.finish();
}

static bool fromJSON(const json::Value &value, ModelRule &rule, Path path) {
  FieldMapper mapper(value, path);
  if (const json::Object *conditions = mapper ? mapper.getObject("with") : nullptr)
    for (const auto &[key, wanted] : *conditions) {
      if (!wanted.getAsBoolean()) {
        path.field("with").field(StringRef(key)).report("expected true or false");
        return false;
      }
      rule.with.emplace_back(StringRef(key).str(), *wanted.getAsBoolean());
    }
  llvm::sort(rule.with);
  return mapper && mapper.mapOptional("architectures", rule.architectures) &&
         mapper.mapOptional("model_types", rule.types) && mapper.mapOptional("name", rule.nameKey) &&
         mapper.mapOptional("prefix", rule.prefix) && mapper.mapOptional("ignored", rule.ignored) &&
         mapper.mapOptional("unset", rule.unset) && mapper.mapOptional("base_prefix", rule.basePrefix) &&
         mapper.mapOptional("ignored_tensors", rule.ignoredTensors) && mapper.finish();
}

/// Gives the weights of `rules` the tensors that "names" has for them.
static bool readNames(const json::Object &names, SourceKind kind, std::vector<WeightRule> &rules,
                      std::vector<StringRef> &used, Path path) {
  for (WeightRule &rule : rules)
    if (const json::Value *named = names.get(rule.name)) {
      used.push_back(rule.name);
      if (!fromJSON(*named, rule.tensor[kind].emplace(), path.field(rule.name)))
        return false;
    }
  return true;
}

static bool readNames(FieldMapper &kinds, StringLiteral key, SourceKind kind, Family &family, Path path) {
  const json::Object *names = kinds.getObject(key);
  std::vector<StringRef> used;
  if (!names)
    return true;
  if (!readNames(*names, kind, family.weights, used, path.field(key)) ||
      !readNames(*names, kind, family.layerWeights, used, path.field(key)))
    return false;
  for (const auto &[name, tensor] : *names)
    if (!is_contained(used, StringRef(name))) {
      path.field(key).field(StringRef(name)).report("expected the name of a weight");
      return false;
    }
  return true;
}

static bool readOptions(const json::Object &options, Family &family, Path path) {
  for (const auto &[name, value] : options) {
    if (none_of(family.optionRules, [&](const OptionRule &rule) { return rule.name == StringRef(name); })) {
      path.field(StringRef(name)).report("expected the name of an option");
      return false;
    }
    family.options.try_emplace(StringRef(name), value);
  }
  return true;
}

/// The names of the operands of `ops` and of those inside them, without their marks.
static void collectOperands(ArrayRef<OpRule> ops, std::vector<StringRef> &names) {
  for (const OpRule &op : ops) {
    for (const std::vector<std::string> &group : op.operandGroups)
      for (StringRef name : group)
        names.push_back(name.rtrim('?'));
    collectOperands(op.eachLayer, names);
  }
}

/// Gives layers' functions that name no weights all of a layer's, and those of the model that their ops take.
static void completeWeights(Family &family) {
  for (FunctionRule &function : family.functions) {
    if (!function.perLayer || !function.weights.empty())
      continue;
    std::vector<StringRef> operands;
    collectOperands(function.body, operands);
    for (const WeightRule &rule : family.layerWeights)
      function.weights.push_back(rule.name + "?");
    for (const WeightRule &rule : family.weights)
      if (is_contained(operands, rule.name))
        function.weights.push_back(rule.name + "?");
  }
}

static bool readHead(FieldMapper &mapper, std::string &name, BySource<ModelRule> &models) {
  if (!mapper || !mapper.map("family", name) || !mapper.mapOptional("gguf", models.gguf) ||
      !mapper.mapOptional("config", models.config))
    return false;
  // GGUF has one word for both.
  std::swap(models.gguf.types, models.gguf.architectures);
  return true;
}

static bool fromJSON(const json::Value &value, Family &family, Path path) {
  FieldMapper mapper(value, path);
  if (!readHead(mapper, family.name, family.models) || !mapper.map("parameters", family.parameters) ||
      !mapper.mapOptional("option_rules", family.optionRules) ||
      !mapper.mapOptional("requirements", family.requirements) || !mapper.map("weights", family.weights) ||
      !mapper.map("layers", family.layers) || !mapper.map("layer_weights", family.layerWeights) ||
      !mapper.map("entry", family.entry) || !mapper.mapOptional("encode_entry", family.encodeEntry) ||
      !mapper.mapOptional("context_length", family.contextLength) ||
      !mapper.mapOptional("reread_length", family.rereadLength) ||
      !mapper.mapOptional("vocabulary_size", family.vocabularySize) || !mapper.map("functions", family.functions))
    return false;
  if (const json::Object *symbols = mapper.getObject("symbols"))
    for (const auto &[name, about] : *symbols)
      family.symbols.push_back(StringRef(name).str());
  if (const json::Object *outputs = mapper.getObject("outputs"))
    for (const auto &[name, condition] : *outputs) {
      if (!condition.getAsString()) {
        path.field("outputs").field(StringRef(name)).report("expected a condition");
        return false;
      }
      family.outputs.emplace_back(StringRef(name).str(), condition.getAsString()->str());
    }
  llvm::sort(family.outputs);
  if (const json::Object *generation = mapper.getObject("generation"))
    for (const auto &[name, expression] : *generation) {
      if (!is_contained({"decoder_start_id", "forced_bos_id", "forced_eos_id", "bad_ids"}, StringRef(name)) ||
          !expression.getAsString()) {
        path.field("generation")
            .field(StringRef(name))
            .report("expected an expression of a field of the graph's table");
        return false;
      }
      family.generation.emplace_back(StringRef(name).str(), expression.getAsString()->str());
    }
  if (const json::Object *types = mapper.getObject("types"))
    for (const auto &[name, spelling] : *types)
      family.types[StringRef(name)] = spelling.getAsString().value_or("").str();
  if (const json::Value *names = mapper.get("names")) {
    const Path place = path.field("names");
    FieldMapper kinds(*names, place);
    if (!kinds || !readNames(kinds, "gguf", SourceKind::Gguf, family, place) ||
        !readNames(kinds, "config", SourceKind::Config, family, place) || !kinds.finish())
      return false;
  }
  if (const json::Object *options = mapper.getObject("options"))
    if (!readOptions(*options, family, path.field("options")))
      return false;
  mapper.get("forms"); // they are laid over already
  mapper.get("about"); // and these are for the docs
  mapper.get("source");
  if (!mapper.finish())
    return false;
  completeWeights(family);
  auto complete = [&](std::vector<std::string> &keys) {
    for (std::string &key : keys)
      if (StringRef rest = key; rest.consume_front("{prefix}"))
        key = family.models.gguf.prefix + rest.str();
  };
  for (Parameter &parameter : family.parameters)
    complete(parameter.keys.gguf);
  complete(family.models.gguf.ignored);
  return true;
}

const Parameter *Family::findParameter(StringRef parameterName) const {
  auto it = find_if(parameters, [&](const Parameter &parameter) { return parameter.name == parameterName; });
  return it == parameters.end() ? nullptr : &*it;
}

Expected<Family> Family::parse(StringRef text, StringRef file, const StringMap<std::string> &forms) {
  Expected<json::Value> document = mergeForms(text, file, forms);
  if (!document)
    return document.takeError();
  Family family;
  Path::Root root(file);
  if (!fromJSON(*document, family, root))
    return badInput(toString(root.getError()));
  return family;
}

using Files = std::map<std::string, std::string>; // in order of name, so that results do not depend on the folder's

static Error addFolder(StringRef folder, StringRef prefix, Files &files) {
  std::error_code code;
  for (sys::fs::directory_iterator it(folder, code), end; it != end && !code; it.increment(code)) {
    StringRef name = sys::path::filename(it->path());
    if (!name.ends_with(".json"))
      continue;
    ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(it->path());
    if (!buffer)
      return ioError(it->path(), buffer.getError());
    files[(prefix + name).str()] = (*buffer)->getBuffer().str();
  }
  return code ? ioError("TILEWRIGHT_SHARE: " + folder, code) : Error::success();
}

Expected<FamilyLibrary> FamilyLibrary::load() {
  Files files;
  for (const EmbeddedFile &file : embeddedFamilies())
    files[file.name.str()] = file.content.str();
  static constexpr StringLiteral formsFolder = "forms/";
  if (const char *share = std::getenv("TILEWRIGHT_SHARE"); share && *share) {
    std::string folder = (Twine(share) + "/families").str();
    if (Error error = addFolder(folder, "", files))
      return error;
    if (sys::fs::is_directory(folder + "/" + formsFolder))
      if (Error error = addFolder(folder + "/forms", formsFolder, files))
        return error;
  }
  FamilyLibrary library;
  static constexpr StringLiteral typesFile = "gguf-types.json";
  for (const auto &[name, text] : files) {
    if (StringRef form = name; form.consume_front(formsFolder)) {
      library.forms[form.drop_back(StringRef(".json").size())] = text;
      continue;
    }
    if (name == typesFile) {
      Expected<gguf::TypeTable> types = gguf::TypeTable::parse(text, name);
      if (!types)
        return types.takeError();
      library.types = std::move(*types);
      continue;
    }
    Expected<json::Value> document = json::parse(text);
    if (!document)
      return badInput(name + ": " + toString(document.takeError()));
    Entry entry{name, text, {}, {}};
    Path::Root root(name);
    FieldMapper mapper(*document, root);
    if (!readHead(mapper, entry.name, entry.models))
      return badInput(toString(root.getError()));
    library.all.push_back(std::move(entry));
  }
  return library;
}

Expected<Family> FamilyLibrary::find(SourceKind kind, StringRef type, const Twine &place,
                                     function_ref<bool(StringRef)> has) const {
  StringRef nearest;
  const StringRef word = type.take_front(256);   // it comes from a file
  unsigned distance = (word.size() + 1) / 3 + 1; // a type that differs in more than a third of its letters is another
  const Entry *best = nullptr;
  for (const Entry &entry : all) {
    const ModelRule &rule = entry.models[kind];
    for (const std::string &known : rule.types) {
      unsigned d = word.edit_distance(known);
      if (d < distance) {
        distance = d;
        nearest = known;
      }
      if (type == known && (!best || rule.with.size() > best->models[kind].with.size()) &&
          all_of(rule.with, [&](const auto &condition) { return has(condition.first) == condition.second; }))
        best = &entry;
    }
  }
  if (best)
    return read(*best);
  return unsupported(place + quoted(type) +
                     (nearest.empty() ? "; 'tilewright import --list-families' lists those that are known"
                                      : ", nearest known: " + quoted(nearest)));
}

} // namespace tilewright
