// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Config files as models of each family are published: all their fields are understood. Weights there are none, so that
// what is refused must be the tensors alone.
#include "frontend/import/Family.h"
#include "frontend/import/ImportModel.h"
#include "tests/unit/support/TestFolder.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Endian.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace tilewright;
using namespace tilewright::test;

namespace {

/// As many tensors as the layers and experts of the largest model, with names of no model.
std::vector<uint8_t> manyTensors() {
  constexpr size_t count = 512;
  json::Object header;
  for (size_t i = 0; i < count; ++i)
    header["none." + std::to_string(i)] =
        json::Object{{"dtype", "F32"},
                     {"shape", json::Array{1}},
                     {"data_offsets", json::Array{static_cast<int64_t>(4 * i), static_cast<int64_t>(4 * (i + 1))}}};
  std::string text;
  raw_string_ostream(text) << json::Value(std::move(header));
  std::vector<uint8_t> file(8 + text.size() + 4 * count);
  support::endian::write64le(file.data(), text.size());
  std::copy(text.begin(), text.end(), file.begin() + 8);
  return file;
}

class PublishedConfigs : public testing::Test {
protected:
  PublishedConfigs() {
    folder.write("model.safetensors", manyTensors());
    std::vector<uint8_t> text =
        readBytes(std::string(TILEWRIGHT_TEST_DATA) + "/unit/import/Inputs/published-configs.json");
    configs = *cantFail(json::parse(toStringRef(text))).getAsObject();
  }

  /// "fits" where nothing but tensors is refused; else the error.
  std::string verdict(const json::Object &config) const {
    std::string text;
    raw_string_ostream(text) << json::Value(json::Object(config));
    folder.write("config.json", arrayRefFromStringRef(text));
    std::string message = toString(importModel(folder.path(), folder.path("m.twg")).takeError());
    StringRef shown = message;
    shown.consume_front(folder.path());
    return shown.contains(" tensors do not fit family ") ? "fits" : shown.ltrim('/').str();
  }

  std::string with(StringRef name, StringRef key, json::Value value) const {
    json::Object config = *configs.getObject(name);
    config[key] = std::move(value);
    return verdict(config);
  }

  TestFolder folder;
  json::Object configs;
};

TEST_F(PublishedConfigs, AreUnderstood) {
  StringSet<> types;
  for (const auto &[name, config] : configs) {
    EXPECT_EQ(verdict(*config.getAsObject()), "fits") << StringRef(name).str();
    types.insert(*config.getAsObject()->getString("model_type"));
  }
  const FamilyLibrary library = cantFail(FamilyLibrary::load());
  for (const FamilyLibrary::Entry &family : library.entries())
    for (const std::string &type : family.models.config.types)
      EXPECT_TRUE(types.contains(type)) << "no config of " << type;
}

// Fields that no model class reads, but whose other values speak of another model.
TEST_F(PublishedConfigs, FieldsOfWhichOneValueIsKnown) {
  auto only = [](StringRef field, StringRef found, StringRef wanted) {
    return ("config.json: field '" + field + "': found " + found + ", wanted " + wanted +
            ": anything else is not supported by this family")
        .str();
  };
  EXPECT_EQ(with("smollm2", "rope_interleaved", true), only("rope_interleaved", "true", "false"));
  EXPECT_EQ(with("deepseek-r1-distill-qwen", "use_mrope", true), only("use_mrope", "true", "false"));
  EXPECT_EQ(with("bert-multilingual", "directionality", "uni"), only("directionality", "'uni'", "\"bidi\""));
  EXPECT_EQ(with("phi-4-mini", "full_attn_mod", 2), only("full_attn_mod", "2", "1"));
  EXPECT_EQ(with("phi-4-mini", "interpolate_factor", 2), only("interpolate_factor", "2", "1"));
  EXPECT_EQ(with("phi-4-mini", "lm_head_bias", true), only("lm_head_bias", "true", "false"));
  EXPECT_EQ(with("phi-4-mini", "mlp_bias", true), only("mlp_bias", "true", "false"));
  EXPECT_EQ(with("starcoder2-3b", "norm_type", "rms"), only("norm_type", "'rms'", "\"layer_norm\""));
  EXPECT_EQ(with("starcoder2-3b", "mlp_type", "gated"), only("mlp_type", "'gated'", "\"default\""));
  EXPECT_EQ(with("starcoder2-3b", "scale_attn_weights", false), only("scale_attn_weights", "false", "true"));
  EXPECT_EQ(with("stablelm-3b-4e1t", "rotary_scaling_factor", 2.0), only("rotary_scaling_factor", "2", "1"));
  EXPECT_EQ(with("stablelm-3b-4e1t", "rope_pct", 0.5),
            "config.json: rope_pct: found 0.5, wanted 0.25, as partial_rotary_factor, which Transformers reads in its "
            "place");
}

TEST_F(PublishedConfigs, TablesWithoutEntriesAreAbsent) {
  EXPECT_EQ(with("llama2-7b", "quantization_config", nullptr), "fits");
  EXPECT_EQ(with("llama2-7b", "quantization_config", json::Object()), "fits");
  EXPECT_EQ(with("llama2-7b", "rope_scaling", json::Object()), "fits");
  EXPECT_EQ(with("llama2-7b", "quantization_config", json::Object{{"quant_method", "fp8"}}),
            "config.json: field 'quantization_config.quant_method': not known to family 'llama', and may change the "
            "result");
}

} // namespace
