// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/graph/Access.h"
#include "frontend/graph/Inspect.h"
#include "frontend/graph/Types.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

#include <cmath>

using namespace llvm;

namespace tilewright {

namespace {

class Writer {
public:
  Writer(const GraphFile &file, raw_ostream &os) : file(file), json(os, /*IndentSize=*/2) {}

  void run() {
    const graph::Graph &graph = file.graph();
    json.object([&] {
      string("file", file.path());
      json.attribute("schema_version", graph.schema_version());
      string("name", text(graph.name()));
      string("family", text(graph.family()));
      string("producer", text(graph.producer()));
      string("entry", text(graph.entry()));
      if (graph.encode_entry())
        string("encode_entry", text(graph.encode_entry()));
      json.attribute("context_length", graph.context_length());
      json.attribute("vocab_size", graph.vocab_size());
      json.attributeArray("required_plugins", [&] {
        for (const flatbuffers::String *name : elements(graph.required_plugins()))
          json.value(fix(text(name)));
      });
      json.attributeArray("functions", [&] {
        for (const graph::Function *function : *graph.functions())
          writeFunction(*function);
      });
      json.attributeArray("weights", [&] {
        for (const graph::Weight *weight : elements(graph.weights()))
          writeWeight(*weight);
      });
      if (graph.tokenizer())
        json.attributeObject("tokenizer", [&] { writeTokenizer(*graph.tokenizer()); });
    });
  }

private:
  static std::string fix(StringRef text) { return json::fixUTF8(text); }

  void string(StringRef key, StringRef value) { json.attribute(key, fix(value)); }

  /// JSON has no word for these.
  void real(double value) {
    if (std::isfinite(value))
      json.value(value);
    else
      json.value(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
  }

  template <typename T> void numbers(StringRef key, const flatbuffers::Vector<T> *values) {
    json.attributeArray(key, [&] {
      for (T value : elements(values))
        json.value(value);
    });
  }

  void writeValues(const graph::Function &function, StringRef key, const flatbuffers::Vector<uint32_t> *indices) {
    json.attributeArray(key, [&] {
      for (uint32_t index : elements(indices))
        json.object([&] {
          string("name", valueName(function, index));
          string("type", spellType(*function.values()->Get(index)));
        });
    });
  }

  void writeNames(const graph::Function &function, StringRef key, const flatbuffers::Vector<uint32_t> *indices) {
    json.attributeArray(key, [&] {
      for (uint32_t index : elements(indices))
        json.value(fix(valueName(function, index)));
    });
  }

  void writeFunction(const graph::Function &function) {
    json.object([&] {
      string("name", text(function.name()));
      writeValues(function, "arguments", function.arguments());
      writeOps(function, function.body());
      json.attributeArray("results", [&] {
        for (auto [i, index] : enumerate(elements(function.results())))
          json.object([&] {
            bool named = i < sizeOf(function.result_names());
            string("name", named ? text(function.result_names()->Get(i)) : StringRef());
            string("value", valueName(function, index));
          });
      });
    });
  }

  void writeOps(const graph::Function &function, const flatbuffers::Vector<flatbuffers::Offset<graph::Op>> *body) {
    json.attributeArray("ops", [&] {
      for (const graph::Op *op : elements(body))
        json.object([&] { writeOp(function, *op); });
    });
  }

  void writeOp(const graph::Function &function, const graph::Op &op) {
    string("op", text(op.name()));
    writeNames(function, "operands", op.operands());
    if (op.operand_segments())
      numbers("operand_segments", op.operand_segments());
    if (sizeOf(op.attrs()))
      json.attributeObject("attributes", [&] {
        for (const graph::Attr *attr : *op.attrs()) {
          json.attributeBegin(fix(text(attr->name())));
          writeAttribute(*attr);
          json.attributeEnd();
        }
      });
    writeValues(function, "results", op.results());
    if (sizeOf(op.regions()))
      json.attributeArray("regions", [&] {
        for (const graph::Region *region : *op.regions())
          json.object([&] {
            writeValues(function, "arguments", region->arguments());
            writeOps(function, region->body());
            writeNames(function, "yields", region->yields());
          });
      });
    if (!text(op.location()).empty())
      string("location", text(op.location()));
  }

  void writeAttribute(const graph::Attr &attr) {
    if (const auto *value = attr.value_as_IntAttr())
      json.value(value->value());
    else if (const auto *value = attr.value_as_FloatAttr())
      real(value->value());
    else if (const auto *value = attr.value_as_BoolAttr())
      json.value(value->value());
    else if (const auto *value = attr.value_as_StringAttr())
      json.value(fix(text(value->value())));
    else
      json.array([&] {
        if (const auto *value = attr.value_as_IntsAttr())
          for (int64_t element : elements(value->value()))
            json.value(element);
        if (const auto *value = attr.value_as_FloatsAttr())
          for (double element : elements(value->value()))
            real(element);
        if (const auto *value = attr.value_as_StringsAttr())
          for (const flatbuffers::String *element : elements(value->value()))
            json.value(fix(text(element)));
      });
  }

  void writeWeight(const graph::Weight &weight) {
    json.object([&] {
      string("name", text(weight.name()));
      string("type", spell(*weight.type()));
      json.attribute("bytes", weightBytes(weight));
      if (sizeOf(weight.parts()))
        json.attributeArray("parts", [&] {
          for (const graph::WeightPart *part : elements(weight.parts()))
            json.object([&] {
              string("file", text(part->file()));
              json.attribute("offset", part->offset());
              json.attribute("bytes", part->length());
            });
        });
      else if (!weight.inline_data()) {
        string("file", text(weight.file()));
        json.attribute("offset", weight.offset());
      }
      if (weight.transposed())
        json.attribute("transposed", true);
      // As text: a reader that keeps numbers as doubles would lose bits.
      json.attribute("hash", utohexstr(weight.hash(), /*LowerCase=*/true, /*Width=*/16));
      if (const graph::RowPermutation *permutation = weight.row_permutation())
        json.attributeObject("row_permutation", [&] {
          numbers("dims", permutation->dims());
          numbers("perm", permutation->perm());
        });
    });
  }

  void writeTokenizer(const graph::Tokenizer &tokenizer) {
    string("kind", text(tokenizer.kind()));
    string("pre", text(tokenizer.pre()));
    json.attribute("tokens", tokenizer.tokens()->size());
    json.attribute("merges", sizeOf(tokenizer.merges()));
    json.attribute("bos_id", tokenizer.bos_id());
    json.attribute("eos_id", tokenizer.eos_id());
    json.attribute("unk_id", tokenizer.unk_id());
    json.attribute("pad_id", tokenizer.pad_id());
    numbers("eot_ids", tokenizer.eot_ids());
    json.attribute("add_bos", tokenizer.add_bos());
    json.attribute("add_space_prefix", tokenizer.add_space_prefix());
    string("chat_template", text(tokenizer.chat_template()));
  }

  const GraphFile &file;
  json::OStream json;
};

} // namespace

void inspectJson(const GraphFile &file, raw_ostream &os) {
  Writer(file, os).run();
  os << '\n';
}

} // namespace tilewright
