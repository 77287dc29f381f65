// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/graph/Types.h"

#include "frontend/graph/Errors.h"
#include "frontend/graph/graph_generated.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tilewright {

ValueType ValueType::state(ArrayRef<Tensor> buffers) {
  ValueType type;
  type.isState = true;
  type.tensors.assign(buffers.begin(), buffers.end());
  return type;
}

std::optional<uint64_t> builtinElementBytes(StringRef element) {
  uint64_t bytes = StringSwitch<uint64_t>(element)
                       .Cases({"f64", "i64"}, 8)
                       .Cases({"f32", "i32", "ui32"}, 4)
                       .Cases({"f16", "bf16", "i16", "ui16"}, 2)
                       .Cases({"i1", "i8", "ui8", "f8E4M3FN", "f8E5M2"}, 1)
                       .Default(0);
  return bytes ? std::optional<uint64_t>(bytes) : std::nullopt;
}

StringRef elementDialect(StringRef element) {
  if (!element.consume_front("!"))
    return {};
  return element.split('.').first;
}

StringRef opDialect(StringRef op) {
  auto [dialect, rest] = op.split('.');
  return rest.empty() ? StringRef() : dialect;
}

static constexpr size_t maxNameBytes = 1024;

bool isIdentifier(StringRef text, bool dots) {
  if (text.empty() || text.size() > maxNameBytes || isDigit(text.front()))
    return false;
  return all_of(text, [&](char c) { return isAlnum(c) || c == '_' || c == '$' || c == '-' || (dots && c == '.'); });
}

bool isPrintableText(StringRef text) {
  return json::isUTF8(text) && none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

bool isPrintableName(StringRef text) { return !text.empty() && text.size() <= maxNameBytes && isPrintableText(text); }

std::optional<uint64_t> checkedByteSize(ArrayRef<int64_t> sizes, uint64_t bytes) {
  uint64_t total = bytes;
  for (int64_t size : sizes) {
    if (size < 0)
      return std::nullopt;
    std::optional<uint64_t> product = checkedMulUnsigned<uint64_t>(total, size);
    if (!product)
      return std::nullopt;
    total = *product;
  }
  return total;
}

static void spellDimension(raw_ostream &os, int64_t size, StringRef symbol) {
  if (size >= 0)
    os << size;
  else
    os << (symbol.empty() ? StringRef("?") : symbol);
}

std::string spell(const graph::TensorType &type) {
  std::string text;
  raw_string_ostream os(text);
  os << type.element()->string_view() << '[';
  if (type.shape())
    interleaveComma(*type.shape(), os, [&](const graph::Dim *dim) {
      spellDimension(os, dim->size(), dim->symbol() ? StringRef(dim->symbol()->string_view()) : StringRef());
    });
  os << ']';
  return text;
}

/// What stands before a state's buffers.
static std::string spellGroup(StringRef group) {
  return ("state" + (group.empty() ? "" : "(" + group + ")") + "{").str();
}

std::string spellType(const graph::Value &value) {
  if (const graph::TensorType *tensor = value.type_as_TensorType())
    return spell(*tensor);
  const graph::StateType *state = value.type_as_StateType();
  if (!state)
    return "<unknown type>";
  std::string text = spellGroup(state->group() ? StringRef(state->group()->string_view()) : StringRef());
  raw_string_ostream os(text);
  interleaveComma(*state->buffers(), os, [&](const graph::TensorType *buffer) { os << spell(*buffer); });
  os << '}';
  return text;
}

std::string spell(const Tensor &type) {
  std::string text;
  raw_string_ostream os(text);
  os << type.element << '[';
  interleaveComma(type.shape, os, [&](const Dimension &dim) { spellDimension(os, dim.size, dim.symbol); });
  os << ']';
  return text;
}

std::string spell(const ValueType &type) {
  if (!type.isState)
    return spell(type.tensors.front());
  std::string text = spellGroup(type.group);
  raw_string_ostream os(text);
  interleaveComma(type.tensors, os, [&](const Tensor &buffer) { os << spell(buffer); });
  os << '}';
  return text;
}

using DimensionReader = function_ref<Expected<Dimension>(StringRef)>;

/// Takes one `element[dims]` off the front of `text`.
static Expected<Tensor> consumeTensor(StringRef &text, DimensionReader dimension) {
  size_t open = text.find('[');
  size_t close = text.find(']', open);
  if (open == StringRef::npos || close == StringRef::npos)
    return badInput("type " + quoted(text) + ": wanted element[dimensions]");
  Tensor tensor;
  tensor.element = text.take_front(open).trim().str();
  StringRef dims = text.slice(open + 1, close).trim();
  text = text.drop_front(close + 1).ltrim();
  while (!dims.empty()) {
    auto [first, rest] = dims.split(',');
    Expected<Dimension> dim = first.trim() == "?" ? Expected<Dimension>(Dimension::unknown()) : dimension(first.trim());
    if (!dim)
      return dim.takeError();
    tensor.shape.push_back(std::move(*dim));
    dims = rest.trim();
  }
  return tensor;
}

Expected<ValueType> parseType(StringRef text, DimensionReader dimension) {
  StringRef rest = text.trim();
  ValueType type;
  for (StringRef group : {"", "source", "transient"})
    if (!type.isState && rest.consume_front(spellGroup(group))) {
      type.isState = true;
      type.group = group.str();
    }
  const bool isState = type.isState;
  do {
    Expected<Tensor> tensor = consumeTensor(rest, dimension);
    if (!tensor)
      return tensor.takeError();
    type.tensors.push_back(std::move(*tensor));
    rest = rest.ltrim();
  } while (isState && rest.consume_front(","));
  if (isState && !rest.consume_front("}"))
    return badInput("type " + quoted(text) + ": wanted '}' at " + quoted(rest));
  if (!rest.trim().empty())
    return badInput("type " + quoted(text) + ": found " + quoted(rest) + " after its end");
  return type;
}

std::string quoted(StringRef text) {
  constexpr size_t maxShown = 200;
  std::string out = "'";
  raw_string_ostream os(out);
  bool utf8 = json::isUTF8(text);
  for (char c : text.take_front(maxShown)) {
    unsigned char byte = c;
    if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !utf8))
      os << "\\x" << hexdigit(byte >> 4, true) << hexdigit(byte & 15, true);
    else
      os << c;
  }
  if (text.size() > maxShown)
    os << "... (" << text.size() << " bytes)";
  os << "'";
  return out;
}

} // namespace tilewright
