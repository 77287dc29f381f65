// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/graph/FunctionVerifier.h"

#include "frontend/graph/Errors.h"
#include "frontend/graph/Types.h"
#include "frontend/graph/Verifier.h"

#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace tilewright {

static constexpr const char *sharedBytes = "fewer entries than the file has bytes: its vectors share bytes";

std::string typeProblem(const graph::TensorType &type, bool allowUnknown) {
  StringRef element = text(type.element());
  if (!builtinElementBytes(element)) {
    StringRef dialect = elementDialect(element);
    StringRef mnemonic = element.drop_front(element.empty() ? 0 : 1).split('.').second;
    if (!isIdentifier(dialect, /*dots=*/false) || !isPrintableName(mnemonic))
      return "found element type " + quoted(element) + ", wanted a builtin one (f32, i32, ...) or \"!dialect.type\"";
  }
  if (sizeOf(type.shape()) > maxRank)
    return "found rank " + std::to_string(type.shape()->size()) + ", wanted at most " + std::to_string(maxRank);
  if (!type.shape())
    return "";
  for (const graph::Dim *dim : *type.shape()) {
    StringRef symbol = text(dim->symbol());
    if (dim->size() < -1)
      return "found dimension " + std::to_string(dim->size()) + ", wanted -1 or more";
    if (dim->size() >= 0 && !symbol.empty())
      return "found a dimension of size " + std::to_string(dim->size()) + " with the symbol " + quoted(symbol) +
             ", wanted one of the two";
    if (dim->size() < 0 && symbol.empty() && !allowUnknown)
      return "found an unknown dimension, wanted a size or a symbol";
    if (!symbol.empty() && !isIdentifier(symbol, /*dots=*/false))
      return "found the symbol " + quoted(symbol) + ", wanted an identifier";
  }
  return "";
}

static std::string valueTypeProblem(const graph::Value &value) {
  if (const graph::TensorType *tensor = value.type_as_TensorType())
    return typeProblem(*tensor, /*allowUnknown=*/true);
  const graph::StateType *state = value.type_as_StateType();
  if (!state)
    return "found type tag " + std::to_string(static_cast<unsigned>(value.type_type())) +
           ", wanted a tensor or a state";
  if (sizeOf(state->buffers()) == 0)
    return "found a state without buffers, wanted at least one";
  if (StringRef group = text(state->group()); !group.empty() && group != "source" && group != "transient")
    return "found the state group " + quoted(group) + ", wanted source, transient or none";
  for (const graph::TensorType *buffer : *state->buffers()) {
    std::string problem = typeProblem(*buffer, /*allowUnknown=*/true);
    if (!problem.empty())
      return problem;
    if (sizeOf(buffer->shape()) == 0 || buffer->shape()->Get(0)->size() != -1 || buffer->shape()->Get(0)->symbol())
      return "found a state buffer of type " + spell(*buffer) + ", wanted its first dimension unknown";
  }
  return "";
}

Error FunctionVerifier::fail(const Twine &field, const Twine &found, const Twine &wanted) const {
  std::string place = (tables.file + ": function " + quoted(text(function.name()))).str();
  for (const OpPlace &op : path)
    place += (", op " + Twine(op.index) + " " + quoted(text(op.op->name()))).str();
  return badInput(place + ", " + field + ": found " + found + ", wanted " + wanted);
}

Error FunctionVerifier::verify() {
  if (Error error = verifyValues())
    return error;
  if (!tables.charge(uint64_t(sizeOf(function.arguments())) + sizeOf(function.results()) +
                     sizeOf(function.result_names())))
    return fail("arguments and results", "more", sharedBytes);
  states.assign(function.values()->size(), State::Undefined);
  for (auto [i, index] : enumerate(elements(function.arguments()))) {
    if (Error error = define(index, "argument " + Twine(i)))
      return error;
    if (text(function.values()->Get(index)->name()).empty())
      return fail("argument " + Twine(i), "no name", "one");
  }
  if (Error error = verifyBody(function.body()))
    return error;
  for (auto [i, index] : enumerate(elements(function.results())))
    if (Error error = use(index, "result " + Twine(i)))
      return error;
  for (auto [i, state] : enumerate(states))
    if (state == State::Undefined)
      return fail("value " + Twine(i) + " " + quoted(text(function.values()->Get(i)->name())), "no definition",
                  "an argument or an op's result");

  if (sizeOf(function.result_names()) != 0 && sizeOf(function.result_names()) != sizeOf(function.results()))
    return fail("result_names", Twine(function.result_names()->size()) + " names",
                Twine(sizeOf(function.results())) + ", one for each result");
  StringSet<> names;
  if (function.result_names())
    for (const flatbuffers::String *name : *function.result_names()) {
      if (!isPrintableName(text(name)))
        return fail("result_names", quoted(text(name)), "a printable name");
      if (!names.insert(text(name)).second)
        return fail("result_names", quoted(text(name)) + " twice", "different names");
    }
  return Error::success();
}

Error FunctionVerifier::verifyValues() {
  if (!tables.charge(function.values()->size()))
    return fail("values", "more", sharedBytes);
  StringSet<> names;
  for (auto [i, value] : enumerate(*function.values())) {
    StringRef name = text(value->name());
    std::string field = ("value " + Twine(i) + " " + quoted(name)).str();
    if (!name.empty()) {
      if (!isPrintableName(name))
        return fail(field, "this name", "1 to 1024 bytes of UTF-8 without control characters");
      if (!names.insert(name).second)
        return fail(field, "the name twice", "different names");
    }
    uint64_t entries = sizeOf(value->type_as_TensorType() ? value->type_as_TensorType()->shape() : nullptr);
    if (const graph::StateType *state = value->type_as_StateType())
      for (const graph::TensorType *buffer : *state->buffers())
        entries += 1 + sizeOf(buffer->shape());
    if (!tables.charge(entries))
      return fail(field, "more dimensions", sharedBytes);
    std::string problem = valueTypeProblem(*value);
    if (!problem.empty())
      return badInput(tables.file + ": function " + quoted(text(function.name())) + ", " + field + ": " + problem);
  }
  return Error::success();
}

Error FunctionVerifier::define(uint32_t index, const Twine &field) {
  if (index >= states.size())
    return fail(field, "value index " + Twine(index), "an index below " + Twine(states.size()));
  if (states[index] != State::Undefined)
    return fail(field,
                "value " + Twine(index) + " " + quoted(text(function.values()->Get(index)->name())) +
                    " defined a second time",
                "one definition");
  states[index] = State::Visible;
  defined.push_back(index);
  return Error::success();
}

Error FunctionVerifier::use(uint32_t index, const Twine &field) const {
  if (index >= states.size())
    return fail(field, "value index " + Twine(index), "an index below " + Twine(states.size()));
  if (states[index] == State::Visible)
    return Error::success();
  StringRef name = text(function.values()->Get(index)->name());
  return fail(field,
              "value " + Twine(index) + " " + quoted(name) +
                  (states[index] == State::OutOfScope ? " of a region that has ended" : " before its definition"),
              "a value defined before");
}

Error FunctionVerifier::verifyBody(const flatbuffers::Vector<flatbuffers::Offset<graph::Op>> *body) {
  if (!body)
    return Error::success();
  for (uint32_t i = 0; i < body->size(); ++i) {
    path.push_back({i, body->Get(i)});
    if (Error error = verifyOp(*path.back().op))
      return error;
    path.pop_back();
  }
  return Error::success();
}

Error FunctionVerifier::verifyOp(const graph::Op &op) {
  if (!tables.charge(uint64_t(1) + sizeOf(op.operands()) + sizeOf(op.operand_segments()) + sizeOf(op.results()) +
                     sizeOf(op.attrs()) + sizeOf(op.regions())))
    return fail("operands", "more", sharedBytes);
  StringRef name = text(op.name());
  bool isCall = name == "call", isWeight = name == "weight";
  if (!isCall && !isWeight) {
    auto [dialect, mnemonic] = name.split('.');
    if (!isIdentifier(dialect, /*dots=*/false) || !isIdentifier(mnemonic, /*dots=*/true))
      return fail("name", quoted(name), "\"call\", \"weight\" or \"dialect.op\"");
  }
  for (auto [i, index] : enumerate(elements(op.operands())))
    if (Error error = use(index, "operand " + Twine(i)))
      return error;
  if (op.operand_segments()) {
    uint64_t sum = 0;
    for (uint32_t size : elements(op.operand_segments()))
      sum += size;
    if (sum != sizeOf(op.operands()))
      return fail("operand_segments", "sizes with the sum " + Twine(sum), Twine(sizeOf(op.operands())) + " operands");
  }
  if (!text(op.location()).empty() && !isPrintableName(text(op.location())))
    return fail("location", quoted(text(op.location())), "a printable text");
  if (Error error = verifyAttributes(op))
    return error;
  if ((isCall || isWeight) && sizeOf(op.regions()) != 0)
    return fail("regions", Twine(op.regions()->size()), "none");
  if (op.regions())
    for (uint32_t i = 0; i < op.regions()->size(); ++i)
      if (Error error = verifyRegion(*op.regions()->Get(i), i))
        return error;
  for (auto [i, index] : enumerate(elements(op.results())))
    if (Error error = define(index, "result " + Twine(i)))
      return error;
  if (isCall)
    return verifyCall(op);
  return isWeight ? verifyWeight(op) : Error::success();
}

Error FunctionVerifier::verifyAttributes(const graph::Op &op) {
  SmallVector<StringRef, 8> seen;
  for (const graph::Attr *attr : elements(op.attrs())) {
    StringRef name = text(attr->name());
    if (!isIdentifier(name, /*dots=*/true))
      return fail("attribute " + quoted(name), "this name", "an identifier");
    seen.push_back(name);
    if (attr->value_type() == graph::AttrValue::NONE || attr->value_type() > graph::AttrValue::MAX)
      return fail("attribute " + quoted(name), "value tag " + Twine(static_cast<unsigned>(attr->value_type())),
                  "1 to " + Twine(static_cast<unsigned>(graph::AttrValue::MAX)));
  }
  llvm::sort(seen);
  auto twice = std::adjacent_find(seen.begin(), seen.end());
  if (twice != seen.end())
    return fail("attribute " + quoted(*twice), "it twice", "it once");
  return Error::success();
}

Error FunctionVerifier::verifyRegion(const graph::Region &region, uint32_t index) {
  if (!tables.charge(uint64_t(1) + sizeOf(region.arguments()) + sizeOf(region.yields())))
    return fail("region " + Twine(index), "more entries", sharedBytes);
  size_t scope = defined.size();
  for (auto [i, value] : enumerate(elements(region.arguments())))
    if (Error error = define(value, "region " + Twine(index) + " argument " + Twine(i)))
      return error;
  if (Error error = verifyBody(region.body()))
    return error;
  for (auto [i, value] : enumerate(elements(region.yields())))
    if (Error error = use(value, "region " + Twine(index) + " yield " + Twine(i)))
      return error;
  for (uint32_t value : ArrayRef(defined).drop_front(scope))
    states[value] = State::OutOfScope;
  defined.resize(scope);
  return Error::success();
}

/// False when no shape of `a` can be one of `b`: sizes of symbols are not known here.
static bool compatible(const graph::TensorType &a, const graph::TensorType &b) {
  if (text(a.element()) != text(b.element()) || sizeOf(a.shape()) != sizeOf(b.shape()))
    return false;
  for (uint32_t i = 0; i < sizeOf(a.shape()); ++i) {
    int64_t x = a.shape()->Get(i)->size(), y = b.shape()->Get(i)->size();
    if (x >= 0 && y >= 0 && x != y)
      return false;
  }
  return true;
}

static bool compatible(const graph::Value &a, const graph::Value &b) {
  if (a.type_type() != b.type_type())
    return false;
  if (const graph::TensorType *tensor = a.type_as_TensorType())
    return compatible(*tensor, *b.type_as_TensorType());
  const graph::StateType *x = a.type_as_StateType(), *y = b.type_as_StateType();
  if (sizeOf(x->buffers()) != sizeOf(y->buffers()) || text(x->group()) != text(y->group()))
    return false;
  for (uint32_t i = 0; i < x->buffers()->size(); ++i)
    if (!compatible(*x->buffers()->Get(i), *y->buffers()->Get(i)))
      return false;
  return true;
}

Error FunctionVerifier::verifyCall(const graph::Op &op) {
  const graph::Attr *attr = findAttribute(op, "callee");
  const graph::StringAttr *callee = attr ? attr->value_as_StringAttr() : nullptr;
  if (!callee)
    return fail("attribute 'callee'", attr ? "another kind of value" : "none", "a function's name");
  auto entry = tables.functions.find(text(callee->value()));
  if (entry == tables.functions.end())
    return fail("attribute 'callee'", quoted(text(callee->value())), "a function of this file");
  callees.push_back(entry->second);
  const graph::Function &target = *tables.graph.functions()->Get(entry->second);
  auto check = [&](StringRef kind, const flatbuffers::Vector<uint32_t> *mine,
                   const flatbuffers::Vector<uint32_t> *theirs) -> Error {
    if (sizeOf(mine) != sizeOf(theirs))
      return fail(kind + "s", Twine(sizeOf(mine)),
                  Twine(sizeOf(theirs)) + " as " + quoted(text(target.name())) + " has");
    for (uint32_t i = 0; i < sizeOf(mine); ++i) {
      // The callee may come later in the file, and its own indices not be checked yet.
      if (theirs->Get(i) >= target.values()->size())
        continue;
      const graph::Value &a = *function.values()->Get(mine->Get(i)), &b = *target.values()->Get(theirs->Get(i));
      if (b.type_as_TensorType() || b.type_as_StateType())
        if (!compatible(a, b))
          return fail(kind + " " + Twine(i), spellType(a),
                      spellType(b) + " as " + quoted(text(target.name())) + " has for " + quoted(text(b.name())));
    }
    return Error::success();
  };
  if (Error error = check("operand", op.operands(), target.arguments()))
    return error;
  return check("result", op.results(), target.results());
}

Error FunctionVerifier::verifyWeight(const graph::Op &op) {
  const graph::Attr *attr = findAttribute(op, "name");
  const graph::StringAttr *name = attr ? attr->value_as_StringAttr() : nullptr;
  if (!name)
    return fail("attribute 'name'", attr ? "another kind of value" : "none", "a weight's name");
  auto entry = tables.weights.find(text(name->value()));
  if (entry == tables.weights.end())
    return fail("attribute 'name'", quoted(text(name->value())), "a weight of this file");
  if (sizeOf(op.operands()) != 0)
    return fail("operands", Twine(sizeOf(op.operands())), "none");
  if (sizeOf(op.results()) != 1)
    return fail("results", Twine(sizeOf(op.results())), "one");
  const graph::Value &value = *function.values()->Get(op.results()->Get(0));
  const graph::TensorType &wanted = *tables.graph.weights()->Get(entry->second)->type();
  std::string found = spellType(value);
  if (found != spell(wanted))
    return fail("result 0", found, spell(wanted) + ", the type of weight " + quoted(text(name->value())));
  return Error::success();
}

} // namespace tilewright
