// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/graph/GraphBuilder.h"

#include "frontend/graph/Errors.h"
#include "frontend/graph/GraphFile.h"
#include "frontend/graph/PackGraph.h"
#include "frontend/graph/Verifier.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace tilewright {

static std::unique_ptr<graph::TensorTypeT> packTensor(const Tensor &tensor) {
  auto packed = std::make_unique<graph::TensorTypeT>();
  packed->element = tensor.element;
  for (const Dimension &dim : tensor.shape) {
    auto packedDim = std::make_unique<graph::DimT>();
    packedDim->size = dim.size;
    packedDim->symbol = dim.symbol;
    packed->shape.push_back(std::move(packedDim));
  }
  return packed;
}

static graph::TypeUnion packType(const ValueType &type) {
  graph::TypeUnion packed;
  if (!type.isState) {
    packed.Set(std::move(*packTensor(type.tensors.front())));
    return packed;
  }
  graph::StateTypeT state;
  for (const Tensor &buffer : type.tensors)
    state.buffers.push_back(packTensor(buffer));
  state.group = type.group;
  packed.Set(std::move(state));
  return packed;
}

static std::unique_ptr<graph::AttrT> packAttribute(const Attribute &attribute) {
  auto packed = std::make_unique<graph::AttrT>();
  packed->name = attribute.name;
  auto set = [&](auto attr, const auto &value) {
    attr.value = value;
    packed->value.Set(std::move(attr));
  };
  struct Visitor {
    decltype(set) &set;
    void operator()(int64_t value) const { set(graph::IntAttrT(), value); }
    void operator()(double value) const { set(graph::FloatAttrT(), value); }
    void operator()(bool value) const { set(graph::BoolAttrT(), value); }
    void operator()(const std::string &value) const { set(graph::StringAttrT(), value); }
    void operator()(const std::vector<int64_t> &value) const { set(graph::IntsAttrT(), value); }
    void operator()(const std::vector<double> &value) const { set(graph::FloatsAttrT(), value); }
    void operator()(const std::vector<std::string> &value) const { set(graph::StringsAttrT(), value); }
  };
  std::visit(Visitor{set}, attribute.value);
  return packed;
}

static std::vector<uint32_t> indices(ArrayRef<ValueId> values) {
  std::vector<uint32_t> result;
  result.reserve(values.size());
  for (ValueId value : values)
    result.push_back(value.index);
  return result;
}

FunctionBuilder::FunctionBuilder(GraphBuilder &graph, StringRef name)
    : graph(graph), function(std::make_unique<graph::FunctionT>()) {
  function->name = name.str();
}

StringRef FunctionBuilder::name() const { return function->name; }

ValueType FunctionBuilder::typeOf(ValueId value) const {
  return value.index < types.size() ? types[value.index] : ValueType(Tensor());
}

ValueId FunctionBuilder::addValue(StringRef name, const ValueType &type) {
  auto value = std::make_unique<graph::ValueT>();
  value->name = name.str();
  // The second `x` becomes `x_1`, unless somebody has taken that name.
  if (!name.empty() && nameUses.contains(name)) {
    do
      value->name = (name + "_" + Twine(nameUses[name]++)).str();
    while (nameUses.contains(value->name));
  }
  if (!name.empty())
    nameUses[value->name] = 1;
  value->type = packType(type);
  function->values.push_back(std::move(value));
  types.push_back(type);
  return {static_cast<uint32_t>(types.size() - 1)};
}

std::vector<std::unique_ptr<graph::OpT>> &FunctionBuilder::body() {
  return regions.empty() ? function->body : regions.back().region->body;
}

ValueId FunctionBuilder::argument(StringRef name, ValueType type) {
  if (!function->body.empty())
    graph.misuse("function " + quoted(function->name) + ": argument " + quoted(name) + " added after an op");
  ValueId value = addValue(name, type);
  function->arguments.push_back(value.index);
  return value;
}

std::vector<ValueId> FunctionBuilder::op(OpSpec spec) {
  auto packed = std::make_unique<graph::OpT>();
  packed->name = spec.name;
  packed->operands = indices(spec.operands);
  packed->operand_segments = spec.operandSegments;
  packed->location = spec.location;
  for (const Attribute &attribute : spec.attributes)
    packed->attrs.push_back(packAttribute(attribute));
  std::vector<ValueId> results;
  for (auto [i, type] : enumerate(spec.resultTypes)) {
    results.push_back(addValue(i < spec.resultNames.size() ? StringRef(spec.resultNames[i]) : StringRef(), type));
    packed->results.push_back(results.back().index);
  }
  body().push_back(std::move(packed));
  return results;
}

ValueId FunctionBuilder::op(StringRef name, ArrayRef<ValueId> operands, ValueType type,
                            std::vector<Attribute> attributes, StringRef resultName) {
  OpSpec spec;
  spec.name = name.str();
  spec.operands.assign(operands.begin(), operands.end());
  spec.attributes = std::move(attributes);
  spec.resultTypes.push_back(std::move(type));
  spec.resultNames.push_back(resultName.str());
  return op(std::move(spec)).front();
}

std::vector<ValueId> FunctionBuilder::call(const FunctionBuilder &callee, ArrayRef<ValueId> operands,
                                           std::vector<std::string> resultNames) {
  OpSpec spec;
  spec.name = "call";
  spec.operands.assign(operands.begin(), operands.end());
  spec.attributes.emplace_back("callee", callee.function->name);
  for (uint32_t index : callee.function->results)
    spec.resultTypes.push_back(callee.typeOf({index}));
  spec.resultNames = std::move(resultNames);
  return op(std::move(spec));
}

ValueId FunctionBuilder::weight(StringRef name) {
  auto known = weights.find(name);
  if (known != weights.end())
    return known->second;
  for (const OpenRegion &open : regions)
    if (auto inner = open.weights.find(name); inner != open.weights.end())
      return inner->second;
  auto type = graph.weightTypes.find(name);
  if (type == graph.weightTypes.end()) {
    graph.misuse("function " + quoted(function->name) + ": weight " + quoted(name) + " has not been added");
    return {};
  }
  ValueId value = op("weight", {}, type->second, {Attribute("name", name.str())}, name);
  (regions.empty() ? weights : regions.back().weights)[name] = value;
  return value;
}

std::vector<ValueId> FunctionBuilder::beginRegion(ArrayRef<ValueType> argumentTypes) {
  if (body().empty()) {
    graph.misuse("function " + quoted(function->name) + ": a region is begun before the first op");
    return std::vector<ValueId>(argumentTypes.size());
  }
  auto region = std::make_unique<graph::RegionT>();
  std::vector<ValueId> arguments;
  for (const ValueType &type : argumentTypes) {
    arguments.push_back(addValue("", type));
    region->arguments.push_back(arguments.back().index);
  }
  graph::RegionT *raw = region.get();
  body().back()->regions.push_back(std::move(region));
  regions.push_back({raw, {}});
  return arguments;
}

void FunctionBuilder::endRegion(ArrayRef<ValueId> yields) {
  if (regions.empty()) {
    graph.misuse("function " + quoted(function->name) + ": a region is ended that was not begun");
    return;
  }
  regions.back().region->yields = indices(yields);
  regions.pop_back();
}

void FunctionBuilder::results(ArrayRef<ValueId> values, std::vector<std::string> names) {
  function->results = indices(values);
  function->result_names = std::move(names);
}

GraphBuilder::GraphBuilder(StringRef producer) : graph(std::make_unique<graph::GraphT>()) {
  graph->schema_version = GraphFile::schemaVersion;
  graph->producer = producer.str();
}

GraphBuilder::~GraphBuilder() = default;

void GraphBuilder::misuse(const Twine &what) {
  if (firstMisuse.empty())
    firstMisuse = what.str();
}

FunctionBuilder &GraphBuilder::addFunction(StringRef name) {
  functions.push_back(std::unique_ptr<FunctionBuilder>(new FunctionBuilder(*this, name)));
  return *functions.back();
}

void GraphBuilder::addWeight(StringRef name, Tensor type, WeightExtent extent, std::optional<RowOrder> order) {
  auto weight = std::make_unique<graph::WeightT>();
  weight->name = name.str();
  weight->type = packTensor(type);
  weight->file = std::move(extent.file);
  weight->offset = extent.offset;
  weight->length = extent.length;
  weight->hash = extent.hash;
  if (order) {
    weight->row_permutation = std::make_unique<graph::RowPermutationT>();
    weight->row_permutation->dims = std::move(order->dims);
    weight->row_permutation->perm = std::move(order->perm);
  }
  weightTypes[name] = std::move(type);
  graph->weights.push_back(std::move(weight));
}

void GraphBuilder::addWeight(StringRef name, Tensor type, std::vector<WeightExtent> parts, bool transposed) {
  if (parts.size() == 1) {
    addWeight(name, std::move(type), std::move(parts.front()));
  } else {
    WeightExtent whole;
    std::vector<std::unique_ptr<graph::WeightPartT>> made;
    std::vector<uint8_t> hashes(8 * parts.size());
    for (auto [i, part] : enumerate(parts)) {
      support::endian::write64le(&hashes[8 * i], part.hash);
      whole.length += part.length;
      auto entry = std::make_unique<graph::WeightPartT>();
      entry->file = std::move(part.file);
      entry->offset = part.offset;
      entry->length = part.length;
      entry->hash = part.hash;
      made.push_back(std::move(entry));
    }
    whole.hash = xxh3_64bits(hashes);
    addWeight(name, std::move(type), std::move(whole));
    graph->weights.back()->parts = std::move(made);
  }
  graph->weights.back()->transposed = transposed;
}

void GraphBuilder::addInlineWeight(StringRef name, Tensor type, ArrayRef<uint8_t> bytes) {
  inlineBytes += bytes.size();
  if (inlineBytes > maxInlineBytes) {
    misuse("weight " + quoted(name) + ": more than " + Twine(maxInlineBytes) + " bytes of inline weights");
    return;
  }
  auto weight = std::make_unique<graph::WeightT>();
  weight->name = name.str();
  weight->type = packTensor(type);
  weight->inline_data.assign(bytes.begin(), bytes.end());
  weight->length = bytes.size();
  weight->hash = xxh3_64bits(bytes);
  weightTypes[name] = std::move(type);
  graph->weights.push_back(std::move(weight));
}

void GraphBuilder::setName(StringRef name) { graph->name = name.str(); }
void GraphBuilder::setFamily(StringRef family) { graph->family = family.str(); }
void GraphBuilder::setEntry(StringRef function) { graph->entry = function.str(); }
void GraphBuilder::setEncodeEntry(StringRef function) { graph->encode_entry = function.str(); }
void GraphBuilder::setContextLength(uint32_t tokens) { graph->context_length = tokens; }

void GraphBuilder::setRereadLength(uint32_t tokens) { graph->reread_length = tokens; }

void GraphBuilder::setVocabularySize(uint32_t tokens) { graph->vocab_size = tokens; }

void GraphBuilder::setTokenizer(graph::TokenizerT tokenizer) {
  graph->tokenizer = std::make_unique<graph::TokenizerT>(std::move(tokenizer));
}

void GraphBuilder::setGeneration(graph::GenerationT generation) {
  graph->generation = std::make_unique<graph::GenerationT>(std::move(generation));
}

Expected<std::vector<uint8_t>> GraphBuilder::finish() {
  for (const std::unique_ptr<FunctionBuilder> &function : functions)
    if (!function->regions.empty())
      misuse("function " + quoted(function->function->name) + ": a region was not ended");
  if (!firstMisuse.empty())
    return badInput("graph builder: " + firstMisuse);
  graph->functions.clear();
  for (const std::unique_ptr<FunctionBuilder> &function : functions)
    graph->functions.push_back(std::make_unique<graph::FunctionT>(*function->function));
  if (graph->vocab_size == 0 && graph->tokenizer)
    graph->vocab_size = graph->tokenizer->tokens.size();

  std::vector<uint8_t> bytes = packGraph(*graph);
  if (Error error = verifyStructure(*graph::GetGraph(bytes.data()), "graph builder", bytes.size()))
    return error;
  return bytes;
}

} // namespace tilewright
