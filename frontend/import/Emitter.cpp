// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/import/Emitter.h"

#include "frontend/graph/Errors.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace llvm;

namespace tilewright {

namespace {

/// "wq?" as "wq" and true.
std::pair<StringRef, bool> splitOptional(StringRef text) {
  bool optional = text.consume_back("?");
  return {text, optional};
}

class Emitter {
public:
  Emitter(const Family &family, const Binding &binding, GraphBuilder &builder)
      : family(family), binding(binding), builder(builder) {}

  Error run() {
    for (const FunctionRule &rule : family.functions) {
      Expected<bool> isThere = rule.perLayer ? Expected<bool>(true) : isFunction(rule, -1);
      if (!isThere)
        return isThere.takeError();
      if (!*isThere)
        continue;
      if (Error error = rule.perLayer ? emitPerLayer(rule) : emitFunction(rule, rule.name, -1))
        return error;
    }
    Expected<std::string> entry = chosenName(family.entry), encodeEntry = chosenName(family.encodeEntry);
    if (!entry || !encodeEntry)
      return joinErrors(entry.takeError(), encodeEntry.takeError());
    builder.setEntry(*entry);
    if (!encodeEntry->empty())
      builder.setEncodeEntry(*encodeEntry);
    return Error::success();
  }

private:
  using Values = StringMap<ValueId>;

  Error fail(const Twine &what) const { return badInput("family " + quoted(family.name) + ": " + what); }

  /// A name, or the one that "=expression" gives.
  Expected<std::string> chosenName(StringRef text) const {
    if (!text.consume_front("="))
      return text.str();
    Expected<Value> value = evaluate(text, binding.scope(-1));
    if (!value)
      return fail("entry: " + toString(value.takeError()));
    const std::string *name = std::get_if<std::string>(&*value);
    return name ? Expected<std::string>(*name) : fail("entry: found " + spell(*value) + ", wanted a function's name");
  }

  Expected<bool> isFunction(const FunctionRule &rule, int64_t layer) const {
    Expected<bool> isThere = evaluateCondition(rule.condition, binding.scope(layer));
    if (!isThere)
      return fail("function " + quoted(rule.name) + ": " + toString(isThere.takeError()));
    return isThere;
  }

  /// What two layers must agree in to share a function.
  std::string layerKey(const FunctionRule &rule, int64_t layer) const {
    std::string key = binding.optionsOf(layer).str();
    for (StringRef name : map_range(rule.weights, [](const std::string &w) { return splitOptional(w).first; }))
      if (const BoundWeight *weight = binding.weight(name, layer); weight && weight->tensor)
        key += (name + ":" + spell(weight->graphType()) + ";").str();
    return key;
  }

  Error emitPerLayer(const FunctionRule &rule) {
    std::map<std::string, FunctionBuilder *> made;
    std::vector<FunctionBuilder *> &byLayer = layerFunctions[rule.name];
    for (int64_t layer = 0; layer < binding.layerCount(); ++layer) {
      Expected<bool> isThere = isFunction(rule, layer);
      if (!isThere)
        return isThere.takeError();
      if (!*isThere) {
        byLayer.push_back(nullptr);
        continue;
      }
      FunctionBuilder *&function = made[layerKey(rule, layer)];
      if (!function) {
        std::string name = made.size() == 1 ? rule.name : rule.name + "_" + std::to_string(made.size() - 1);
        if (Error error = emitFunction(rule, name, layer))
          return error;
        function = current;
      }
      byLayer.push_back(function);
    }
    return Error::success();
  }

  Expected<ValueType> readType(StringRef text, int64_t layer) const {
    text = text.trim();
    if (StringRef name = text; name.consume_front("@")) {
      auto named = family.types.find(name);
      if (named == family.types.end())
        return badInput("unknown type " + quoted(text));
      text = named->second;
    }
    return parseType(text, [&](StringRef dim) -> Expected<Dimension> {
      if (is_contained(family.symbols, dim))
        return Dimension(dim);
      Expected<int64_t> size = evaluateInteger(dim, binding.scope(layer));
      return size ? Expected<Dimension>(Dimension(*size)) : size.takeError();
    });
  }

  /// What an argument or result stands for, and the layer whose scope is its own.
  using Text = std::pair<std::string, int64_t>;

  /// Once, or for each layer whose condition holds.
  Expected<std::vector<Text>> textsOf(const NamedRule &named, const FunctionRule &rule, int64_t layer) const {
    std::vector<Text> texts;
    for (int64_t i = 0, e = named.eachLayer ? binding.layerCount() : 1; i < e; ++i) {
      const int64_t own = named.eachLayer ? i : layer;
      Expected<bool> isThere = evaluateCondition(named.condition, binding.scope(own));
      if (!isThere)
        return fail("function " + quoted(rule.name) + ", " + quoted(named.text) + ": " + toString(isThere.takeError()));
      if (*isThere)
        texts.emplace_back(named.eachLayer ? withLayer(named.text, i) : named.text, own);
    }
    return texts;
  }

  Error emitFunction(const FunctionRule &rule, StringRef name, int64_t layer) {
    current = &builder.addFunction(name);
    Values scope;
    for (const NamedRule &argument : rule.arguments) {
      Expected<std::vector<Text>> texts = textsOf(argument, rule, layer);
      if (!texts)
        return texts.takeError();
      for (const auto &[text, own] : *texts) {
        auto [argumentName, typeText] = StringRef(text).split(':');
        Expected<ValueType> type = readType(typeText, own);
        if (!type)
          return fail("function " + quoted(rule.name) + ", argument " + quoted(text) + ": " +
                      toString(type.takeError()));
        scope[argumentName.trim()] = current->argument(argumentName.trim(), std::move(*type));
      }
    }
    for (const std::string &text : rule.weights) {
      auto [weightName, optional] = splitOptional(text);
      const BoundWeight *weight = binding.weight(weightName, layer);
      if (!weight)
        return fail("function " + quoted(rule.name) + ": unknown weight " + quoted(weightName));
      if (weight->tensor)
        scope[weightName] = current->argument(weightName, weight->graphType());
      else if (!optional)
        return fail("function " + quoted(rule.name) + ": weight " + quoted(weightName) +
                    " is absent, and not marked with '?'");
    }
    for (const OpRule &op : rule.body)
      if (Error error = emitOp(op, rule, layer, scope))
        return error;
    std::vector<ValueId> values;
    std::vector<std::string> names;
    for (const NamedRule &result : rule.results) {
      Expected<std::vector<Text>> texts = textsOf(result, rule, layer);
      if (!texts)
        return texts.takeError();
      for (auto &[resultName, own] : *texts) {
        auto value = scope.find(resultName);
        if (value == scope.end())
          return fail("function " + quoted(rule.name) + ": unknown result " + quoted(resultName));
        values.push_back(value->second);
        names.push_back(std::move(resultName));
      }
    }
    current->results(values, std::move(names));
    return Error::success();
  }

  Error emitOp(const OpRule &op, const FunctionRule &rule, int64_t layer, Values &scope) {
    Expected<bool> isThere = evaluateCondition(op.condition, binding.scope(layer));
    if (!isThere)
      return fail("function " + quoted(rule.name) + ", op " + quoted(op.op + op.callee + op.alias.first) + ": " +
                  toString(isThere.takeError()));
    if (!*isThere)
      return Error::success();
    if (!op.alias.first.empty())
      return emitAlias(op, rule, scope);
    if (op.eachLayer.empty())
      return op.callee.empty() ? emitPlainOp(op, rule, layer, scope) : emitCall(op, rule, layer, scope);
    for (int64_t i = 0; i < binding.layerCount(); ++i)
      for (const OpRule &inner : op.eachLayer)
        if (Error error = emitOp(inner, rule, i, scope))
          return error;
    return Error::success();
  }

  Error emitAlias(const OpRule &op, const FunctionRule &rule, Values &scope) const {
    auto value = scope.find(op.alias.second);
    if (value == scope.end())
      return fail("function " + quoted(rule.name) + ", let " + quoted(op.alias.first) + ": unknown value " +
                  quoted(op.alias.second));
    ValueId id = value->second;
    scope[op.alias.first] = id;
    return Error::success();
  }

  /// The operands of one group; optional weights that are absent give none.
  Error addOperands(const OpRule &op, const FunctionRule &rule, ArrayRef<std::string> texts, int64_t layer,
                    const Values &scope, std::vector<ValueId> &operands) {
    for (const std::string &text : texts) {
      std::string expanded = withLayer(text, layer);
      auto [name, optional] = splitOptional(expanded);
      std::string place = "function " + quoted(rule.name) + ", op " + quoted(op.op + op.callee);
      if (name.consume_front("@")) {
        const BoundWeight *weight = binding.weight(name, layer);
        if (!weight)
          return fail(place + ": unknown weight " + quoted(name));
        if (weight->tensor)
          operands.push_back(current->weight(weight->name));
        else if (!optional)
          return fail(place + ": weight " + quoted(name) + " is absent, and not marked with '?'");
        continue;
      }
      auto value = scope.find(name);
      if (value != scope.end())
        operands.push_back(value->second);
      else if (!optional)
        return fail(place + ": unknown operand " + quoted(name));
    }
    return Error::success();
  }

  Error emitPlainOp(const OpRule &op, const FunctionRule &rule, int64_t layer, Values &scope) {
    OpSpec spec;
    spec.name = op.op;
    for (const std::vector<std::string> &group : op.operandGroups) {
      size_t before = spec.operands.size();
      if (Error error = addOperands(op, rule, group, layer, scope, spec.operands))
        return error;
      if (op.grouped)
        spec.operandSegments.push_back(spec.operands.size() - before);
    }
    for (const AttributeRule &attributeRule : op.attributes) {
      Expected<bool> isThere = evaluateCondition(attributeRule.condition, binding.scope(layer));
      Expected<AttributeValue> attribute =
          isThere && *isThere ? readAttribute(attributeRule.value, layer) : Expected<AttributeValue>(AttributeValue());
      if (!isThere || !attribute)
        return fail("function " + quoted(rule.name) + ", op " + quoted(op.op) + ", attribute " +
                    quoted(attributeRule.name) + ": " +
                    toString(joinErrors(isThere.takeError(), attribute.takeError())));
      if (*isThere)
        spec.attributes.emplace_back(attributeRule.name, std::move(*attribute));
    }
    std::vector<std::string> names;
    for (const std::string &result : op.results) {
      std::string text = withLayer(result, layer);
      auto [name, typeText] = StringRef(text).split(':');
      Expected<ValueType> type = readType(typeText, layer);
      if (!type)
        return fail("function " + quoted(rule.name) + ", op " + quoted(op.op) + ", result " + quoted(text) + ": " +
                    toString(type.takeError()));
      spec.resultTypes.push_back(std::move(*type));
      names.push_back(name.trim().str());
    }
    spec.resultNames = names;
    std::vector<ValueId> values = current->op(std::move(spec));
    for (auto [name, value] : zip_equal(names, values))
      scope[name] = value;
    return Error::success();
  }

  Error emitCall(const OpRule &op, const FunctionRule &rule, int64_t layer, Values &scope) {
    std::string place = "function " + quoted(rule.name) + ", call of " + quoted(op.callee);
    auto functions = layerFunctions.find(op.callee);
    auto callee = find_if(family.functions, [&](const FunctionRule &f) { return f.name == op.callee; });
    if (functions == layerFunctions.end() || callee == family.functions.end() || layer < 0 || !functions->second[layer])
      return fail(place + ": wanted a per_layer function described before, called inside each_layer");
    std::vector<ValueId> operands;
    for (const std::vector<std::string> &group : op.operandGroups)
      if (Error error = addOperands(op, rule, group, layer, scope, operands))
        return error;
    for (const std::string &text : callee->weights) {
      const BoundWeight *weight = binding.weight(splitOptional(text).first, layer);
      if (weight && weight->tensor)
        operands.push_back(current->weight(weight->name));
    }
    std::vector<std::string> names;
    for (const std::string &result : op.results)
      names.push_back(withLayer(result, layer));
    std::vector<ValueId> values = current->call(*functions->second[layer], operands, names);
    if (values.size() != names.size())
      return fail(place + ": found " + Twine(names.size()) + " results, wanted " + Twine(values.size()));
    for (auto [name, value] : zip_equal(names, values))
      scope[name] = value;
    return Error::success();
  }

  /// A list is one of floats.
  static Expected<AttributeValue> attributeOf(const Value &value) {
    if (const int64_t *integer = std::get_if<int64_t>(&value))
      return AttributeValue(*integer);
    if (const double *number = std::get_if<double>(&value))
      return AttributeValue(*number);
    if (const std::string *text = std::get_if<std::string>(&value))
      return AttributeValue(*text);
    std::vector<double> numbers;
    for (const Value &element : std::get<ValueList>(value)) {
      if (!element.isNumber())
        return badInput(spell(value) + " is no list of numbers");
      numbers.push_back(element.asDouble());
    }
    return AttributeValue(std::move(numbers));
  }

  Expected<AttributeValue> readAttribute(const json::Value &value, int64_t layer) const {
    if (std::optional<StringRef> text = value.getAsString()) {
      if (!text->consume_front("="))
        return AttributeValue(text->str());
      Expected<Value> result = evaluate(*text, binding.scope(layer));
      return result ? attributeOf(*result) : result.takeError();
    }
    if (std::optional<bool> flag = value.getAsBoolean())
      return AttributeValue(*flag);
    if (std::optional<int64_t> integer = value.getAsInteger())
      return AttributeValue(*integer);
    if (std::optional<double> number = value.getAsNumber())
      return AttributeValue(*number);
    std::vector<int64_t> integers;
    if (const json::Array *array = value.getAsArray()) {
      for (const json::Value &element : *array)
        if (std::optional<int64_t> integer = element.getAsInteger())
          integers.push_back(*integer);
      if (integers.size() == array->size())
        return AttributeValue(std::move(integers));
    }
    return badInput("wanted a string, \"=expression\", bool, number or array of integers");
  }

  const Family &family;
  const Binding &binding;
  GraphBuilder &builder;
  FunctionBuilder *current = nullptr;
  StringMap<std::vector<FunctionBuilder *>> layerFunctions; ///< per_layer functions made, by rule and layer
};

} // namespace

Error emitFunctions(const Family &family, const Binding &binding, GraphBuilder &builder) {
  return Emitter(family, binding, builder).run();
}

} // namespace tilewright
