// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/driver/QuantizeGraph.h"

#include "frontend/graph/AtomicFile.h"
#include "frontend/graph/Errors.h"
#include "frontend/graph/PackGraph.h"
#include "frontend/graph/Types.h"
#include "ir/interfaces/DecodeBlocks.h"
#include "tools/progress/Progress.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/CodeComplete.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Dialect.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/xxhash.h"

#include <cmath>
#include <map>
#include <set>

using namespace mlir;

namespace tilewright::driver {

namespace {

/// Where weights begin in their file, as in GGUF files that ask for nothing else.
constexpr uint64_t kAlignment = 32;

class Quantizer {
public:
  Quantizer(const GraphFile &file, const QuantizeRules &rules, MLIRContext &context)
      : file(file), rules(rules), context(context) {
    llvm::raw_string_ostream(element) << Type(rules.type);
  }

  llvm::Expected<QuantizedGraph> run(StringRef weightsPath, Progress &progress);

private:
  /// What is known of values that are, or may be, the same weight.
  struct Class {
    std::string problem; ///< why the weight has to keep its type
    bool isMultiplied = false, isTable = false, isChosen = false;
  };
  /// Of a function: the number of its first value among all, its values as it was, the scales of weights.
  struct FunctionInfo {
    unsigned firstValue = 0, values = 0;
    llvm::DenseMap<uint32_t, uint32_t> scaleOf; ///< by value of a chosen weight
  };
  using Body = std::vector<std::unique_ptr<graph::OpT>>;

  unsigned slotOf(size_t function, uint32_t value) const { return functions[function].firstValue + value; }
  Class &classOf(unsigned slot) { return classes[joined.findLeader(slot)]; }
  void forbid(unsigned slot, const llvm::Twine &why) {
    if (std::string &problem = classOf(slot).problem; problem.empty())
      problem = why.str();
  }
  bool hasRowScales() const { return rules.type.getRowEncoding() == RowEncoding::ScaledRows; }

  void joinWeights();
  void join(size_t function, const Body &body);
  void collectUses();
  void collectUses(size_t function, const Body &body);
  void readWeight(size_t function, const graph::OpT &op, unsigned operand);
  void checkWeight(const graph::WeightT &weight, unsigned slot);
  void choose();
  void retype();
  void addScales();
  void rewriteBody(size_t function, Body &body);
  void rewriteUse(size_t function, std::unique_ptr<graph::OpT> op, Body &out);
  llvm::Error writeWeights(StringRef path, Progress &progress);
  llvm::Expected<std::vector<uint8_t>> encoded(const graph::WeightT &weight, size_t index, std::vector<float> &scales);

  // Parts of the graph.
  uint32_t addValue(size_t function, const graph::TensorTypeT &type, StringRef name = "");
  const graph::TensorTypeT &typeOf(size_t function, uint32_t value) const {
    return *graph.functions[function]->values[value]->type.AsTensorType();
  }
  static std::unique_ptr<graph::OpT> makeOp(StringRef name, ArrayRef<uint32_t> operands, ArrayRef<uint32_t> results);
  static std::string stringOf(const graph::OpT &op, StringRef attribute);

  const GraphFile &file;
  const QuantizeRules &rules;
  MLIRContext &context;
  std::string element;
  graph::GraphT graph;
  llvm::StringMap<unsigned> weightByName, functionByName;
  std::vector<FunctionInfo> functions;
  llvm::IntEqClasses joined; ///< weights by their number, then all functions' values
  std::vector<Class> classes;
  QuantizedGraph result;
};

std::string Quantizer::stringOf(const graph::OpT &op, StringRef attribute) {
  for (const auto &attr : op.attrs)
    if (attr->name == attribute)
      if (const graph::StringAttrT *text = attr->value.AsStringAttr())
        return text->value;
  return "";
}

std::unique_ptr<graph::OpT> Quantizer::makeOp(StringRef name, ArrayRef<uint32_t> operands, ArrayRef<uint32_t> results) {
  auto op = std::make_unique<graph::OpT>();
  op->name = name.str();
  op->operands.assign(operands.begin(), operands.end());
  op->results.assign(results.begin(), results.end());
  return op;
}

uint32_t Quantizer::addValue(size_t function, const graph::TensorTypeT &type, StringRef name) {
  auto value = std::make_unique<graph::ValueT>();
  value->name = name.str();
  value->type.Set(graph::TensorTypeT(type));
  graph.functions[function]->values.push_back(std::move(value));
  return graph.functions[function]->values.size() - 1;
}

/// Weights, and values that weights are passed to.
void Quantizer::joinWeights() {
  unsigned slots = graph.weights.size();
  for (auto [i, weight] : llvm::enumerate(graph.weights))
    weightByName[weight->name] = i;
  for (auto [i, function] : llvm::enumerate(graph.functions)) {
    functionByName[function->name] = i;
    functions.emplace_back();
    functions.back().firstValue = slots;
    functions.back().values = function->values.size();
    slots += function->values.size();
  }
  joined.grow(slots);
  classes.resize(slots);
  for (auto [i, function] : llvm::enumerate(graph.functions))
    join(i, function->body);
}

void Quantizer::join(size_t function, const Body &body) {
  for (const auto &op : body) {
    if (op->name == "weight")
      joined.join(weightByName.lookup(stringOf(*op, "name")), slotOf(function, op->results[0]));
    if (op->name == "call") {
      const size_t callee = functionByName.lookup(stringOf(*op, "callee"));
      for (auto [argument, operand] : llvm::zip(graph.functions[callee]->arguments, op->operands))
        joined.join(slotOf(callee, argument), slotOf(function, operand));
    }
    for (const auto &region : op->regions)
      join(function, region->body);
  }
}

void Quantizer::collectUses() {
  llvm::StringSet<> called;
  for (const auto &function : graph.functions)
    for (const auto &op : function->body)
      if (op->name == "call")
        called.insert(stringOf(*op, "callee"));
  for (auto [i, function] : llvm::enumerate(graph.functions)) {
    if (function->name == graph.entry || !called.contains(function->name))
      for (uint32_t argument : function->arguments)
        forbid(slotOf(i, argument), "it is an argument of the model");
    for (uint32_t value : function->results)
      forbid(slotOf(i, value), "it is a result");
    collectUses(i, function->body);
  }
  for (auto [i, weight] : llvm::enumerate(graph.weights))
    checkWeight(*weight, i);
}

void Quantizer::readWeight(size_t function, const graph::OpT &op, unsigned operand) {
  Class &known = classOf(slotOf(function, op.operands[operand]));
  if (op.name == "tw.gather") {
    known.isTable = true;
    if (typeOf(function, op.results[0]).element != "f32")
      forbid(slotOf(function, op.operands[operand]),
             "its rows are looked up as " + typeOf(function, op.results[0]).element);
    return;
  }
  known.isMultiplied = true;
  if (hasRowScales() && typeOf(function, op.results[0]).element != "f32")
    forbid(slotOf(function, op.operands[operand]), "the product is not of f32");
}

void Quantizer::collectUses(size_t function, const Body &body) {
  for (const auto &op : body) {
    auto has = [&](StringRef attribute) {
      return llvm::any_of(op->attrs, [&](const auto &attr) { return attr->name == attribute; });
    };
    // Only what reads packed rows, in the form in which it does.
    const bool isLinear = op->name == "tw.linear", isTable = op->name == "tw.gather" && !has("batch_dims"),
               isGrouped = op->name == "tw.grouped_linear" && !has("in_out") && !hasRowScales();
    for (auto [i, operand] : llvm::enumerate(op->operands)) {
      if (op->name == "call")
        break;
      if ((i == 1 && (isLinear || isGrouped)) || (i == 0 && isTable))
        readWeight(function, *op, i);
      else
        forbid(slotOf(function, operand), op->name + " reads it");
    }
    if (op->name != "weight")
      for (uint32_t value : op->results)
        forbid(slotOf(function, value), "it is computed");
    for (const auto &region : op->regions) {
      for (uint32_t argument : region->arguments)
        forbid(slotOf(function, argument), "it is computed");
      for (uint32_t value : region->yields)
        forbid(slotOf(function, value), "it is computed");
      collectUses(function, region->body);
    }
  }
}

void Quantizer::checkWeight(const graph::WeightT &weight, unsigned slot) {
  const std::string &type = weight.type->element;
  if (type != "f32" && type != "f16" && type != "bf16")
    return forbid(slot, "it is of " + type);
  const auto &shape = weight.type->shape;
  if (shape.size() != 2 && shape.size() != 3)
    return forbid(slot, "it is no matrix");
  const int64_t columns = shape.back()->size, block = rules.type.getBlockElements();
  if (columns % block)
    forbid(slot,
           "its rows of " + std::to_string(columns) + " elements are no whole blocks of " + std::to_string(block));
}

void Quantizer::choose() {
  for (unsigned slot = 0; slot < classes.size(); ++slot) {
    Class &known = classes[slot];
    if (joined.findLeader(slot) == slot)
      known.isChosen =
          known.problem.empty() && (known.isMultiplied || known.isTable) && !(known.isTable && rules.keepTables);
  }
  std::map<std::string, SmallVector<StringRef>> kept; // by why
  for (auto [i, weight] : llvm::enumerate(graph.weights)) {
    const Class &known = classOf(i);
    result.weights += known.isChosen;
    if (known.isMultiplied && !known.isChosen)
      kept[known.problem.empty() ? "it is a table as well" : known.problem].push_back(weight->name);
  }
  for (const auto &[why, names] : kept)
    result.notes.push_back("weight " + quoted(names[0]) +
                           (names.size() > 1 ? " and " + std::to_string(names.size() - 1) + " more keep their types: "
                                             : " keeps its type: ") +
                           why);
}

void Quantizer::retype() {
  for (auto [i, weight] : llvm::enumerate(graph.weights))
    if (classOf(i).isChosen)
      weight->type->element = element;
  for (auto [i, function] : llvm::enumerate(graph.functions))
    for (uint32_t value = 0; value < function->values.size(); ++value)
      if (classOf(slotOf(i, value)).isChosen)
        function->values[value]->type.AsTensorType()->element = element;
}

/// f32[rows] for a matrix [rows, columns].
static graph::TensorTypeT scaleType(const graph::TensorTypeT &matrix) {
  graph::TensorTypeT type;
  type.element = "f32";
  type.shape.push_back(std::make_unique<graph::DimT>(*matrix.shape[0]));
  return type;
}

/// The scales of rows go wherever their weights go.
void Quantizer::addScales() {
  for (auto [i, function] : llvm::enumerate(graph.functions)) {
    const std::vector<uint32_t> arguments = function->arguments;
    for (uint32_t argument : arguments)
      if (classOf(slotOf(i, argument)).isChosen) {
        const uint32_t scale =
            addValue(i, scaleType(typeOf(i, argument)), function->values[argument]->name + kRowScaleSuffix.str());
        functions[i].scaleOf[argument] = scale;
        function->arguments.push_back(scale);
      }
  }
  for (auto [i, function] : llvm::enumerate(graph.functions))
    rewriteBody(i, function->body);
  const size_t weights = graph.weights.size();
  for (size_t i = 0; i < weights; ++i)
    if (classOf(i).isChosen) {
      const graph::WeightT &weight = *graph.weights[i];
      auto scale = std::make_unique<graph::WeightT>();
      scale->name = weight.name + kRowScaleSuffix.str();
      scale->type = std::make_unique<graph::TensorTypeT>(scaleType(*weight.type));
      if (weight.row_permutation)
        scale->row_permutation = std::make_unique<graph::RowPermutationT>(*weight.row_permutation);
      graph.weights.push_back(std::move(scale));
    }
}

void Quantizer::rewriteBody(size_t function, Body &body) {
  Body out;
  for (std::unique_ptr<graph::OpT> &op : body) {
    for (const auto &region : op->regions)
      rewriteBody(function, region->body);
    FunctionInfo &info = functions[function];
    auto isChosen = [&](uint32_t value) { return value < info.values && classOf(slotOf(function, value)).isChosen; };
    if (op->name == "weight" && isChosen(op->results[0])) {
      auto scale = std::make_unique<graph::OpT>(*op);
      const uint32_t value = addValue(function, scaleType(typeOf(function, op->results[0])));
      info.scaleOf[op->results[0]] = value;
      scale->results = {value};
      for (const auto &attr : scale->attrs)
        if (attr->name == "name")
          attr->value.AsStringAttr()->value += kRowScaleSuffix;
      out.push_back(std::move(op));
      out.push_back(std::move(scale));
      continue;
    }
    if (op->name == "call") {
      const FunctionInfo &callee = functions[functionByName.lookup(stringOf(*op, "callee"))];
      const auto &arguments = graph.functions[functionByName.lookup(stringOf(*op, "callee"))]->arguments;
      const size_t count = op->operands.size();
      for (size_t i = 0; i < count; ++i)
        if (callee.scaleOf.contains(arguments[i]))
          op->operands.push_back(info.scaleOf.lookup(op->operands[i]));
    } else if ((op->name == "tw.linear" && isChosen(op->operands[1])) ||
               (op->name == "tw.gather" && isChosen(op->operands[0]))) {
      rewriteUse(function, std::move(op), out);
      continue;
    }
    out.push_back(std::move(op));
  }
  body = std::move(out);
}

/// y = x W^T + b becomes (x Q^T) * scale + b, and rows of a table are looked up with their scales.
void Quantizer::rewriteUse(size_t function, std::unique_ptr<graph::OpT> op, Body &out) {
  const uint32_t y = op->results[0];
  const graph::TensorTypeT type = typeOf(function, y);
  const int64_t rank = type.shape.size();
  auto broadcast = [&](uint32_t value, ArrayRef<int64_t> dims) {
    const uint32_t wide = addValue(function, type);
    auto made = makeOp("tw.broadcast", {value, op->results[0]}, {wide});
    graph::IntsAttrT ints;
    ints.value.assign(dims.begin(), dims.end());
    auto attr = std::make_unique<graph::AttrT>();
    attr->name = "dims";
    attr->value.Set(std::move(ints));
    made->attrs.push_back(std::move(attr));
    made->location = op->location;
    out.push_back(std::move(made));
    return wide;
  };
  const bool isTable = op->name == "tw.gather";
  uint32_t scale = functions[function].scaleOf.lookup(op->operands[isTable ? 0 : 1]), bias = 0;
  const bool hasBias = !isTable && op->operands.size() > 2;
  if (hasBias) {
    bias = op->operands[2];
    op->operands.pop_back();
  }
  op->results[0] = addValue(function, type);
  const uint32_t unscaled = op->results[0];
  const std::vector<uint32_t> operands = op->operands;
  out.push_back(std::make_unique<graph::OpT>(*op));
  SmallVector<int64_t> dims = {rank - 1};
  if (isTable) {
    graph::TensorTypeT perRow = type;
    perRow.shape.pop_back();
    const uint32_t looked = addValue(function, perRow);
    auto look = std::make_unique<graph::OpT>(*op);
    look->operands = {scale, operands[1]};
    look->results = {looked};
    out.push_back(std::move(look));
    scale = looked;
    dims = llvm::to_vector(llvm::seq<int64_t>(0, rank - 1));
  }
  const uint32_t wide = broadcast(scale, dims), scaled = hasBias ? addValue(function, type) : y;
  out.push_back(makeOp("tw.mul", {unscaled, wide}, {scaled}));
  if (!hasBias)
    return;
  const uint32_t wideBias = broadcast(bias, dims);
  out.push_back(makeOp("tw.add", {scaled, wideBias}, {y}));
}

/// The bytes of a chosen weight, row by row, and the rows' scales.
llvm::Expected<std::vector<uint8_t>> Quantizer::encoded(const graph::WeightT &weight, size_t index,
                                                        std::vector<float> &scales) {
  const graph::TensorType &stored = *file.graph().weights()->Get(index)->type();
  auto from = dyn_cast_or_null<StorageType>(parseType(stored.element()->str(), &context));
  if (!from)
    return unsupported(file.path() + ": weight " + quoted(weight.name) + ": its type " + stored.element()->str() +
                       " is no storage type: a plugin is missing");
  uint64_t rows = 1;
  for (const auto &dim : llvm::drop_end(weight.type->shape))
    rows *= dim->size;
  const uint64_t columns = weight.type->shape.back()->size;
  const WeightBytes held = file.weights().bytes(index);
  const ArrayRef<uint8_t> bytes = held;
  const uint64_t fromBytes = bytes.size() / rows,
                 toBytes = columns / rules.type.getBlockElements() * rules.type.getBlockBytes();
  std::vector<uint8_t> out(rows * toBytes);
  std::vector<float> values(columns);
  for (uint64_t row = 0; row < rows; ++row) {
    decodeBlocks(from, bytes.slice(row * fromBytes, fromBytes), values);
    for (auto [column, value] : llvm::enumerate(values))
      if (!std::isfinite(value))
        return badInput(file.path() + ": weight " + quoted(weight.name) + ", row " + llvm::Twine(row) + ", column " +
                        llvm::Twine(column) + ": found " + llvm::formatv("{0}", value).str() +
                        ", wanted a finite number");
    scales.push_back(rules.type.encodeRow(values, out.data() + row * toBytes));
  }
  return out;
}

llvm::Error Quantizer::writeWeights(StringRef path, Progress &progress) {
  uint64_t total = 0;
  for (const graph::Weight *weight : *file.graph().weights())
    total += weight->length();
  progress.step("quantising weights", total);
  return writeFileAtomically(path, [&](llvm::raw_pwrite_stream &out) -> llvm::Error {
    auto place = [&](graph::WeightT &weight, ArrayRef<uint8_t> bytes) {
      out.write_zeros(llvm::alignTo(out.tell(), kAlignment) - out.tell());
      // As WeightSource gives them: whole, and not transposed.
      weight.inline_data.clear();
      weight.parts.clear();
      weight.transposed = false;
      weight.file = rules.weightsName;
      weight.offset = out.tell();
      weight.length = bytes.size();
      weight.hash = llvm::xxh3_64bits(bytes);
      out.write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    };
    size_t nextScale = file.graph().weights()->size();
    for (size_t i = 0; i < file.graph().weights()->size(); ++i) {
      graph::WeightT &weight = *graph.weights[i];
      llvm::scope_exit counted([&] { progress.advance(file.graph().weights()->Get(i)->length()); });
      if (!classOf(i).isChosen) {
        place(weight, file.weights().bytes(i));
        continue;
      }
      std::vector<float> scales;
      llvm::Expected<std::vector<uint8_t>> bytes = encoded(weight, i, scales);
      if (!bytes)
        return bytes.takeError();
      place(weight, *bytes);
      if (hasRowScales())
        place(*graph.weights[nextScale++],
              {reinterpret_cast<const uint8_t *>(scales.data()), scales.size() * sizeof(float)});
    }
    return llvm::Error::success();
  });
}

llvm::Expected<QuantizedGraph> Quantizer::run(StringRef weightsPath, Progress &progress) {
  file.graph().UnPackTo(&graph);
  joinWeights();
  collectUses();
  choose();
  retype();
  if (hasRowScales())
    addScales();
  if (llvm::Error error = writeWeights(weightsPath, progress))
    return error;
  result.bytes = packGraph(graph);
  if (llvm::Error error = checkPacked(result.bytes, file.path()))
    return error;
  return std::move(result);
}

/// The names that a dialect's parser has for types, asked for as an editor asks for completions.
class TypeNames : public AsmParserCodeCompleteContext {
public:
  explicit TypeNames(llvm::SMLoc end) : AsmParserCodeCompleteContext(end) {}

  static SmallVector<std::string> of(Dialect &dialect) {
    llvm::SourceMgr sources;
    const std::string text = ("!name = !" + dialect.getNamespace() + ".").str();
    sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text), llvm::SMLoc());
    TypeNames names(llvm::SMLoc::getFromPointer(sources.getMemoryBuffer(sources.getMainFileID())->getBuffer().end()));
    Block block;
    (void)parseAsmSourceFile(sources, &block, ParserConfig(dialect.getContext(), /*verifyAfterParse=*/false), nullptr,
                             &names);
    return std::move(names.found);
  }

private:
  void completeExpectedTokens(ArrayRef<StringRef> tokens, bool) override {
    for (StringRef token : tokens)
      found.push_back(token.str());
  }
  void completeDialectName(StringRef) override {}
  void completeOperationName(StringRef) override {}
  void appendSSAValueCompletion(StringRef, std::string) override {}
  void appendBlockCompletion(StringRef) override {}
  void completeAttribute(const llvm::StringMap<Attribute> &) override {}
  void completeDialectAttributeOrAlias(const llvm::StringMap<Attribute> &) override {}
  void completeType(const llvm::StringMap<Type> &) override {}
  void completeDialectTypeOrAlias(const llvm::StringMap<Type> &) override {}

  SmallVector<std::string> found;
};

StorageType storageType(StringRef spelled, MLIRContext &context) {
  return dyn_cast_or_null<StorageType>(parseType(spelled, &context));
}

/// The names, sorted, of all types that floats can be made into: "q4_0, q8_0".
std::string encodableTypes(MLIRContext &context) {
  std::set<std::string> names;
  for (Dialect *dialect : context.getLoadedDialects())
    for (const std::string &name : TypeNames::of(*dialect))
      if (auto type = storageType(("!" + dialect->getNamespace() + "." + name).str(), context);
          type && type.getRowEncoding() != RowEncoding::None)
        names.insert(name);
  return llvm::join(names, ", ");
}

} // namespace

llvm::Expected<StorageType> storageTypeNamed(StringRef name, MLIRContext &context) {
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
  SmallVector<std::string> spelled;
  if (name.starts_with("!"))
    spelled.push_back(name.str());
  else
    for (Dialect *dialect : context.getLoadedDialects())
      for (const std::string &shown : {name.str(), name.lower()})
        if (std::string text = ("!" + dialect->getNamespace() + "." + shown).str(); !llvm::is_contained(spelled, text))
          spelled.push_back(std::move(text));
  SmallVector<StorageType> found;
  for (const std::string &text : spelled)
    if (auto type = storageType(text, context))
      found.push_back(type);
  auto describe = [](StorageType type) { return llvm::formatv("{0}", Type(type)).str(); };
  if (found.empty())
    return badInput("--quantize: found " + quoted(name) +
                    ", wanted one of the loaded plugins' types: " + encodableTypes(context));
  if (found.size() > 1)
    return badInput("--quantize: found " + quoted(name) + ", which several plugins have, wanted one of " +
                    llvm::join(llvm::map_range(found, describe), ", "));
  if (found[0].getRowEncoding() == RowEncoding::None)
    return unsupported("--quantize: found " + quoted(name) + ", which floats cannot be made into, wanted one of " +
                       encodableTypes(context));
  return found[0];
}

llvm::Expected<QuantizedGraph> quantizeGraph(const GraphFile &file, const QuantizeRules &rules, MLIRContext &context,
                                             StringRef weightsPath, Progress &progress) {
  return Quantizer(file, rules, context).run(weightsPath, progress);
}

} // namespace tilewright::driver
