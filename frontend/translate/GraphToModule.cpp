// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/translate/Translate.h"

#include "frontend/translate/Parts.h"
#include "ir/tw/Tw.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tilewright {

using namespace translate;

namespace {

constexpr StringLiteral kSegments = "operandSegmentSizes";

class Translator {
public:
  Translator(const GraphFile &file, MLIRContext &context, const TranslateOptions &options)
      : file(file), graph(file.graph()), context(context), options(options), b(&context) {}

  llvm::Expected<OwningOpRef<ModuleOp>> run();

private:
  struct Place {
    uint32_t index;
    StringRef op;
  };

  /// "file: function 'f', op 3 'tw.linear'".
  std::string placeText() const;
  llvm::Error fail(const llvm::Twine &problem) const { return badInput(placeText() + ": " + problem); }
  llvm::Error missingPlugin(const llvm::Twine &needs, StringRef dialect) const;
  Location locate(const graph::Op *op);

  llvm::Error addWeights(ModuleOp module);
  llvm::Error addWeight(const graph::Weight &weight, uint32_t index);
  void setModuleAttributes(ModuleOp module);
  llvm::Expected<func::FuncOp> declare(const graph::Function &source);
  llvm::Error define(const graph::Function &source, func::FuncOp function);
  llvm::Error addBody(const flatbuffers::Vector<flatbuffers::Offset<graph::Op>> *body);
  llvm::Error addOp(const graph::Op &op);
  llvm::Error addCall(const graph::Op &op);
  llvm::Error addWeightLoad(const graph::Op &op);
  llvm::Error addOpByName(const graph::Op &op);
  llvm::Error setAttributes(const graph::Op &op, OperationState &state);
  llvm::Error fillRegion(const graph::Region &source, Region &region);
  llvm::Expected<Type> valueType(uint32_t value) const;
  llvm::Expected<SmallVector<Type>> resultTypes(const graph::Op &op) const;
  SmallVector<Value> operandsOf(const graph::Op &op) const;
  void setResults(const graph::Op &op, ValueRange results);
  llvm::Error verify(ModuleOp module);

  const GraphFile &file;
  const graph::Graph &graph;
  MLIRContext &context;
  const TranslateOptions &options;
  OpBuilder b;
  llvm::StringMap<StringAttr> weightSymbols;
  llvm::StringMap<func::FuncOp> functions;
  llvm::DenseMap<Attribute, std::string> places; ///< by location
  const graph::Function *current = nullptr;
  SmallVector<Place> path;
  SmallVector<Value> values; ///< of the function, by index
};

std::string Translator::placeText() const {
  std::string place = file.path().str();
  if (current)
    place += ": function " + quoted(text(current->name()));
  for (const Place &op : path)
    place += ", op " + std::to_string(op.index) + " " + quoted(op.op);
  return place;
}

llvm::Error Translator::missingPlugin(const llvm::Twine &needs, StringRef dialect) const {
  std::string searched = options.searchedPlugins.empty() ? "no folder" : llvm::join(options.searchedPlugins, ", ");
  return unsupported(placeText() + ": " + needs + " needs plugin '" + dialect + "', which is not loaded (searched " +
                     searched + ")");
}

/// The place as graph and function, line (index of the op) and column (index of an op in a region), with the op's
/// origin.
Location Translator::locate(const graph::Op *op) {
  std::string name = kGraphPlace.str() + (current ? (":" + text(current->name())).str() : std::string());
  Location place = FileLineColLoc::get(&context, name, path.empty() ? 0 : path.front().index,
                                       path.size() < 2 ? 0 : path.back().index + 1);
  if (op) {
    SmallVector<Attribute> names, symbols;
    for (uint32_t result : numbers(op->results())) {
      names.push_back(b.getStringAttr(text(current->values()->Get(result)->name())));
      symbols.push_back(symbolsOf(*current->values()->Get(result), context));
    }
    SmallVector<NamedAttribute> origin = {b.getNamedAttr("names", b.getArrayAttr(names)),
                                          b.getNamedAttr("symbols", b.getArrayAttr(symbols))};
    if (op->attrs() && op->attrs()->size() > 0) {
      SmallVector<Attribute> attributes;
      for (const graph::Attr *attr : *op->attrs())
        attributes.push_back(b.getStringAttr(text(attr->name())));
      origin.push_back(b.getNamedAttr("attributes", b.getArrayAttr(attributes)));
    }
    if (!text(op->location()).empty())
      origin.push_back(b.getNamedAttr("location", b.getStringAttr(text(op->location()))));
    place = FusedLoc::get(&context, {place}, b.getDictionaryAttr(origin));
  }
  places[place] = placeText();
  return place;
}

llvm::Expected<Type> Translator::valueType(uint32_t value) const {
  const graph::Value &source = *current->values()->Get(value);
  bool lacksPlugin = false;
  llvm::Expected<Type> type = typeOf(source, context, [&](StringRef dialect) {
    lacksPlugin = true;
    return missingPlugin("value " + quoted(text(source.name())), dialect);
  });
  if (type || lacksPlugin)
    return type;
  return fail("value " + quoted(text(source.name())) + ": " + llvm::toString(type.takeError()));
}

llvm::Expected<SmallVector<Type>> Translator::resultTypes(const graph::Op &op) const {
  SmallVector<Type> types;
  for (uint32_t result : numbers(op.results())) {
    llvm::Expected<Type> type = valueType(result);
    if (!type)
      return type.takeError();
    types.push_back(*type);
  }
  return types;
}

SmallVector<Value> Translator::operandsOf(const graph::Op &op) const {
  return llvm::map_to_vector(numbers(op.operands()), [&](uint32_t index) { return values[index]; });
}

void Translator::setResults(const graph::Op &op, ValueRange results) {
  for (auto [index, value] : llvm::zip_equal(numbers(op.results()), results))
    values[index] = value;
}

void Translator::setModuleAttributes(ModuleOp module) {
  module->setAttr(kEntry, b.getStringAttr(text(graph.entry())));
  for (auto [name, value] : {std::pair(kName, graph.name()),
                             {kFamily, graph.family()},
                             {kProducer, graph.producer()},
                             {kEncodeEntry, graph.encode_entry()}})
    if (!text(value).empty())
      module->setAttr(name, b.getStringAttr(text(value)));
  if (graph.context_length())
    module->setAttr(kContextLength, b.getI64IntegerAttr(graph.context_length()));
  if (graph.vocab_size())
    module->setAttr(kVocabSize, b.getI64IntegerAttr(graph.vocab_size()));
  if (graph.reread_length())
    module->setAttr(kRereadLength, b.getI64IntegerAttr(graph.reread_length()));
}

llvm::Error Translator::addWeight(const graph::Weight &weight, uint32_t index) {
  StringRef name = text(weight.name());
  auto missing = [&](StringRef dialect) { return missingPlugin("weight " + quoted(name), dialect); };
  llvm::Expected<Type> type = typeOf(*weight.type(), context, missing);
  if (!type)
    return type.takeError();
  // Functions have the same table of symbols, and come first.
  std::string symbol = name.str();
  while (functions.contains(symbol) || weightSymbols.contains(symbol))
    symbol += "$weight";
  auto tensor = cast<RankedTensorType>(*type);
  auto global = ml_program::GlobalOp::create(b, locate(nullptr), symbol, tensor, /*is_mutable=*/false,
                                             ml_program::ExternAttr::get(&context, tensor), b.getStringAttr("private"));
  global->setAttr(kWeightIndex, b.getI64IntegerAttr(index));
  if (symbol != name)
    global->setAttr(kWeightName, b.getStringAttr(name));
  if (const graph::RowPermutation *rows = weight.row_permutation()) {
    global->setAttr(kRowDims, b.getDenseI64ArrayAttr(llvm::to_vector(numbers(rows->dims()))));
    SmallVector<int64_t> perm(numbers(rows->perm()).begin(), numbers(rows->perm()).end());
    global->setAttr(kRowPerm, b.getDenseI64ArrayAttr(perm));
  }
  weightSymbols[name] = b.getStringAttr(symbol);
  return llvm::Error::success();
}

llvm::Error Translator::addWeights(ModuleOp module) {
  b.setInsertionPointToStart(module.getBody());
  if (!graph.weights())
    return llvm::Error::success();
  for (uint32_t i = 0; i < graph.weights()->size(); ++i)
    if (llvm::Error error = addWeight(*graph.weights()->Get(i), i))
      return error;
  return llvm::Error::success();
}

llvm::Expected<func::FuncOp> Translator::declare(const graph::Function &source) {
  SmallVector<Type> arguments, results;
  for (auto [list, types] : {std::pair(source.arguments(), &arguments), {source.results(), &results}})
    for (uint32_t value : numbers(list)) {
      llvm::Expected<Type> type = valueType(value);
      if (!type)
        return type.takeError();
      types->push_back(*type);
    }
  auto function = func::FuncOp::create(b, locate(nullptr), text(source.name()), b.getFunctionType(arguments, results));
  if (text(source.name()) != text(graph.entry()) && text(source.name()) != text(graph.encode_entry()))
    function.setPrivate();
  for (auto [i, value] : llvm::enumerate(numbers(source.arguments()))) {
    function.setArgAttr(i, kName, b.getStringAttr(text(source.values()->Get(value)->name())));
    function.setArgAttr(i, kSymbols, symbolsOf(*source.values()->Get(value), context));
  }
  for (auto [i, value] : llvm::enumerate(numbers(source.results()))) {
    if (source.result_names() && i < source.result_names()->size())
      function.setResultAttr(i, kName, b.getStringAttr(text(source.result_names()->Get(i))));
    function.setResultAttr(i, kSymbols, symbolsOf(*source.values()->Get(value), context));
  }
  return function;
}

llvm::Error Translator::define(const graph::Function &source, func::FuncOp function) {
  values.assign(source.values()->size(), Value());
  Block *entry = function.addEntryBlock();
  for (auto [value, argument] : llvm::zip_equal(numbers(source.arguments()), entry->getArguments()))
    values[value] = argument;
  b.setInsertionPointToStart(entry);
  if (llvm::Error error = addBody(source.body()))
    return error;
  SmallVector<Value> results = llvm::map_to_vector(numbers(source.results()), [&](uint32_t v) { return values[v]; });
  func::ReturnOp::create(b, function.getLoc(), results);
  return llvm::Error::success();
}

llvm::Error Translator::addBody(const flatbuffers::Vector<flatbuffers::Offset<graph::Op>> *body) {
  if (!body)
    return llvm::Error::success();
  for (uint32_t i = 0; i < body->size(); ++i) {
    path.push_back({i, text(body->Get(i)->name())});
    if (llvm::Error error = addOp(*body->Get(i)))
      return error;
    path.pop_back();
  }
  return llvm::Error::success();
}

llvm::Error Translator::addOp(const graph::Op &op) {
  StringRef name = text(op.name());
  if (name == "call")
    return addCall(op);
  return name == "weight" ? addWeightLoad(op) : addOpByName(op);
}

const graph::Attr *findAttribute(const graph::Op &op, StringRef name) {
  if (op.attrs())
    for (const graph::Attr *attr : *op.attrs())
      if (text(attr->name()) == name)
        return attr;
  return nullptr;
}

llvm::Error Translator::addCall(const graph::Op &op) {
  func::FuncOp callee = functions.lookup(text(findAttribute(op, "callee")->value_as_StringAttr()->value()));
  for (const graph::Attr *attr : *op.attrs())
    if (text(attr->name()) != "callee")
      return fail("attribute " + quoted(text(attr->name())) + " is not one of a call");
  SmallVector<Value> operands = operandsOf(op);
  for (auto [i, operand, wanted] : llvm::enumerate(operands, callee.getArgumentTypes()))
    if (operand.getType() != wanted) {
      std::string message;
      llvm::raw_string_ostream(message) << "operand " << i << " is " << operand.getType() << ", wanted " << wanted
                                        << " as " << quoted(callee.getName()) << " has";
      return fail(message);
    }
  auto call = func::CallOp::create(b, locate(&op), callee, operands);
  llvm::Expected<SmallVector<Type>> types = resultTypes(op);
  if (!types)
    return types.takeError();
  for (auto [i, found, wanted] : llvm::enumerate(*types, call.getResultTypes()))
    if (found != wanted) {
      std::string message;
      llvm::raw_string_ostream(message) << "result " << i << " is " << found << ", wanted " << wanted << " as "
                                        << quoted(callee.getName()) << " has";
      return fail(message);
    }
  setResults(op, call.getResults());
  return llvm::Error::success();
}

llvm::Error Translator::addWeightLoad(const graph::Op &op) {
  llvm::Expected<SmallVector<Type>> types = resultTypes(op);
  if (!types)
    return types.takeError();
  StringAttr symbol = weightSymbols.lookup(text(findAttribute(op, "name")->value_as_StringAttr()->value()));
  auto load = ml_program::GlobalLoadConstOp::create(b, locate(&op), types->front(), SymbolRefAttr::get(symbol));
  setResults(op, load->getResults());
  return llvm::Error::success();
}

/// The number of an op's operand groups.
static size_t operandGroups(const OperationState &state) {
  Operation *empty = Operation::create(OperationState(state.location, state.name));
  auto properties = dyn_cast_or_null<DictionaryAttr>(empty->getPropertiesAsAttribute());
  auto sizes = properties ? properties.getAs<DenseI32ArrayAttr>(kSegments) : DenseI32ArrayAttr();
  empty->destroy();
  return sizes ? sizes.size() : 0;
}

llvm::Error Translator::setAttributes(const graph::Op &op, OperationState &state) {
  RegisteredOperationName registered = *state.name.getRegisteredInfo();
  ArrayRef<StringAttr> known = registered.getAttributeNames();
  if (op.attrs())
    for (const graph::Attr *attr : *op.attrs()) {
      StringRef name = text(attr->name());
      if (!llvm::is_contained(known, name) || name == kSegments)
        return fail("there is no attribute " + quoted(name));
      llvm::Expected<Attribute> value = attributeOf(*attr, context);
      if (value && state.name.getStringRef() == tw::ConstantOp::getOperationName())
        value = elementsOf(*value, state.types.empty() ? Type() : state.types.front());
      if (!value)
        return fail("attribute " + quoted(name) + ": " + llvm::toString(value.takeError()));
      state.addAttribute(name, *value);
    }
  bool grouped = llvm::is_contained(known, kSegments);
  if (op.operand_segments()) {
    if (!grouped)
      return fail("operand_segments: its operands are not grouped");
    SmallVector<int32_t> sizes(numbers(op.operand_segments()).begin(), numbers(op.operand_segments()).end());
    // Later versions of an op have more groups, behind the others.
    sizes.resize(std::max(sizes.size(), operandGroups(state)), 0);
    state.addAttribute(kSegments, b.getDenseI32ArrayAttr(sizes));
  } else if (grouped) {
    return fail("operand_segments: found none, wanted the sizes of its operand groups");
  }
  std::string why;
  ScopedDiagnosticHandler quiet(&context, [&](Diagnostic &diagnostic) {
    why = diagnostic.str();
    return success();
  });
  if (failed(registered.verifyInherentAttrs(state.attributes, [&] { return emitError(state.location); })))
    return fail(why);
  return llvm::Error::success();
}

llvm::Error Translator::addOpByName(const graph::Op &op) {
  StringRef name = text(op.name()), dialect = opDialect(name);
  if (!context.getOrLoadDialect(dialect))
    return missingPlugin("op " + quoted(name), dialect);
  OperationState state(locate(&op), name);
  if (!state.name.isRegistered())
    return fail("'" + dialect + "' has no such op");
  // A graph file is data: the words of later stages, which say what machine code is, are not for it.
  bool isScalarOp = path.size() > 1 && (dialect == "arith" || dialect == "math");
  if (dialect != tw::TwDialect::getDialectNamespace() && !isScalarOp && !state.name.hasInterface<ReferenceLowering>())
    return fail("it is no op of a graph: it has no reference lowering");
  llvm::Expected<SmallVector<Type>> types = resultTypes(op);
  if (!types)
    return types.takeError();
  state.addOperands(operandsOf(op));
  state.addTypes(*types);
  if (llvm::Error error = setAttributes(op, state))
    return error;
  unsigned regions = op.regions() ? op.regions()->size() : 0;
  for (unsigned i = 0; i < regions; ++i)
    state.addRegion();
  Operation *made = b.create(state);
  for (unsigned i = 0; i < regions; ++i)
    if (llvm::Error error = fillRegion(*op.regions()->Get(i), made->getRegion(i)))
      return error;
  setResults(op, made->getResults());
  return llvm::Error::success();
}

llvm::Error Translator::fillRegion(const graph::Region &source, Region &region) {
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&region);
  for (uint32_t argument : numbers(source.arguments())) {
    llvm::Expected<Type> type = valueType(argument);
    if (!type)
      return type.takeError();
    values[argument] = block->addArgument(*type, region.getLoc());
  }
  if (llvm::Error error = addBody(source.body()))
    return error;
  SmallVector<Value> yields = llvm::map_to_vector(numbers(source.yields()), [&](uint32_t v) { return values[v]; });
  tw::YieldOp::create(b, region.getLoc(), yields);
  return llvm::Error::success();
}

/// What each op means. The first error is reported, at its graph place, with its notes.
llvm::Error Translator::verify(ModuleOp module) {
  std::string message;
  // The place says which op it is.
  bool printsOps = context.shouldPrintOpOnDiagnostic();
  context.printOpOnDiagnostic(false);
  llvm::scope_exit restore([&] { context.printOpOnDiagnostic(printsOps); });
  ScopedDiagnosticHandler first(&context, [&](Diagnostic &diagnostic) {
    if (!message.empty())
      return success();
    auto at = places.find(LocationAttr(diagnostic.getLocation()));
    message = (at == places.end() ? file.path().str() : at->second) + ": " + diagnostic.str();
    for (Diagnostic &note : diagnostic.getNotes()) {
      auto where = places.find(LocationAttr(note.getLocation()));
      message += "; note: " + note.str() + (where == places.end() ? "" : " (" + where->second + ")");
    }
    return success();
  });
  if (succeeded(mlir::verify(module)))
    return llvm::Error::success();
  return badInput(message);
}

llvm::Expected<OwningOpRef<ModuleOp>> Translator::run() {
  context.loadDialect<func::FuncDialect, ml_program::MLProgramDialect, tw::TwDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(FileLineColLoc::get(&context, kGraphPlace, 0, 0));
  setModuleAttributes(*module);
  b.setInsertionPointToEnd(module->getBody());
  // Declared first: a call may come before its callee.
  for (const graph::Function *source : *graph.functions()) {
    current = source;
    llvm::Expected<func::FuncOp> function = declare(*source);
    if (!function)
      return function.takeError();
    functions[text(source->name())] = *function;
  }
  current = nullptr;
  if (llvm::Error error = addWeights(*module))
    return error;
  for (const graph::Function *source : *graph.functions()) {
    current = source;
    if (llvm::Error error = define(*source, functions.lookup(text(source->name()))))
      return error;
  }
  current = nullptr;
  if (llvm::Error error = verify(*module))
    return error;
  return module;
}

} // namespace

llvm::Expected<OwningOpRef<ModuleOp>> translateToModule(const GraphFile &file, MLIRContext &context,
                                                        const TranslateOptions &options) {
  return Translator(file, context, options).run();
}

std::string placeInFile(StringRef place, StringRef file) {
  StringRef rest = place;
  return rest.consume_front(kGraphPlace) && rest.starts_with(":") ? (file + rest).str() : place.str();
}

OpOrigin originOf(Location location) {
  OpOrigin origin;
  auto fused = location->findInstanceOf<FusedLoc>();
  auto metadata = fused ? dyn_cast_or_null<DictionaryAttr>(fused.getMetadata()) : DictionaryAttr();
  if (!metadata)
    return origin;
  for (auto [key, list] : {std::pair(StringRef("names"), &origin.names), {StringRef("attributes"), &origin.attributes}})
    if (auto names = metadata.getAs<ArrayAttr>(key))
      for (Attribute name : names)
        if (auto string = dyn_cast<StringAttr>(name))
          list->push_back(string.str());
  if (auto symbols = metadata.getAs<ArrayAttr>("symbols"))
    for (Attribute list : symbols)
      origin.symbols.push_back(dyn_cast<ArrayAttr>(list));
  if (auto location = metadata.getAs<StringAttr>("location"))
    origin.location = location.str();
  return origin;
}

namespace {

/// An attribute of an entry block's argument.
template <typename T> T argumentAttribute(Value value, StringRef name) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  return function && argument.getOwner()->isEntryBlock() ? function.getArgAttrOfType<T>(argument.getArgNumber(), name)
                                                         : T();
}

} // namespace

std::string graphNameOf(Value value) {
  if (auto name = argumentAttribute<StringAttr>(value, kName))
    return name.str();
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return "";
  OpOrigin origin = originOf(result.getOwner()->getLoc());
  return result.getResultNumber() < origin.names.size() ? origin.names[result.getResultNumber()] : "";
}

ArrayAttr graphSymbolsOf(Value value) {
  if (auto symbols = argumentAttribute<ArrayAttr>(value, kSymbols))
    return symbols;
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return {};
  OpOrigin origin = originOf(result.getOwner()->getLoc());
  return result.getResultNumber() < origin.symbols.size() ? origin.symbols[result.getResultNumber()] : ArrayAttr();
}

} // namespace tilewright
