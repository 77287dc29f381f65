// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/api/Block.h"

#include "ir/tw/Layers.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tilewright {

BlockOption BlockOption::integer(StringRef name, std::optional<int64_t> fallback, double least) {
  return {name.str(), Kind::Integer, false, fallback ? BlockValue(*fallback) : BlockValue(), least};
}

BlockOption BlockOption::number(StringRef name, std::optional<double> fallback, std::optional<double> least) {
  return {name.str(), Kind::Number, false, fallback ? BlockValue(*fallback) : BlockValue(), least};
}

BlockOption BlockOption::flag(StringRef name, bool fallback) { return {name.str(), Kind::Flag, false, fallback}; }

BlockOption BlockOption::text(StringRef name, std::optional<std::string> fallback, std::vector<std::string> choices) {
  return {name.str(), Kind::Text, false, fallback ? BlockValue(*fallback) : BlockValue(), {}, std::move(choices)};
}

BlockOption &&BlockOption::mustBeGiven() && {
  required = true;
  return std::move(*this);
}

const BlockValue &BlockOptions::value(StringRef name) const {
  static const BlockValue none;
  auto found = values.find(std::string_view(name));
  return found == values.end() ? none : found->second;
}

void BlockRegistry::add(BlockForm form) {
  std::string name = form.name;
  if (!forms.try_emplace(name, std::move(form)).second)
    twice.push_back(name);
}

const BlockForm *BlockRegistry::find(StringRef name) const {
  auto found = forms.find(std::string_view(name));
  return found == forms.end() ? nullptr : &found->second;
}

std::vector<const BlockForm *> BlockRegistry::all() const {
  std::vector<const BlockForm *> result;
  for (const auto &[name, form] : forms)
    result.push_back(&form);
  return result;
}

namespace {

/// ", did you mean 'x'?" when a name is near.
std::string nearest(StringRef name, ArrayRef<StringRef> known) {
  StringRef best;
  unsigned distance = name.size() / 3 + 2;
  for (StringRef candidate : known)
    if (unsigned d = name.edit_distance(candidate, true, distance); d < distance) {
      distance = d;
      best = candidate;
    }
  return best.empty() ? "; known: " + llvm::join(known, ", ") : ("; did you mean '" + best + "'?").str();
}

StringRef kindText(BlockOption::Kind kind) {
  constexpr StringRef texts[] = {"true or false", "a whole number", "a number", "a text"};
  return texts[static_cast<size_t>(kind)];
}

std::string numberText(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", number);
  return text;
}

bool isNone(const BlockValue &value) { return std::holds_alternative<std::monostate>(value); }

/// `given`, which is not none, in the option's kind; what is wanted instead when it does not fit.
std::variant<BlockValue, std::string> fit(const BlockOption &option, const BlockValue &given) {
  BlockValue value = given;
  if (option.kind == BlockOption::Kind::Number)
    if (auto *integer = std::get_if<int64_t>(&given))
      value = static_cast<double>(*integer);
  if (value.index() != 1 + static_cast<size_t>(option.kind))
    return kindText(option.kind).str();
  auto *number = std::get_if<double>(&value);
  auto *integer = std::get_if<int64_t>(&value);
  if (number && !std::isfinite(*number))
    return std::string("a finite number");
  if (option.least && ((number && *number < *option.least) || (integer && *integer < *option.least)))
    return "at least " + numberText(*option.least);
  if (auto *text = std::get_if<std::string>(&value);
      text && !option.choices.empty() && !llvm::is_contained(option.choices, *text))
    return llvm::join(option.choices, " or ");
  return value;
}

/// "1 or 2: x and perhaps mask".
std::string wantedInputs(const BlockInputs &inputs) {
  const size_t least = inputs.required.size(), most = least + inputs.optional.size();
  std::string text = (inputs.others ? "at least " : "") + std::to_string(least);
  if (!inputs.others && most > least)
    text += (most == least + 1 ? " or " : " to ") + std::to_string(most);
  text += ": " + llvm::join(inputs.required, ", ");
  return inputs.optional.empty() ? text : text + " and perhaps " + llvm::join(inputs.optional, ", ");
}

} // namespace

std::string textOf(const BlockValue &value) {
  if (auto *flag = std::get_if<bool>(&value))
    return *flag ? "true" : "false";
  if (auto *integer = std::get_if<int64_t>(&value))
    return std::to_string(*integer);
  if (auto *number = std::get_if<double>(&value)) {
    std::string text = numberText(*number);
    const bool looksWhole = text.find_first_not_of("-0123456789") == std::string::npos;
    return looksWhole ? text + ".0" : text;
  }
  if (auto *text = std::get_if<std::string>(&value))
    return "'" + *text + "'";
  return "none";
}

std::string signatureOf(const BlockForm &form) {
  std::vector<std::string> options;
  for (const BlockOption &option : form.options)
    options.push_back(option.required ? option.name : option.name + " = " + textOf(option.fallback));
  return form.name + "(" + llvm::join(options, ", ") + ")";
}

BlockBuilder::BlockBuilder(func::FuncOp function, const BlockRegistry &blocks, Type element)
    : b(function.getLoc(), function.getContext()), function(function), blocks(blocks), element(element) {
  b.setInsertionPointToEnd(&function.getBody().front());
}

InFlightDiagnostic BlockBuilder::error() {
  InFlightDiagnostic diagnostic = emitError(b.getLoc());
  if (!running.empty())
    diagnostic << "block '" << running.back() << "': ";
  return diagnostic;
}

BlockResults BlockBuilder::block(StringRef name, const std::map<std::string, BlockValue> &given, ValueRange inputs,
                                 BlockBody body, StringRef scope) {
  const BlockForm *form = blocks.find(name);
  if (!form) {
    SmallVector<StringRef> known;
    for (const BlockForm *each : blocks.all())
      known.push_back(each->name);
    return error() << "no block '" << name << "'" << nearest(name, known);
  }
  running.push_back(name.str());
  llvm::scope_exit leave([&] { running.pop_back(); });
  if (failed(checkInputs(form->inputs, inputs)))
    return failure();

  BlockOptions options;
  options.body = std::move(body);
  for (const BlockOption &option : form->options) {
    auto found = given.find(option.name);
    const bool isGiven = found != given.end() && !isNone(found->second);
    if (!isGiven && option.required)
      return error() << "option " << option.name << " is missing, wanted " << kindText(option.kind);
    BlockValue &value = options.values[option.name] = isGiven ? found->second : option.fallback;
    if (isNone(value))
      continue;
    auto fitted = fit(option, value);
    if (auto *wanted = std::get_if<std::string>(&fitted))
      return error() << "option " << option.name << " is " << textOf(value) << ", wanted " << *wanted;
    value = std::get<BlockValue>(fitted);
  }
  for (const auto &[key, value] : given)
    if (!options.values.count(key)) {
      SmallVector<StringRef> known;
      for (const BlockOption &option : form->options)
        known.push_back(option.name);
      return error() << "no option '" << key << "'" << nearest(key, known);
    }

  scopes.push_back(scope.empty() ? name.str() : scope.str());
  llvm::scope_exit close([&] { scopes.pop_back(); });
  return form->build(*this, options, inputs);
}

LogicalResult BlockBuilder::checkInputs(const BlockInputs &wanted, ValueRange inputs) {
  SmallVector<StringRef> names(wanted.required.begin(), wanted.required.end());
  names.append(wanted.optional.begin(), wanted.optional.end());
  if (inputs.size() < wanted.required.size() || (inputs.size() > names.size() && !wanted.others))
    return error() << "has " << inputs.size() << " inputs, wanted " << wantedInputs(wanted);
  for (auto [name, input] : llvm::zip(names, inputs))
    if (!isa<RankedTensorType>(input.getType()))
      return error() << name << " is " << input.getType() << ", wanted a ranked tensor";
  return success();
}

Value BlockBuilder::parameter(StringRef name, ArrayRef<int64_t> shape, Initial initial) {
  std::string full;
  for (const std::string &scope : scopes)
    full += scope + ".";
  full += name;
  constexpr StringRef kinds[] = {"constant", "normal", "uniform"};
  DictionaryAttr attributes = b.getDictionaryAttr(
      {b.getNamedAttr("tw.name", b.getStringAttr(full)),
       b.getNamedAttr(
           "tw.parameter",
           b.getDictionaryAttr({b.getNamedAttr("initial", b.getStringAttr(kinds[static_cast<size_t>(initial.kind)])),
                                b.getNamedAttr("values", b.getF64ArrayAttr({initial.first, initial.second}))}))});
  unsigned number = function.getNumArguments();
  // It can fail for a function whose type is not its block's alone; func.func's is.
  if (failed(function.insertArgument(number, RankedTensorType::get(shape, element), attributes, b.getLoc())))
    llvm_unreachable("func.func refused an argument");
  return function.getArgument(number);
}

Value BlockBuilder::linear(StringRef name, Value x, int64_t out, bool bias) {
  int64_t in = tw::tensorType(x).getShape().back();
  Initial initial = Initial::ofLinear(in);
  Value weight = parameter((name + ".weight").str(), {out, in}, initial);
  Value offset = bias ? parameter((name + ".bias").str(), {out}, initial) : Value();
  return tw::linear(b, x, weight, offset);
}

LogicalResult BlockBuilder::expectInput(Value x, StringRef what, std::optional<int64_t> rank, int64_t last) {
  auto type = dyn_cast<RankedTensorType>(x.getType());
  if (type && (rank ? type.getRank() == *rank : type.getRank() > 0) && type.getShape().back() == last)
    return success();
  InFlightDiagnostic diagnostic = error();
  diagnostic << what << " is " << x.getType() << ", wanted ";
  if (rank)
    diagnostic << "rank " << *rank << " and ";
  return diagnostic << last << " elements in the last dimension";
}

FailureOr<func::FuncOp> buildBlockFunction(ModuleOp module, StringRef name, const BlockRegistry &blocks,
                                           ArrayRef<std::pair<std::string, RankedTensorType>> inputs,
                                           const BlockBody &body) {
  OpBuilder outer = OpBuilder::atBlockEnd(module.getBody());
  if (inputs.empty())
    return module.emitError() << "function '" << name << "' has no input, wanted at least one";
  SmallVector<Type> types;
  for (const auto &[input, type] : inputs)
    types.push_back(type);
  auto function = func::FuncOp::create(outer, module.getLoc(), name, outer.getFunctionType(types, {}));
  llvm::scope_exit remove([&] { function.erase(); });
  function.addEntryBlock();
  for (auto [i, input] : llvm::enumerate(inputs))
    function.setArgAttr(i, "tw.name", outer.getStringAttr(input.first));
  BlockBuilder builder(function, blocks, inputs.front().second.getElementType());
  SmallVector<Value> arguments(function.getArguments());
  BlockResults results = body(builder, arguments);
  if (failed(results))
    return failure();
  func::ReturnOp::create(builder.b, *results);
  function.setFunctionType(outer.getFunctionType(function.getArgumentTypes(), ValueRange(*results).getTypes()));
  if (failed(verify(function)))
    return failure();
  remove.release();
  return function;
}

} // namespace tilewright
