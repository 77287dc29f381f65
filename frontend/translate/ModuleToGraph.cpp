// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/translate/Translate.h"

#include "frontend/graph/PackGraph.h"
#include "frontend/translate/Parts.h"
#include "ir/tw/Tw.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace tilewright {

using namespace translate;

namespace {

constexpr StringLiteral kSegments = "operandSegmentSizes";

class Writer {
public:
  Writer(ModuleOp module, const GraphFile &origin) : module(module), origin(origin) {}

  llvm::Expected<std::vector<uint8_t>> run();

private:
  llvm::Error fail(Operation *op, const llvm::Twine &problem) const;
  llvm::Error addWeight(ml_program::GlobalOp global);
  llvm::Error addFunction(func::FuncOp function);
  llvm::Error addOps(Block &block, std::vector<std::unique_ptr<graph::OpT>> &body);
  llvm::Error addOp(Operation &op, graph::OpT &out);
  llvm::Error addAttributes(Operation &op, graph::OpT &out);
  llvm::Error addRegion(Region &region, graph::OpT &out);
  llvm::Error addValue(Value value);
  std::string uniqueName(std::string wanted);

  ModuleOp module;
  const GraphFile &origin;
  graph::GraphT graph;
  llvm::StringMap<std::string> weightNames; ///< by symbol
  graph::FunctionT *current = nullptr;
  llvm::DenseMap<Value, uint32_t> indices;
  llvm::StringSet<> names;
};

llvm::Error Writer::fail(Operation *op, const llvm::Twine &problem) const {
  std::string place = current ? "function " + quoted(current->name) + ", " : "";
  return unsupported(place + "op " + quoted(op->getName().getStringRef()) + ": " + problem);
}

std::string Writer::uniqueName(std::string wanted) {
  // A pass has made the value, or copied it from another.
  std::string name = wanted.empty() ? "v" + std::to_string(current->values.size()) : wanted;
  for (unsigned i = 1; !names.insert(name).second; ++i)
    name = (wanted.empty() ? "v" + std::to_string(current->values.size()) : wanted) + "_" + std::to_string(i);
  return name;
}

llvm::Error Writer::addValue(Value value) {
  llvm::Expected<graph::TypeUnion> type = graphTypeOf(value.getType(), graphSymbolsOf(value));
  if (!type)
    return type.takeError();
  auto out = std::make_unique<graph::ValueT>();
  // Values of the graph may have no name; only one that is known is written.
  std::string name = graphNameOf(value);
  bool isArgument =
      isa<BlockArgument>(value) && isa<func::FuncOp>(cast<BlockArgument>(value).getOwner()->getParentOp());
  out->name = name.empty() && !isArgument ? "" : uniqueName(name);
  out->type = std::move(*type);
  indices[value] = current->values.size();
  current->values.push_back(std::move(out));
  return llvm::Error::success();
}

llvm::Error Writer::addWeight(ml_program::GlobalOp global) {
  auto index = global->getAttrOfType<IntegerAttr>(kWeightIndex);
  const auto *weights = origin.graph().weights();
  if (!index || !weights || index.getInt() < 0 || index.getInt() >= weights->size())
    return fail(global, "weight " + quoted(global.getSymName()) + " has no " + kWeightIndex + " below " +
                            llvm::Twine(weights ? weights->size() : 0) + ", the weights of " + origin.path());
  auto name = global->getAttrOfType<StringAttr>(kWeightName);
  auto out = std::unique_ptr<graph::WeightT>(weights->Get(index.getInt())->UnPack());
  out->name = (name ? name.getValue() : global.getSymName()).str();
  weightNames[global.getSymName()] = out->name;
  graph.weights.push_back(std::move(out));
  return llvm::Error::success();
}

llvm::Error Writer::addAttributes(Operation &op, graph::OpT &out) {
  std::optional<RegisteredOperationName> registered = op.getName().getRegisteredInfo();
  if (!registered)
    return fail(&op, "its dialect is not loaded");
  // Those the graph had, in its order; then those of the definition that are not just defaults.
  SmallVector<StringRef> order;
  OpOrigin source = originOf(op.getLoc());
  for (const std::string &name : source.attributes)
    order.push_back(name);
  Operation *bare = Operation::create(OperationState(op.getLoc(), op.getName())); // has every default
  for (StringAttr name : registered->getAttributeNames())
    if (!llvm::is_contained(source.attributes, name.getValue()) &&
        bare->getInherentAttr(name) != op.getInherentAttr(name))
      order.push_back(name);
  bare->destroy();
  for (StringRef name : order) {
    std::optional<Attribute> attribute = op.getInherentAttr(name);
    if (!attribute || !*attribute)
      continue;
    if (name == kSegments) {
      auto sizes = cast<DenseI32ArrayAttr>(*attribute).asArrayRef();
      out.operand_segments.assign(sizes.begin(), sizes.end());
      continue;
    }
    llvm::Expected<graph::AttrValueUnion> value = graphAttributeOf(*attribute);
    if (!value)
      return fail(&op, "attribute " + quoted(name) + ": " + llvm::toString(value.takeError()));
    auto attr = std::make_unique<graph::AttrT>();
    attr->name = name.str();
    attr->value = std::move(*value);
    out.attrs.push_back(std::move(attr));
  }
  return llvm::Error::success();
}

llvm::Error Writer::addRegion(Region &region, graph::OpT &out) {
  auto part = std::make_unique<graph::RegionT>();
  auto yield = region.hasOneBlock() ? dyn_cast<tw::YieldOp>(region.front().getTerminator()) : tw::YieldOp();
  if (!yield)
    return fail(region.getParentOp(), "a region that does not end with tw.yield has no form in a graph file");
  for (BlockArgument argument : region.getArguments()) {
    if (llvm::Error error = addValue(argument))
      return error;
    part->arguments.push_back(indices.lookup(argument));
  }
  if (llvm::Error error = addOps(region.front(), part->body))
    return error;
  for (Value value : yield.getValues())
    part->yields.push_back(indices.lookup(value));
  out.regions.push_back(std::move(part));
  return llvm::Error::success();
}

llvm::Error Writer::addOp(Operation &op, graph::OpT &out) {
  auto setString = [&](StringRef name, StringRef value) {
    auto attr = std::make_unique<graph::AttrT>();
    graph::StringAttrT string;
    string.value = value.str();
    attr->name = name.str();
    attr->value.Set(std::move(string));
    out.attrs.push_back(std::move(attr));
  };
  for (Value operand : op.getOperands())
    out.operands.push_back(indices.lookup(operand));
  out.location = originOf(op.getLoc()).location;
  if (auto call = dyn_cast<func::CallOp>(op)) {
    out.name = "call";
    setString("callee", call.getCallee());
  } else if (auto load = dyn_cast<ml_program::GlobalLoadConstOp>(op)) {
    out.name = "weight";
    auto name = weightNames.find(load.getGlobal().getRootReference());
    if (name == weightNames.end())
      return fail(&op, "there is no weight " + quoted(load.getGlobal().getRootReference()));
    setString("name", name->second);
  } else {
    out.name = op.getName().getStringRef().str();
    if (llvm::Error error = addAttributes(op, out))
      return error;
    for (Region &region : op.getRegions())
      if (llvm::Error error = addRegion(region, out))
        return error;
  }
  for (Value result : op.getResults()) {
    if (llvm::Error error = addValue(result))
      return error;
    out.results.push_back(indices.lookup(result));
  }
  return llvm::Error::success();
}

llvm::Error Writer::addOps(Block &block, std::vector<std::unique_ptr<graph::OpT>> &body) {
  for (Operation &op : block.without_terminator()) {
    auto out = std::make_unique<graph::OpT>();
    if (llvm::Error error = addOp(op, *out))
      return error;
    body.push_back(std::move(out));
  }
  return llvm::Error::success();
}

llvm::Error Writer::addFunction(func::FuncOp function) {
  auto out = std::make_unique<graph::FunctionT>();
  current = out.get();
  indices.clear();
  names.clear();
  out->name = function.getName().str();
  if (!function.getBody().hasOneBlock())
    return fail(function, "a function of more or less than one block has no form in a graph file");
  for (BlockArgument argument : function.getArguments()) {
    if (llvm::Error error = addValue(argument))
      return error;
    out->arguments.push_back(indices.lookup(argument));
  }
  if (llvm::Error error = addOps(function.getBody().front(), out->body))
    return error;
  for (auto [i, value] : llvm::enumerate(function.getBody().front().getTerminator()->getOperands())) {
    out->results.push_back(indices.lookup(value));
    if (auto name = function.getResultAttrOfType<StringAttr>(i, kName))
      out->result_names.push_back(name.str());
  }
  if (out->result_names.size() != out->results.size())
    out->result_names.clear();
  current = nullptr;
  graph.functions.push_back(std::move(out));
  return llvm::Error::success();
}

llvm::Expected<std::vector<uint8_t>> Writer::run() {
  auto string = [&](StringRef name) {
    auto value = module->getAttrOfType<StringAttr>(name);
    return value ? value.str() : std::string();
  };
  auto number = [&](StringRef name) {
    auto value = module->getAttrOfType<IntegerAttr>(name);
    return value ? static_cast<uint32_t>(value.getInt()) : 0;
  };
  graph.schema_version = GraphFile::schemaVersion;
  graph.entry = string(kEntry);
  graph.encode_entry = string(kEncodeEntry);
  graph.name = string(kName);
  graph.family = string(kFamily);
  graph.producer = string(kProducer);
  graph.context_length = number(kContextLength);
  graph.vocab_size = number(kVocabSize);
  graph.reread_length = number(kRereadLength);
  if (const graph::Tokenizer *tokenizer = origin.graph().tokenizer())
    graph.tokenizer.reset(tokenizer->UnPack());
  if (const graph::Generation *generation = origin.graph().generation())
    graph.generation.reset(generation->UnPack());
  for (auto global : module.getOps<ml_program::GlobalOp>())
    if (llvm::Error error = addWeight(global))
      return error;
  for (Operation &op : *module.getBody()) {
    if (isa<ml_program::GlobalOp>(op))
      continue;
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function)
      return fail(&op, "it has no form in a graph file");
    if (llvm::Error error = addFunction(function))
      return error;
  }
  std::vector<uint8_t> bytes = packGraph(graph);
  if (llvm::Error error = checkPacked(bytes, origin.path()))
    return error;
  return bytes;
}

} // namespace

llvm::Expected<std::vector<uint8_t>> translateToGraph(ModuleOp module, const GraphFile &origin) {
  return Writer(module, origin).run();
}

} // namespace tilewright
