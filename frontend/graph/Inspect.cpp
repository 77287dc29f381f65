// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/graph/Inspect.h"

#include "frontend/graph/Access.h"
#include "frontend/graph/Types.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

#include <map>

using namespace llvm;

namespace tilewright {

/// Text of the file on one line: control characters and broken UTF-8 escaped.
static std::string printablePart(StringRef text) {
  std::string shown = quoted(text);
  return shown.substr(1, shown.size() - 2);
}

std::string valueName(const graph::Function &function, uint32_t index) {
  StringRef name = text(function.values()->Get(index)->name());
  return name.empty() ? "%" + std::to_string(index) : name.str();
}

uint64_t weightBytes(const graph::Weight &weight) {
  return weight.inline_data() ? weight.inline_data()->size() : weight.length();
}

static std::string spellBytes(uint64_t bytes) {
  static constexpr StringLiteral units[] = {"B", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  unsigned unit = 0;
  for (; value >= 1000 && unit < 4; ++unit)
    value /= 1000;
  std::string out;
  raw_string_ostream(out) << format(unit ? "%.1f " : "%.0f ", value) << units[unit];
  return out;
}

static uint64_t countOps(const flatbuffers::Vector<flatbuffers::Offset<graph::Op>> *body) {
  uint64_t count = 0;
  for (const graph::Op *op : elements(body)) {
    ++count;
    for (const graph::Region *region : elements(op->regions()))
      count += countOps(region->body());
  }
  return count;
}

static void countCalls(const flatbuffers::Vector<flatbuffers::Offset<graph::Op>> *body, StringMap<uint64_t> &calls) {
  for (const graph::Op *op : elements(body)) {
    if (text(op->name()) == "call")
      ++calls[stringAttribute(*op, "callee")];
    for (const graph::Region *region : elements(op->regions()))
      countCalls(region->body(), calls);
  }
}

static void printSignature(const graph::Function &function, raw_ostream &os) {
  os << text(function.name()) << '(';
  interleaveComma(elements(function.arguments()), os, [&](uint32_t index) {
    os << valueName(function, index) << ": " << spellType(*function.values()->Get(index));
  });
  os << ") -> (";
  for (auto [i, index] : enumerate(elements(function.results()))) {
    os << (i ? ", " : "");
    if (i < sizeOf(function.result_names()))
      os << text(function.result_names()->Get(i)) << ": ";
    os << spellType(*function.values()->Get(index));
  }
  os << ')';
}

/// The arguments of a function by type, so that thirty equal states take one line.
static void printArgumentsByType(const graph::Function &function, raw_ostream &os) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (uint32_t index : elements(function.arguments())) {
    std::string type = spellType(*function.values()->Get(index));
    if (groups.empty() || groups.back().first != type)
      groups.push_back({type, {}});
    groups.back().second.push_back(valueName(function, index));
  }
  for (const auto &[type, names] : groups) {
    os << "    " << names.front();
    if (names.size() > 1)
      os << (names.size() > 2 ? " .. " : ", ") << names.back();
    os << ": " << type;
    if (names.size() > 2)
      os << " (" << names.size() << ')';
    os << '\n';
  }
}

void inspectSummary(const GraphFile &file, raw_ostream &os) {
  const graph::Graph &graph = file.graph();
  auto line = [&](StringRef label) -> raw_ostream & { return os << "  " << left_justify(label, 12); };
  os << file.path() << ": graph, schema " << graph.schema_version() << ", " << spellBytes(file.sizeInBytes()) << '\n';
  if (!text(graph.name()).empty())
    line("name") << printablePart(text(graph.name())) << '\n';
  if (!text(graph.family()).empty())
    line("family") << printablePart(text(graph.family())) << '\n';
  if (graph.context_length())
    line("context") << graph.context_length() << " tokens\n";
  if (graph.reread_length())
    line("read again") << "past " << graph.reread_length() << " tokens\n";
  line("plugins");
  interleaveComma(elements(graph.required_plugins()), os, [&](const flatbuffers::String *name) { os << text(name); });
  os << (sizeOf(graph.required_plugins()) ? "\n" : "none\n");

  StringMap<uint64_t> calls;
  for (const graph::Function *function : *graph.functions())
    countCalls(function->body(), calls);
  line("functions") << graph.functions()->size() << '\n';
  for (const graph::Function *function : *graph.functions()) {
    os << "    " << text(function->name()) << ": " << countOps(function->body()) << " ops";
    if (text(function->name()) == text(graph.entry()))
      os << ", entry";
    if (uint64_t count = calls.lookup(text(function->name())))
      os << ", called " << count << (count == 1 ? " time" : " times");
    os << '\n';
  }
  for (const graph::Function *function : *graph.functions())
    if (text(function->name()) == text(graph.entry())) {
      line("arguments") << "of " << text(graph.entry()) << '\n';
      printArgumentsByType(*function, os);
    }

  std::map<std::string, std::pair<uint64_t, uint64_t>> byType; // element type to count and bytes
  uint64_t bytes = 0;
  for (const graph::Weight *weight : elements(graph.weights())) {
    auto &[count, size] = byType[text(weight->type()->element()).str()];
    ++count;
    size += weightBytes(*weight);
    bytes += weightBytes(*weight);
  }
  line("weights") << sizeOf(graph.weights()) << ", " << spellBytes(bytes) << '\n';
  for (const auto &[type, counts] : byType)
    os << "    " << type << ": " << counts.first << ", " << spellBytes(counts.second) << '\n';
  if (const graph::Tokenizer *tokenizer = graph.tokenizer()) {
    line("tokenizer") << text(tokenizer->kind());
    if (!text(tokenizer->pre()).empty())
      os << " (" << printablePart(text(tokenizer->pre())) << ')';
    os << ", " << tokenizer->tokens()->size() << " tokens, " << sizeOf(tokenizer->merges()) << " merges, "
       << (text(tokenizer->chat_template()).empty() ? "no chat template" : "with a chat template") << '\n';
  }
}

static void printAttributeValue(const graph::Attr &attr, raw_ostream &os) {
  auto list = [&](const auto *values, auto print) {
    os << '[';
    interleaveComma(elements(values), os, print);
    os << ']';
  };
  auto string = [&](const flatbuffers::String *value) { os << quoted(text(value)); };
  auto real = [&](double value) { os << format("%.9g", value); };
  if (const auto *value = attr.value_as_IntAttr())
    os << value->value();
  else if (const auto *value = attr.value_as_FloatAttr())
    real(value->value());
  else if (const auto *value = attr.value_as_BoolAttr())
    os << (value->value() ? "true" : "false");
  else if (const auto *value = attr.value_as_StringAttr())
    string(value->value());
  else if (const auto *value = attr.value_as_IntsAttr())
    list(value->value(), [&](int64_t element) { os << element; });
  else if (const auto *value = attr.value_as_FloatsAttr())
    list(value->value(), real);
  else if (const auto *value = attr.value_as_StringsAttr())
    list(value->value(), string);
}

static void printOps(const graph::Function &function, const flatbuffers::Vector<flatbuffers::Offset<graph::Op>> *body,
                     unsigned indent, raw_ostream &os) {
  for (const graph::Op *op : elements(body)) {
    os.indent(indent);
    interleaveComma(elements(op->results()), os, [&](uint32_t index) {
      os << valueName(function, index) << ": " << spellType(*function.values()->Get(index));
    });
    os << (sizeOf(op->results()) ? " = " : "") << text(op->name()) << '(';
    interleaveComma(elements(op->operands()), os, [&](uint32_t index) { os << valueName(function, index); });
    os << ')';
    if (op->operand_segments()) {
      os << " groups [";
      interleaveComma(elements(op->operand_segments()), os);
      os << ']';
    }
    if (sizeOf(op->attrs())) {
      os << " {";
      interleaveComma(elements(op->attrs()), os, [&](const graph::Attr *attr) {
        os << text(attr->name()) << " = ";
        printAttributeValue(*attr, os);
      });
      os << '}';
    }
    os << '\n';
    for (const graph::Region *region : elements(op->regions())) {
      os.indent(indent + 2) << "region(";
      interleaveComma(elements(region->arguments()), os, [&](uint32_t index) {
        os << valueName(function, index) << ": " << spellType(*function.values()->Get(index));
      });
      os << ")\n";
      printOps(function, region->body(), indent + 4, os);
      os.indent(indent + 4) << "yield ";
      interleaveComma(elements(region->yields()), os, [&](uint32_t index) { os << valueName(function, index); });
      os << '\n';
    }
  }
}

void inspectTable(const GraphFile &file, raw_ostream &os) {
  const graph::Graph &graph = file.graph();
  for (const graph::Function *function : *graph.functions()) {
    os << (text(function->name()) == text(graph.entry()) ? "entry " : "function ");
    printSignature(*function, os);
    os << '\n';
    printOps(*function, function->body(), 2, os);
    os << "  return ";
    interleaveComma(elements(function->results()), os, [&](uint32_t index) { os << valueName(*function, index); });
    os << "\n\n";
  }
  size_t nameWidth = 0, typeWidth = 0;
  for (const graph::Weight *weight : elements(graph.weights())) {
    nameWidth = std::max(nameWidth, text(weight->name()).size());
    typeWidth = std::max(typeWidth, spell(*weight->type()).size());
  }
  for (const graph::Weight *weight : elements(graph.weights())) {
    os << "weight " << left_justify(text(weight->name()), nameWidth) << "  "
       << left_justify(spell(*weight->type()), typeWidth) << "  " << format_decimal(weightBytes(*weight), 12)
       << " bytes";
    if (weight->inline_data())
      os << " inline";
    else if (sizeOf(weight->parts()))
      os << " in " << sizeOf(weight->parts()) << " parts of " << text(weight->parts()->Get(0)->file())
         << (llvm::all_equal(map_range(elements(weight->parts()), [](const auto *p) { return text(p->file()); }))
                 ? ""
                 : " and others");
    else
      os << " at " << weight->offset() << " of " << text(weight->file());
    if (weight->transposed())
      os << ", transposed";
    if (const graph::RowPermutation *permutation = weight->row_permutation()) {
      os << ", rows [";
      interleaveComma(elements(permutation->dims()), os);
      os << "] by [";
      interleaveComma(elements(permutation->perm()), os);
      os << ']';
    }
    os << '\n';
  }
}

} // namespace tilewright
