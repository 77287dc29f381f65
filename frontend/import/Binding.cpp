// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/import/Binding.h"

#include "frontend/graph/Errors.h"
#include "frontend/import/ParameterReader.h"
#include "frontend/import/TensorFinder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace tilewright {

std::string withLayer(StringRef text, int64_t layer) {
  static constexpr StringLiteral mark = "{layer}";
  std::string out;
  for (size_t at; (at = text.find(mark)) != StringRef::npos; text = text.drop_front(at + mark.size()))
    out += (text.take_front(at) + Twine(layer)).str();
  return out + text.str();
}

Tensor BoundWeight::graphType() const {
  Tensor type;
  type.element = tensor->element;
  for (int64_t size : shape)
    type.shape.push_back(size);
  return type;
}

const BoundWeight *Binding::weight(StringRef name, int64_t layer) const {
  if (auto it = weights.find(name); it != weights.end())
    return &it->second;
  if (layer < 0 || layer >= layerCount())
    return nullptr;
  auto it = layerWeights[layer].find(name);
  return it == layerWeights[layer].end() ? nullptr : &it->second;
}

class Binding::Binder {
public:
  Binder(const Family &family, const ModelSource &source, ArrayRef<std::string> outputs)
      : family(family), source(source), outputs(outputs) {
    result.global = std::make_unique<Scope>();
  }

  Expected<Binding> run() {
    Scope &scope = *result.global;
    scope.set("gguf", int64_t(source.kind() == SourceKind::Gguf));
    scope.set("config", int64_t(source.kind() == SourceKind::Config));
    scope.setPresence([&family = family, &source = source](StringRef weight, const Scope &from) {
      return TensorFinder(family, source).isPresent(weight, from);
    });
    ValueList asked;
    for (const std::string &output : outputs)
      asked.push_back(output);
    scope.set("outputs", Value(std::move(asked)));
    if (Error error = checkKeys())
      return error;
    std::vector<Mark> marks(family.parameters.size(), Mark::New);
    for (size_t i = 0; i < marks.size(); ++i)
      if (Error error = readParameter(i, marks))
        return error;
    for (const Parameter &parameter : family.parameters)
      if (Error error = ParameterReader(source, scope).checkRead(family, parameter))
        return error;
    // What asks of parameters alone comes first: expressions of options rely on it.
    if (Error error = checkRequirements(/*ofOptions=*/false))
      return error;
    if (Error error = bindOptions())
      return error;
    if (Error error = checkOutputs())
      return error;
    if (Error error = checkRequirements(/*ofOptions=*/true))
      return error;
    if (Error error = bindWeights())
      return error;
    return std::move(result);
  }

private:
  Error fail(const Twine &what) const { return badInput(source.path() + ": " + what); }

  /// Refuses keys that no parameter reads and that are not known to be without influence.
  Error checkKeys() {
    const ModelRule &rule = family.models[source.kind()];
    StringSet<> ignored, read;
    ignored.insert_range(rule.ignored);
    for (const Parameter &parameter : family.parameters) {
      read.insert_range(parameter.keys[source.kind()]);
      read.insert(parameter.countKey);
    }
    std::vector<std::string> unknown;
    for (const std::string &key : source.keys()) {
      bool known = read.contains(key) || !StringRef(key).starts_with(rule.prefix);
      for (StringRef part = key; !known && !part.empty(); part = part.rsplit('.').first) {
        known = ignored.contains(part);
        if (!part.contains('.'))
          break;
      }
      // "rope_scaling": null where its entries are read.
      known = known || (source.isNull(key) && (is_contained(rule.unset, key) || any_of(read.keys(), [&](StringRef k) {
                                                 return k.consume_front(key) && k.starts_with(".");
                                               })));
      if (!known)
        unknown.push_back(key);
    }
    if (unknown.empty())
      return Error::success();
    std::string what = source.kind() == SourceKind::Gguf ? "metadata key" : "field";
    return unsupported(source.metadataFile() + ": " + what + (unknown.size() == 1 ? " " : "s ") +
                       join(map_range(unknown, [](const std::string &key) { return quoted(key); }), ", ") +
                       ": not known to family " + quoted(family.name) + ", and may change the result");
  }

  enum class Mark : uint8_t { New, Open, Done };

  /// Reads a parameter behind those that its default names.
  Error readParameter(size_t index, std::vector<Mark> &marks) {
    const Parameter &parameter = family.parameters[index];
    if (marks[index] == Mark::Done)
      return Error::success();
    if (marks[index] == Mark::Open)
      return badInput("family " + quoted(family.name) + ": the default of parameter " + quoted(parameter.name) +
                      " needs its own value");
    marks[index] = Mark::Open;
    for (const std::optional<json::Value> &byDefault : {parameter.byDefault[source.kind()], parameter.whenNull})
      for (StringRef name : namesIn(byDefault ? byDefault->getAsString().value_or("") : ""))
        if (const Parameter *used = family.findParameter(name))
          if (Error error = readParameter(used - family.parameters.data(), marks))
            return error;
    marks[index] = Mark::Done;
    return ParameterReader(source, *result.global).read(parameter);
  }

  Expected<Value> optionValue(const OptionRule &rule, const Scope &scope) const {
    auto chosen = family.options.find(rule.name);
    const json::Value &json = chosen == family.options.end() ? rule.byDefault : chosen->second;
    std::optional<StringRef> text = json.getAsString();
    Expected<Value> value = text && text->consume_front("=")
                                ? evaluate(*text, scope)
                                : Expected<Value>(valueOf(json).value_or(Value(int64_t(0))));
    if (!value)
      return fail("option " + quoted(rule.name) + ": " + toString(value.takeError()));
    if (!rule.allowed.empty() &&
        none_of(rule.allowed, [&](const json::Value &allowed) { return valueOf(allowed) == *value; })) {
      std::string wanted =
          join(map_range(rule.allowed, [](const json::Value &v) { return spell(*valueOf(v)); }), " or ");
      return fail("option " + quoted(rule.name) + ": found " + spell(*value) + ", wanted " + wanted);
    }
    return value;
  }

  Error bindOptions() {
    Scope &scope = *result.global;
    Expected<int64_t> layers = evaluateInteger(family.layers, scope);
    if (!layers)
      return fail(toString(layers.takeError()));
    // Each layer has a tensor at least, so that a file cannot ask for more layers than it has bytes.
    if (*layers < 0 || static_cast<uint64_t>(*layers) > source.tensors().size())
      return fail("found " + Twine(*layers) + " layers and " + Twine(source.tensors().size()) +
                  " tensors, wanted at least one tensor for each layer");
    for (int64_t layer = 0; layer < *layers; ++layer) {
      result.layerScopes.emplace_back(&scope);
      result.layerScopes.back().set("layer", layer);
    }
    result.layerOptions.resize(*layers);
    for (const OptionRule &rule : family.optionRules) {
      if (!rule.perLayer) {
        Expected<Value> value = optionValue(rule, scope);
        if (!value)
          return value.takeError();
        scope.set(rule.name, std::move(*value));
        continue;
      }
      for (int64_t layer = 0; layer < *layers; ++layer) {
        Expected<Value> value = optionValue(rule, result.layerScopes[layer]);
        if (!value)
          return value.takeError();
        result.layerOptions[layer] += rule.name + "=" + spell(*value) + ";";
        result.layerScopes[layer].set(rule.name, std::move(*value));
      }
    }
    return Error::success();
  }

  Error checkOutputs() const {
    std::vector<std::string> known;
    for (const auto &[name, condition] : family.outputs) {
      Expected<bool> isThere = evaluateCondition(condition, *result.global);
      if (!isThere)
        return fail("output " + quoted(name) + ": " + toString(isThere.takeError()));
      if (*isThere)
        known.push_back(name);
    }
    for (const std::string &output : outputs)
      if (!is_contained(known, output))
        return unsupported(source.path() + ": found the output " + quoted(output) + " asked for, wanted " +
                           (known.empty() ? "none: family " + quoted(family.name) + " has no further ones"
                                          : join(map_range(known, [](const auto &k) { return quoted(k); }), " or ")));
    return Error::success();
  }

  Error checkRequirements(bool ofOptions) const {
    auto isOption = [&](StringRef name) {
      return any_of(family.optionRules, [&](const OptionRule &rule) { return rule.name == name; });
    };
    for (const Requirement &requirement : family.requirements)
      if ((any_of(namesIn(requirement.condition), isOption) || any_of(namesIn(requirement.expression), isOption)) ==
          ofOptions)
        if (Error error = check(requirement))
          return error;
    return Error::success();
  }

  Error check(const Requirement &requirement) const {
    Expected<bool> applies = evaluateCondition(requirement.condition, *result.global);
    Expected<bool> holds =
        applies && *applies ? evaluateCondition(requirement.expression, *result.global) : Expected<bool>(true);
    if (!applies || !holds)
      return fail(toString(joinErrors(applies.takeError(), holds.takeError())));
    if (*holds)
      return Error::success();
    Expected<std::string> message = replaceBraced(requirement.message, [&](StringRef name) -> Expected<std::string> {
      if (name.consume_front("@")) {
        const Parameter *parameter = family.findParameter(name);
        return parameter ? describe(family, *parameter, source) : name.str();
      }
      const Value *value = result.global->find(name);
      return value ? spell(*value) : "{" + name.str() + "}";
    });
    return message ? badInput(source.metadataFile() + ": " + *message) : message.takeError();
  }

  Error bindWeights() {
    TensorFinder finder(family, source);
    if (Error error = finder.readIgnored(*result.global))
      return error;
    for (const WeightRule &rule : family.weights)
      if (Error error = finder.find(rule, *result.global, result.weights[rule.name]))
        return error;
    for (const WeightRule &rule : family.weights)
      if (!rule.otherwise.empty() && !result.weights[rule.name].tensor) {
        result.weights[rule.name] = result.weights[rule.otherwise];
        if (Error error = finder.standIn(rule, *result.global, result.weights[rule.name]))
          return error;
      }
    result.layerWeights.resize(result.layerScopes.size());
    for (int64_t layer = 0; layer < static_cast<int64_t>(result.layerScopes.size()); ++layer)
      for (const WeightRule &rule : family.layerWeights)
        if (Error error = finder.find(rule, result.layerScopes[layer], result.layerWeights[layer][rule.name]))
          return error;
    return finder.finish(result.remarks);
  }

  const Family &family;
  const ModelSource &source;
  ArrayRef<std::string> outputs;
  Binding result;
};

Expected<Binding> Binding::bind(const Family &family, const ModelSource &source, ArrayRef<std::string> outputs) {
  return Binder(family, source, outputs).run();
}

} // namespace tilewright
