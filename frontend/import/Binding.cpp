// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/import/Binding.h"

#include "frontend/graph/Errors.h"
#include "frontend/graph/Types.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <cmath>

using namespace llvm;

namespace tilewright {

std::string withLayer(StringRef text, int64_t layer) {
  static constexpr StringLiteral mark = "{layer}";
  std::string out;
  for (size_t at; (at = text.find(mark)) != StringRef::npos; text = text.drop_front(at + mark.size()))
    out += (text.take_front(at) + Twine(layer)).str();
  return out + text.str();
}

/// `text` with every "{name}" replaced by what `value` gives for name.
static std::string substitute(StringRef text, function_ref<std::string(StringRef)> value) {
  std::string out;
  while (!text.empty()) {
    auto [before, rest] = text.split('{');
    out += before;
    if (before.size() == text.size())
      break;
    auto [name, after] = rest.split('}');
    out += value(name);
    text = after;
  }
  return out;
}

const BoundWeight *Binding::weight(StringRef name, int64_t layer) const {
  if (auto it = weights.find(name); it != weights.end())
    return &it->second;
  if (layer < 0 || layer >= layerCount())
    return nullptr;
  auto it = layerWeights[layer].find(name);
  return it == layerWeights[layer].end() ? nullptr : &it->second;
}

bool Binding::isLayerWeight(StringRef name) const {
  return !layerWeights.empty() && layerWeights.front().contains(name);
}

class Binding::Binder {
public:
  Binder(const Family &family, const gguf::GgufFile &file) : family(family), file(file) {}

  Expected<Binding> run() {
    for (const Parameter &parameter : family.parameters)
      if (Error error = bindParameter(parameter))
        return error;
    for (const Requirement &requirement : family.requirements)
      if (Error error = check(requirement))
        return error;
    collectIgnoredKeys();
    if (Error error = bindWeights())
      return error;
    return std::move(result);
  }

private:
  Error fail(const Parameter &parameter, const Twine &found, const Twine &wanted) const {
    const std::string &key = parameter.key.empty() ? parameter.countKey : parameter.key;
    return badInput(file.name() + ": metadata key " + quoted(key) + ": found " + found + ", wanted " + wanted);
  }

  Error bindParameter(const Parameter &parameter) {
    if (!parameter.countKey.empty()) {
      Expected<uint64_t> count = file.getCount(parameter.countKey);
      if (!count)
        return count.takeError();
      return setNumber(parameter, Number(static_cast<int64_t>(*count)));
    }
    bool present = file.has(parameter.key);
    switch (parameter.kind) {
    case ParameterKind::Int:
    case ParameterKind::Float: {
      Expected<Number> number = present ? readNumber(parameter) : defaultNumber(parameter);
      return number ? setNumber(parameter, *number) : number.takeError();
    }
    case ParameterKind::Bool: {
      if (!present)
        return Error::success();
      Expected<bool> value = file.getBool(parameter.key);
      return value ? checkAllowed(parameter, json::Value(*value), *value ? "true" : "false") : value.takeError();
    }
    case ParameterKind::String: {
      if (!present)
        return Error::success();
      Expected<StringRef> value = file.getString(parameter.key);
      if (!value)
        return value.takeError();
      return checkAllowed(parameter, json::Value(json::fixUTF8(*value)), quoted(*value));
    }
    }
    return Error::success();
  }

  Expected<Number> readNumber(const Parameter &parameter) const {
    if (parameter.kind == ParameterKind::Int) {
      Expected<int64_t> value = file.getInteger(parameter.key);
      return value ? Expected<Number>(*value) : value.takeError();
    }
    Expected<double> value = file.getFloat(parameter.key);
    return value ? Expected<Number>(*value) : value.takeError();
  }

  Expected<Number> defaultNumber(const Parameter &parameter) const {
    std::string place = (file.name() + ": metadata key " + quoted(parameter.key)).str();
    if (!parameter.byDefault)
      return badInput(place + ": not found, wanted " +
                      (parameter.kind == ParameterKind::Int ? "an integer" : "a float"));
    std::optional<double> literal = parameter.byDefault->getAsNumber();
    if (std::optional<int64_t> integer = parameter.byDefault->getAsInteger())
      return parameter.kind == ParameterKind::Int ? Number(*integer) : Number(static_cast<double>(*integer));
    if (literal)
      return Number(*literal);
    Expected<Number> value = evaluate(parameter.byDefault->getAsString().value_or(""), result.numberValues);
    if (!value)
      return badInput(place + ": not found, and its default has no value: " + toString(value.takeError()));
    return value;
  }

  Error setNumber(const Parameter &parameter, const Number &number) {
    double value = std::holds_alternative<int64_t>(number) ? static_cast<double>(std::get<int64_t>(number))
                                                           : std::get<double>(number);
    std::string found = spell(number);
    if (!std::isfinite(value))
      return fail(parameter, found, "a finite number");
    if (parameter.min && value < *parameter.min)
      return fail(parameter, found, "at least " + spell(asNumber(parameter, *parameter.min)));
    if (parameter.max && value > *parameter.max)
      return fail(parameter, found, "at most " + spell(asNumber(parameter, *parameter.max)));
    if (parameter.above && value <= *parameter.above)
      return fail(parameter, found, "more than " + spell(asNumber(parameter, *parameter.above)));
    if (!parameter.allowed.empty() &&
        none_of(parameter.allowed, [&](const json::Value &allowed) { return allowed.getAsNumber() == value; }))
      return fail(parameter, found, allowedText(parameter));
    result.numberValues[parameter.name] = number;
    return Error::success();
  }

  static Number asNumber(const Parameter &parameter, double value) {
    return parameter.kind == ParameterKind::Int ? Number(static_cast<int64_t>(value)) : Number(value);
  }

  static std::string allowedText(const Parameter &parameter) {
    std::string text;
    raw_string_ostream os(text);
    interleave(parameter.allowed, os, [&](const json::Value &value) { os << value; }, " or ");
    os << ": anything else is not supported by this family";
    return text;
  }

  Error checkAllowed(const Parameter &parameter, const json::Value &value, const Twine &found) const {
    if (parameter.allowed.empty() || is_contained(parameter.allowed, value))
      return Error::success();
    return fail(parameter, found, allowedText(parameter));
  }

  Error check(const Requirement &requirement) const {
    Expected<Number> value = evaluate(requirement.expression, result.numberValues);
    if (!value)
      return badInput(file.name() + ": " + toString(value.takeError()));
    if (*value != Number(int64_t(0)))
      return Error::success();
    return badInput(file.name() + ": " + substitute(requirement.message, [&](StringRef name) {
                      auto it = result.numberValues.find(name);
                      return it == result.numberValues.end() ? "{" + name.str() + "}" : spell(it->second);
                    }));
  }

  void collectIgnoredKeys() {
    StringSet<> known;
    for (const std::string &key : family.knownKeys)
      known.insert(key);
    for (const Parameter &parameter : family.parameters)
      known.insert(parameter.key);
    for (StringRef key : file.keys())
      if (!family.keyPrefix.empty() && key.starts_with(family.keyPrefix) && !known.contains(key))
        result.ignored.push_back(key.str());
  }

  Error bindWeights() {
    Expected<int64_t> layers = evaluateInteger(family.layers, result.numberValues);
    if (!layers)
      return badInput(file.name() + ": " + toString(layers.takeError()));
    // Each layer has a tensor at least, so that a file cannot ask for more layers than it has bytes.
    if (*layers < 0 || static_cast<uint64_t>(*layers) > file.tensors().size())
      return badInput(file.name() + ": found " + Twine(*layers) + " layers and " + Twine(file.tensors().size()) +
                      " tensors, wanted at least one tensor for each layer");
    for (const WeightRule &rule : family.weights)
      if (Error error = bindWeight(rule, rule.tensor, result.weights))
        return error;
    for (const WeightRule &rule : family.weights)
      if (!rule.otherwise.empty() && !result.weights[rule.name].tensor)
        result.weights[rule.name] = result.weights[rule.otherwise];
    result.layerWeights.resize(*layers);
    for (int64_t layer = 0; layer < *layers; ++layer)
      for (const WeightRule &rule : family.layerWeights) {
        std::string tensor = withLayer(rule.tensor, layer);
        if (Error error = bindWeight(rule, tensor, result.layerWeights[layer]))
          return error;
      }
    for (const gguf::TensorInfo &tensor : file.tensors())
      if (!used.contains(tensor.name))
        problems.push_back("tensor " + quoted(tensor.name) + ": found, but the family has no place for it");
    return reportProblems();
  }

  Error bindWeight(const WeightRule &rule, StringRef name, StringMap<BoundWeight> &into) {
    BoundWeight &weight = into[rule.name];
    SmallVector<int64_t, 4> wanted;
    for (const std::string &dim : rule.shape) {
      Expected<int64_t> size = evaluateInteger(dim, result.numberValues);
      if (!size)
        return badInput(file.name() + ": weight " + quoted(rule.name) + ": " + toString(size.takeError()));
      wanted.push_back(*size);
    }
    const gguf::TensorInfo *tensor = file.findTensor(name);
    if (!tensor) {
      if (!rule.optional && rule.otherwise.empty())
        problems.push_back("tensor " + quoted(name) + ": missing, wanted shape " + spellShape(rule, wanted));
      return Error::success();
    }
    used.insert(name);
    if (ArrayRef<int64_t>(tensor->shape) != ArrayRef<int64_t>(wanted))
      problems.push_back("tensor " + quoted(name) + ": found shape [" + join(map_range(tensor->shape, toText), ", ") +
                         "], wanted " + spellShape(rule, wanted));
    if (tensor->type->element.empty()) {
      ++unsupportedCount;
      problems.push_back("unsupported quantisation " + tensor->type->name + " of tensor " + name.str());
    }
    weight.tensor = tensor;
    if (rule.permutation) {
      for (const std::string &dim : rule.permutation->dims) {
        Expected<int64_t> size = evaluateInteger(dim, result.numberValues);
        if (!size)
          return badInput(file.name() + ": weight " + quoted(rule.name) + ": " + toString(size.takeError()));
        weight.permutationDims.push_back(*size);
      }
      weight.permutation = rule.permutation->perm;
    }
    return Error::success();
  }

  static std::string toText(int64_t size) { return std::to_string(size); }

  /// "[V = 50, E = 64] (V: the number of tokens ...)"
  std::string spellShape(const WeightRule &rule, ArrayRef<int64_t> sizes) const {
    std::string shape = "[", notes;
    for (auto [i, dim] : enumerate(rule.shape)) {
      shape += (i ? ", " : "") + dim + " = " + std::to_string(sizes[i]);
      for (const Parameter &parameter : family.parameters)
        if (parameter.name == dim && !parameter.about.empty())
          notes += (notes.empty() ? " (" : "; ") + dim + ": " + parameter.about;
    }
    return shape + "]" + notes + (notes.empty() ? "" : ")");
  }

  Error reportProblems() const {
    constexpr size_t maxShown = 20;
    if (problems.empty())
      return Error::success();
    std::string text = file.name().str() + ": ";
    if (problems.size() == 1) {
      text += problems.front();
    } else {
      text += std::to_string(problems.size()) + " tensors do not fit family " + quoted(family.name) + ":";
      for (const std::string &problem : ArrayRef(problems).take_front(maxShown))
        text += "\n  " + problem;
      if (problems.size() > maxShown)
        text += "\n  ... and " + std::to_string(problems.size() - maxShown) + " more";
    }
    return unsupportedCount == problems.size() ? unsupported(text) : badInput(text);
  }

  const Family &family;
  const gguf::GgufFile &file;
  Binding result;
  StringSet<> used;
  std::vector<std::string> problems;
  size_t unsupportedCount = 0;
};

Expected<Binding> Binding::bind(const Family &family, const gguf::GgufFile &file) { return Binder(family, file).run(); }

} // namespace tilewright
