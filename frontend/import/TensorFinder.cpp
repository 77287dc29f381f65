// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/import/TensorFinder.h"

#include "frontend/graph/Errors.h"
#include "frontend/graph/Types.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using namespace llvm;

namespace tilewright {

TensorFinder::TensorFinder(const Family &family, const ModelSource &source) : family(family), source(source) {
  StringRef prefix = family.models[source.kind()].basePrefix;
  if (none_of(source.tensors(), [&](const SourceTensor &tensor) { return tensor.name.starts_with(prefix); }))
    absentPrefix = prefix;
}

Expected<SmallVector<int64_t, 4>> TensorFinder::sizes(const WeightRule &rule, ArrayRef<std::string> dims,
                                                      const Scope &scope) const {
  SmallVector<int64_t, 4> sizes;
  for (const std::string &dim : dims) {
    Expected<int64_t> size = evaluateInteger(dim, scope);
    if (!size)
      return badInput(source.path() + ": weight " + quoted(rule.name) + ": " + toString(size.takeError()));
    sizes.push_back(*size);
  }
  return sizes;
}

/// "[V = 50, E = 64] (V: the number of tokens ...)"
std::string TensorFinder::spellShape(ArrayRef<std::string> dims, ArrayRef<int64_t> sizes) const {
  std::string shape = "[", notes;
  for (auto [i, dim] : enumerate(dims)) {
    shape += (i ? ", " : "") + dim + " = " + std::to_string(sizes[i]);
    // What GGUF files count rather than say.
    const Parameter *parameter = family.findParameter(dim);
    if (parameter && !parameter->about.empty() && source.kind() == SourceKind::Gguf)
      notes += (notes.empty() ? " (" : "; ") + dim + ": " + parameter->about;
  }
  return shape + "]" + notes + (notes.empty() ? "" : ")");
}

Expected<std::string> TensorFinder::nameOf(const WeightRule &rule, StringRef text, const Scope &scope) const {
  text.consume_front(absentPrefix);
  return replaceBraced(text, [&](StringRef expression) -> Expected<std::string> {
    Expected<Value> value = evaluate(expression, scope);
    if (!value)
      return badInput("family " + quoted(family.name) + ": weight " + quoted(rule.name) + ": " +
                      toString(value.takeError()));
    const std::string *word = std::get_if<std::string>(&*value);
    return word ? *word : spell(*value);
  });
}

std::optional<bool> TensorFinder::isPresent(StringRef weight, const Scope &scope) const {
  Scope first(&scope);
  if (!scope.find("layer"))
    first.set("layer", int64_t(0));
  for (ArrayRef<WeightRule> rules : {ArrayRef(family.weights), ArrayRef(family.layerWeights)})
    for (const WeightRule &rule : rules)
      if (const std::optional<TensorRule> &place = rule.tensor[source.kind()]; place && rule.name == weight) {
        Expected<std::string> name = nameOf(rule, place->tensor, first);
        if (name)
          return source.findTensor(*name) != nullptr;
        consumeError(name.takeError()); // told when the weight is looked for
        return std::nullopt;
      }
  return std::nullopt;
}

/// GGUF files do not tell dimensions of 1 that stand in front from ones that are not there.
static ArrayRef<int64_t> comparable(ArrayRef<int64_t> shape, SourceKind kind) {
  return kind == SourceKind::Gguf ? shape.drop_while([](int64_t size) { return size == 1; }) : shape;
}

bool TensorFinder::check(const SourceTensor *tensor, const std::string &name, ArrayRef<std::string> dims,
                         ArrayRef<int64_t> wanted) {
  bool first = used.insert(name).second;
  if (!tensor) {
    if (first)
      problems.push_back("tensor " + quoted(name) + ": missing, wanted shape " + spellShape(dims, wanted));
    return false;
  }
  if (comparable(tensor->shape, source.kind()) != comparable(wanted, source.kind())) {
    if (first)
      problems.push_back("tensor " + quoted(name) + ": found shape [" +
                         join(map_range(tensor->shape, [](int64_t size) { return std::to_string(size); }), ", ") +
                         "], wanted " + spellShape(dims, wanted));
    return false;
  }
  if (tensor->element.empty()) {
    if (first) {
      ++unsupportedCount;
      problems.push_back("unsupported quantisation " + tensor->storage + " of tensor " + name);
    }
    return false;
  }
  return true;
}

Error TensorFinder::find(const WeightRule &rule, const Scope &scope, BoundWeight &weight) {
  Expected<bool> wanted = evaluateCondition(rule.condition, scope);
  Expected<bool> optional = wanted && *wanted ? evaluateCondition(rule.optional, scope) : Expected<bool>(false);
  if (!wanted || !optional)
    return badInput(source.path() + ": weight " + quoted(rule.name) + ": " +
                    toString(joinErrors(wanted.takeError(), optional.takeError())));
  if (!*wanted)
    return Error::success();
  const std::optional<TensorRule> &place = rule.tensor[source.kind()];
  if (!place)
    return *optional ? Error::success()
                     : badInput("family " + quoted(family.name) + ": weight " + quoted(rule.name) +
                                " has no tensor in this kind of file");
  std::vector<std::string> storedDims = place->stored.empty() ? rule.shape : place->stored;
  const size_t rank = (place->transposed ? 2 : 0) + (place->of.empty() && place->parts.empty() ? 0 : 1);
  if (std::min(rule.shape.size(), storedDims.size()) < rank)
    return badInput("family " + quoted(family.name) + ": weight " + quoted(rule.name) + ": found a shape of " +
                    Twine(std::min(rule.shape.size(), storedDims.size())) + " dimensions, wanted at least " +
                    Twine(rank) + " for a part, or parts, or a transposed matrix");
  if (!place->of.empty())
    storedDims.front() = place->of;
  Expected<SmallVector<int64_t, 4>> shape = sizes(rule, rule.shape, scope);
  Expected<SmallVector<int64_t, 4>> stored = shape ? sizes(rule, storedDims, scope) : SmallVector<int64_t, 4>();
  if (!shape || !stored)
    return joinErrors(shape.takeError(), stored.takeError());

  if (place->transposed) {
    std::swap(storedDims[storedDims.size() - 2], storedDims.back());
    std::swap((*stored)[stored->size() - 2], stored->back());
  }
  weight.transposed = place->transposed;
  weight.shape = *shape;
  if (!place->parts.empty())
    return findParts(rule, *place, scope, ArrayRef(storedDims).drop_front(), ArrayRef(*stored).drop_front(), weight);
  Expected<std::string> placeName = nameOf(rule, place->tensor, scope);
  if (!placeName)
    return placeName.takeError();
  const std::string &name = *placeName;
  const SourceTensor *tensor = source.findTensor(name);
  if ((!tensor && *optional) || !check(tensor, name, storedDims, *stored))
    return Error::success();
  if (!place->stored.empty()) {
    std::optional<uint64_t> wanted = checkedByteSize(*shape, 1), found = checkedByteSize(*stored, 1);
    if (!wanted || wanted != found || !place->of.empty())
      return badInput("family " + quoted(family.name) + ": weight " + quoted(rule.name) + ": found the stored shape " +
                      spellShape(storedDims, *stored) + ", wanted as many elements as " +
                      spellShape(rule.shape, *shape) + " has, and no part");
  }
  weight.tensor = tensor;
  weight.name = name;
  weight.bytes = tensor->bytes;
  if (!place->of.empty()) {
    Expected<int64_t> from = evaluateInteger(place->from, scope);
    if (!from)
      return badInput(source.path() + ": weight " + quoted(rule.name) + ": " + toString(from.takeError()));
    int64_t rows = stored->front(), count = shape->front();
    if (*from < 0 || count < 0 || *from > rows || count > rows - *from)
      return badInput("family " + quoted(family.name) + ": weight " + quoted(rule.name) + ": found rows " +
                      Twine(*from) + " to " + Twine(*from + count) + ", wanted a part of the " + Twine(rows) +
                      " rows of tensor " + quoted(name));
    uint64_t rowBytes = rows ? tensor->bytes / rows : 0;
    weight.name += ("[" + Twine(*from) + ":" + Twine(*from + count) + "]").str();
    weight.offset = rowBytes * *from;
    weight.bytes = rowBytes * count;
  }
  if (place->permutation) {
    Expected<SmallVector<int64_t, 4>> dims = sizes(rule, place->permutation->dims, scope);
    if (!dims)
      return dims.takeError();
    weight.permutationDims.assign(dims->begin(), dims->end());
    weight.permutation = place->permutation->perm;
  }
  return Error::success();
}

Error TensorFinder::findParts(const WeightRule &rule, const TensorRule &place, const Scope &scope,
                              ArrayRef<std::string> dims, ArrayRef<int64_t> sizes, BoundWeight &weight) {
  Expected<int64_t> count = evaluateInteger(place.parts, scope);
  if (!count)
    return badInput(source.path() + ": weight " + quoted(rule.name) + ": " + toString(count.takeError()));
  // Each part is a tensor, so that a file cannot ask for more parts than it has bytes.
  if (*count != weight.shape.front() || *count < 1 || static_cast<uint64_t>(*count) > source.tensors().size())
    return badInput(source.path() + ": weight " + quoted(rule.name) + ": found " + Twine(*count) + " parts and " +
                    Twine(source.tensors().size()) + " tensors, wanted a tensor for each of " +
                    Twine(weight.shape.front()) + " parts");
  auto nameOfPart = [&](Value part) {
    Scope own(&scope);
    own.set("part", std::move(part));
    return nameOf(rule, place.tensor, own);
  };
  bool fits = true;
  for (int64_t part = 0; part < *count; ++part) {
    Expected<std::string> name = nameOfPart(part);
    if (!name)
      return name.takeError();
    const SourceTensor *tensor = source.findTensor(*name);
    if (!check(tensor, *name, dims, sizes)) {
      fits = false;
      continue;
    }
    if (!weight.parts.empty() && weight.parts.front()->element != tensor->element) {
      problems.push_back("tensor " + quoted(*name) + ": found type " + tensor->storage + ", wanted " +
                         weight.parts.front()->storage + ", as " + quoted(weight.parts.front()->name) + " has");
      fits = false;
    }
    weight.parts.push_back(tensor);
    weight.bytes += tensor->bytes;
  }
  Expected<std::string> name = nameOfPart(std::string("*"));
  if (!name)
    return name.takeError();
  weight.name = std::move(*name);
  if (fits)
    weight.tensor = weight.parts.front();
  else
    weight.parts.clear();
  return Error::success();
}

constexpr StringLiteral anyNumber = "{layer}";

/// "model.layers.{layer}.x" of "model.layers.7.x".
static std::string withoutNumbers(StringRef name) {
  SmallVector<StringRef> parts;
  name.split(parts, '.');
  for (StringRef &part : parts)
    if (!part.empty() && all_of(part, isDigit))
      part = anyNumber;
  return join(parts, ".");
}

Error TensorFinder::readIgnored(const IgnoredTensor &rule, const Scope &scope) {
  Expected<bool> applies = evaluateCondition(rule.condition, scope);
  Expected<int64_t> parts = applies && *applies && !rule.parts.empty() ? evaluateInteger(rule.parts, scope)
                                                                       : Expected<int64_t>(applies && *applies);
  if (!applies || !parts)
    return joinErrors(applies.takeError(), parts.takeError());
  // Each part has a tensor, so that a file cannot ask for more parts than it has bytes.
  for (int64_t part = 0; part < *parts && static_cast<uint64_t>(part) < source.tensors().size(); ++part) {
    Scope own(&scope);
    own.set("part", part);
    own.set("layer", std::string(anyNumber));
    auto valueOf = [&](StringRef expression) -> Expected<std::string> {
      Expected<Value> value = evaluate(expression, own);
      if (!value)
        return value.takeError();
      const std::string *word = std::get_if<std::string>(&*value);
      return word ? *word : spell(*value);
    };
    StringRef text = rule.name;
    text.consume_front(absentPrefix);
    Expected<std::string> name = replaceBraced(text, valueOf);
    Expected<std::string> note = replaceBraced(rule.note, valueOf);
    if (!name || !note)
      return joinErrors(name.takeError(), note.takeError());
    StringRef pattern = *name;
    if (pattern.consume_back("*"))
      ignoredPrefixes.emplace_back(pattern.str(), *note);
    else
      ignored.try_emplace(pattern, *note);
  }
  return Error::success();
}

Error TensorFinder::readIgnored(const Scope &scope) {
  for (const IgnoredTensor &rule : family.models[source.kind()].ignoredTensors)
    if (Error error = readIgnored(rule, scope))
      return badInput("family " + quoted(family.name) + ": ignored tensor " + quoted(rule.name) + ": " +
                      toString(std::move(error)));
  if (source.kind() == SourceKind::Gguf)
    for (const Parameter &parameter : family.parameters)
      ignored.try_emplace(parameter.tensor); // which was read
  return Error::success();
}

const std::string *TensorFinder::findIgnored(StringRef tensor) const {
  for (const std::string &name : {tensor.str(), withoutNumbers(tensor)})
    if (auto found = ignored.find(name); found != ignored.end())
      return &found->second;
  auto it = find_if(ignoredPrefixes, [&](const auto &prefix) { return tensor.starts_with(prefix.first); });
  return it == ignoredPrefixes.end() ? nullptr : &it->second;
}

Error TensorFinder::standIn(const WeightRule &rule, const Scope &scope, const BoundWeight &weight) {
  const std::optional<TensorRule> &place = rule.tensor[source.kind()];
  Expected<std::string> name = place ? nameOf(rule, place->tensor, scope) : Expected<std::string>("");
  if (!name)
    return name.takeError();
  const SourceTensor *tensor = place ? source.findTensor(*name) : nullptr;
  if (!tensor || !weight.tensor || findIgnored(tensor->name) || !used.insert(tensor->name).second)
    return Error::success();
  if (source.bytes(*tensor) != source.bytes(*weight.tensor))
    problems.push_back("tensor " + quoted(tensor->name) + ": found, but " + quoted(weight.name) +
                       " stands in its place, and they differ");
  return Error::success();
}

Error TensorFinder::finish(std::vector<std::string> &notes) {
  constexpr size_t maxShown = 20;
  for (const SourceTensor &tensor : source.tensors()) {
    if (used.contains(tensor.name))
      continue;
    const std::string *note = findIgnored(tensor.name);
    if (!note)
      problems.push_back("tensor " + quoted(tensor.name) + ": found, but the family has no place for it");
    else if (!note->empty() && !is_contained(notes, *note))
      notes.push_back(*note);
  }
  if (problems.empty())
    return Error::success();
  std::string text = source.path().str() + ": ";
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

} // namespace tilewright
