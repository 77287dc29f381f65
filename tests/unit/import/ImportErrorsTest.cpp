// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What importing says about models that do not fit their family, and what it makes of those that do.
#include "frontend/graph/Access.h"
#include "frontend/graph/GraphFile.h"
#include "frontend/graph/Types.h"
#include "frontend/import/ImportModel.h"
#include "tests/unit/support/TestFolder.h"
#include "tests/unit/support/TinyLlama.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

using namespace llvm;
using namespace tilewright;
using namespace tilewright::test;

namespace {

class Import : public testing::Test {
protected:
  Expected<ImportResult> import(const TinyLlama &model) {
    return importModel(folder.write("m.gguf", model.finish()), folder.path("m.twg"));
  }

  /// The error without the folder's name, or "accepted".
  std::string verdict(const TinyLlama &model) {
    Expected<ImportResult> result = import(model);
    if (result)
      return "accepted";
    code = std::error_code();
    std::string message;
    handleAllErrors(result.takeError(), [&](const ErrorInfoBase &info) {
      code = info.convertToErrorCode();
      message = info.message();
    });
    StringRef shown = message;
    shown.consume_front(folder.path() + "/");
    return shown.str();
  }

  TestFolder folder;
  std::error_code code;
};

TEST_F(Import, TinyModelIsAccepted) {
  EXPECT_EQ(verdict(TinyLlama()), "accepted");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"m.gguf"});
}

TEST_F(Import, UnknownArchitectureNamesTheNearest) {
  TinyLlama model;
  model.architecture = "lama";
  EXPECT_EQ(verdict(model), "m.gguf: unknown architecture 'lama', nearest known: 'llama'");
  EXPECT_EQ(code, std::errc::not_supported);
  for (const char *far : {"", "../x", "no_such_model"}) {
    model.architecture = far;
    EXPECT_EQ(verdict(model), std::string("m.gguf: unknown architecture '") + far +
                                  "'; 'tilewright import --list-families' lists those that are known");
  }
}

TEST_F(Import, MissingMetadata) {
  for (const char *key : {"llama.block_count", "llama.embedding_length", "llama.feed_forward_length",
                          "llama.attention.head_count", "llama.context_length"}) {
    TinyLlama model;
    model.integers.erase(key);
    EXPECT_EQ(verdict(model), std::string("m.gguf: metadata key '") + key + "': not found, wanted an integer");
    EXPECT_EQ(code, std::errc::invalid_argument);
  }
  TinyLlama model;
  model.floats.clear();
  EXPECT_EQ(verdict(model), "m.gguf: metadata key 'llama.attention.layer_norm_rms_epsilon': not found, wanted a float");
}

TEST_F(Import, HeadCountsThatDoNotDivide) {
  auto heads = [&](uint32_t h, uint32_t hkv) {
    TinyLlama model;
    model.integers["llama.attention.head_count"] = h;
    model.integers["llama.attention.head_count_kv"] = hkv;
    model.integers["llama.attention.key_length"] = 8;
    return verdict(model);
  };
  EXPECT_EQ(heads(7, 2), "m.gguf: llama.attention.head_count: found 7, wanted a multiple of "
                         "llama.attention.head_count_kv = 2");
  EXPECT_EQ(heads(3, 2), "m.gguf: llama.attention.head_count: found 3, wanted a multiple of "
                         "llama.attention.head_count_kv = 2");
  EXPECT_EQ(heads(4, 8), "m.gguf: llama.attention.head_count: found 4, wanted a multiple of "
                         "llama.attention.head_count_kv = 8");
  EXPECT_EQ(heads(4, 0), "m.gguf: metadata key 'llama.attention.head_count_kv': found 0, wanted at least 1");
  EXPECT_EQ(heads(0, 1), "m.gguf: metadata key 'llama.attention.head_count': found 0, wanted at least 1");
  EXPECT_EQ(heads(4, 2), "accepted");
}

TEST_F(Import, HeadSize) {
  TinyLlama indivisible;
  indivisible.integers["llama.attention.head_count"] = 5;
  indivisible.integers["llama.attention.head_count_kv"] = 5;
  EXPECT_EQ(verdict(indivisible),
            "m.gguf: metadata key 'llama.attention.key_length': not found, and its default has no "
            "value: expression 'E / H': 32 / 5 leaves a remainder");
  TinyLlama other;
  other.integers["llama.attention.key_length"] = 6;
  EXPECT_EQ(verdict(other), "m.gguf: 8 tensors do not fit family 'llama':\n"
                            "  tensor 'blk.0.attn_q.weight': found shape [32, 32], wanted [H * D = 24, E = 32]\n"
                            "  tensor 'blk.0.attn_k.weight': found shape [16, 32], wanted [Hkv * D = 12, E = 32]\n"
                            "  tensor 'blk.0.attn_v.weight': found shape [16, 32], wanted [Hkv * Dv = 12, E = 32]\n"
                            "  tensor 'blk.0.attn_output.weight': found shape [32, 32], wanted [E = 32, H * Dv = 24]\n"
                            "  tensor 'blk.1.attn_q.weight': found shape [32, 32], wanted [H * D = 24, E = 32]\n"
                            "  tensor 'blk.1.attn_k.weight': found shape [16, 32], wanted [Hkv * D = 12, E = 32]\n"
                            "  tensor 'blk.1.attn_v.weight': found shape [16, 32], wanted [Hkv * Dv = 12, E = 32]\n"
                            "  tensor 'blk.1.attn_output.weight': found shape [32, 32], wanted [E = 32, H * Dv = 24]");
  other.integers["llama.attention.key_length"] = 7;
  EXPECT_EQ(verdict(other), "m.gguf: llama.attention.key_length: found 7, wanted an even number, because rotary "
                            "positions turn pairs");
  other.integers["llama.attention.key_length"] = 8;
  other.integers["llama.attention.value_length"] = 4;
  EXPECT_EQ(verdict(other), "m.gguf: llama.attention.value_length: found 4, wanted 8, the key length");
  other.integers.erase("llama.attention.value_length");
  other.integers["llama.rope.dimension_count"] = 4;
  EXPECT_EQ(verdict(other), "m.gguf: llama.rope.dimension_count: found 4, wanted 8, the key length");
}

TEST_F(Import, ExplicitHeadSizeWins) {
  TinyLlama model; // 4 heads of 16 on an embedding of 32
  model.integers["llama.attention.key_length"] = 16;
  model.integers["llama.attention.value_length"] = 16;
  for (TinyTensor &tensor : model.tensors) {
    StringRef name = tensor.name;
    if (name.ends_with("attn_q.weight"))
      tensor.dims = {32, 64};
    if (name.ends_with("attn_k.weight") || name.ends_with("attn_v.weight"))
      tensor.dims = {32, 32};
    if (name.ends_with("attn_output.weight"))
      tensor.dims = {64, 32};
  }
  EXPECT_EQ(verdict(model), "accepted");
}

TEST_F(Import, VocabularyThatDiffers) {
  TinyLlama table;
  table.tokens.push_back("more");
  table.tokens.push_back("evenmore");
  EXPECT_EQ(verdict(table),
            "m.gguf: 2 tensors do not fit family 'llama':\n"
            "  tensor 'token_embd.weight': found shape [6, 32], wanted [V = 8, E = 32] (V: the number of tokens in "
            "tokenizer.ggml.tokens)\n"
            "  tensor 'output.weight': found shape [6, 32], wanted [V = 8, E = 32] (V: the number of tokens in "
            "tokenizer.ggml.tokens)");
  TinyLlama key;
  key.integers["llama.vocab_size"] = 9;
  EXPECT_EQ(verdict(key), "m.gguf: llama.vocab_size: found 9, wanted 6, the number of tokens in tokenizer.ggml.tokens");
}

TEST_F(Import, TensorProblemsComeTogether) {
  TinyLlama model;
  model.remove("blk.0.ffn_up.weight");
  model.tensor("output_norm.weight").dims = {16};
  model.tensors.push_back({"blk.2.attn_q.weight", {32, 32}});
  model.tensor("blk.1.ffn_down.weight").dims = {32, 64};
  EXPECT_EQ(verdict(model), "m.gguf: 4 tensors do not fit family 'llama':\n"
                            "  tensor 'output_norm.weight': found shape [16], wanted [E = 32]\n"
                            "  tensor 'blk.0.ffn_up.weight': missing, wanted shape [F = 64, E = 32]\n"
                            "  tensor 'blk.1.ffn_down.weight': found shape [64, 32], wanted [E = 32, F = 64]\n"
                            "  tensor 'blk.2.attn_q.weight': found, but the family has no place for it");
  EXPECT_EQ(code, std::errc::invalid_argument);
}

TEST_F(Import, UnsupportedQuantisation) {
  TinyLlama model;
  model.integers["llama.feed_forward_length"] = 256;
  for (TinyTensor &tensor : model.tensors)
    for (uint64_t &dim : tensor.dims)
      if (dim == 64)
        dim = 256;
  model.tensor("blk.0.ffn_down.weight").type = 15;
  EXPECT_EQ(verdict(model), "m.gguf: unsupported quantisation Q8_K of tensor blk.0.ffn_down.weight");
  EXPECT_EQ(code, std::errc::not_supported);
  model.tensor("blk.1.ffn_down.weight").type = 15;
  EXPECT_EQ(verdict(model), "m.gguf: 2 tensors do not fit family 'llama':\n"
                            "  unsupported quantisation Q8_K of tensor blk.0.ffn_down.weight\n"
                            "  unsupported quantisation Q8_K of tensor blk.1.ffn_down.weight");
  EXPECT_EQ(code, std::errc::not_supported);
}

TEST_F(Import, WhatTheFamilyDoesNotSupportIsRefused) {
  TinyLlama prediction;
  prediction.integers["llama.nextn_predict_layers"] = 1;
  EXPECT_EQ(verdict(prediction), "m.gguf: metadata key 'llama.nextn_predict_layers': found 1, wanted 0: anything else "
                                 "is not supported by this family");
  TinyLlama scaling;
  scaling.strings["llama.rope.scaling.type"] = "dynamic";
  EXPECT_EQ(verdict(scaling), "m.gguf: metadata key 'llama.rope.scaling.type': found 'dynamic', wanted \"none\" or "
                              "\"linear\" or \"yarn\" or \"longrope\": anything else is not supported by this family");
  TinyLlama none;
  none.strings["llama.rope.scaling.type"] = "none";
  EXPECT_EQ(verdict(none), "accepted");
  TinyLlama layers;
  layers.integers["llama.block_count"] = 90000;
  EXPECT_EQ(verdict(layers), "m.gguf: found 90000 layers and 21 tensors, wanted at least one tensor for each layer");
}

TEST_F(Import, WhatWouldChangeTheResultIsNeverIgnored) {
  TinyLlama clamp;
  clamp.floats["llama.attention.clamp_kqv"] = 8;
  EXPECT_EQ(verdict(clamp), "m.gguf: metadata key 'llama.attention.clamp_kqv': found 8, wanted 0: anything else is not "
                            "supported by this family");
  TinyLlama cap;
  cap.floats["llama.attn_logit_softcapping"] = 50;
  EXPECT_EQ(verdict(cap),
            "m.gguf: metadata key 'llama.attn_logit_softcapping': found 50, wanted 0: anything else is not "
            "supported by this family");
  TinyLlama infinite;
  infinite.floats["llama.rope.freq_base"] = INFINITY;
  EXPECT_EQ(verdict(infinite), "m.gguf: metadata key 'llama.rope.freq_base': found inf, wanted a finite number");
  infinite.floats["llama.rope.freq_base"] = 0;
  EXPECT_EQ(verdict(infinite), "m.gguf: metadata key 'llama.rope.freq_base': found 0, wanted more than 0");
}

/// A model in three files: the tokenizer's tables, the first layer, and the second.
struct SplitLlama {
  SplitLlama() {
    for (size_t no = 0; no < parts.size(); ++no) {
      parts[no].integers["split.no"] = no;
      parts[no].integers["split.count"] = 3;
      parts[no].integers["split.tensors.count"] = parts[no].tensors.size();
    }
    for (size_t no = 0; no < parts.size(); ++no)
      llvm::erase_if(parts[no].tensors, [&](const TinyTensor &t) {
        return no != (StringRef(t.name).starts_with("blk.0.") ? 1u : StringRef(t.name).starts_with("blk.1.") ? 2u : 0u);
      });
  }
  std::array<TinyLlama, 3> parts;
};

TEST_F(Import, SplitModels) {
  auto verdictOf = [&](const SplitLlama &model) -> std::string {
    for (size_t no = 0; no < 3; ++no)
      folder.write("m-0000" + std::to_string(no + 1) + "-of-00003.gguf", model.parts[no].finish());
    Expected<ImportResult> result = importModel(folder.path("m-00001-of-00003.gguf"), folder.path("m.twg"));
    if (result)
      return "accepted";
    std::string message = toString(result.takeError());
    for (size_t at; (at = message.find(folder.path() + "/")) != std::string::npos;)
      message.erase(at, folder.path().size() + 1);
    return message;
  };
  // The same tensors with the same bytes as of one file, each from its own.
  EXPECT_EQ(verdictOf(SplitLlama()), "accepted");
  const std::vector<uint8_t> split =
      cantFail(importModel(folder.path("m-00001-of-00003.gguf"), folder.path("m.twg"))).bytes;
  const std::vector<uint8_t> whole = cantFail(import(TinyLlama())).bytes;
  auto weights = [](const std::vector<uint8_t> &bytes, bool files) {
    std::map<std::string, std::string> weights;
    for (const graph::Weight *weight : *graph::GetGraph(bytes.data())->weights())
      weights[weight->name()->str()] = files ? weight->file()->str() : std::to_string(weight->hash());
    return weights;
  };
  EXPECT_EQ(weights(split, false), weights(whole, false));
  std::map<std::string, std::string> files = weights(split, true);
  EXPECT_EQ(files["token_embd.weight"], "m-00001-of-00003.gguf");
  EXPECT_EQ(files["blk.1.ffn_up.weight"], "m-00003-of-00003.gguf");
  EXPECT_TRUE(bool(GraphFile::loadBytes(MemoryBuffer::getMemBufferCopy(toStringRef(split)), folder.path("m.twg"))));

  SplitLlama other;
  other.parts[1].integers["split.no"] = 2;
  EXPECT_EQ(
      verdictOf(other),
      "m-00002-of-00003.gguf: found number 2 (from 0) of the 3 files that a model is split into, wanted number 1 of 3");
  other = SplitLlama();
  other.parts[2].integers["split.count"] = 4;
  EXPECT_EQ(
      verdictOf(other),
      "m-00003-of-00003.gguf: found number 2 (from 0) of the 4 files that a model is split into, wanted number 2 of 3");
  other = SplitLlama();
  other.parts[2].tensors.push_back(other.parts[1].tensors.front());
  EXPECT_EQ(verdictOf(other),
            "m-00003-of-00003.gguf: tensor 'blk.0.attn_norm.weight': found in an earlier file as well");
  other = SplitLlama();
  other.parts[2].tensors.pop_back();
  EXPECT_EQ(verdictOf(other), "m-00001-of-00003.gguf: metadata key 'split.tensors.count': found 21, wanted 20, the "
                              "tensors of all files");
  other = SplitLlama();
  other.parts[0].integers["split.count"] = 0;
  EXPECT_EQ(verdictOf(other), "m-00001-of-00003.gguf: metadata key 'split.count': found 0, wanted 1 to 99999");

  // The first of them by another name, another one than the first, one that is not there, and one from elsewhere.
  EXPECT_EQ(verdict(SplitLlama().parts[0]), "m.gguf: found the first of 3 files that a model is split into, wanted a "
                                            "name that ends in '-00001-of-00003.gguf', to find the others by");
  EXPECT_EQ(verdict(SplitLlama().parts[1]),
            "m.gguf: found number 1 (from 0) of the 3 files that a model is split into, wanted number 0 of 3");
  EXPECT_EQ(verdictOf(SplitLlama()), "accepted");
  cantFail(errorCodeToError(sys::fs::remove(folder.path("m-00002-of-00003.gguf"))));
  EXPECT_EQ(toString(importModel(folder.path("m-00001-of-00003.gguf"), folder.path("m.twg")).takeError()),
            folder.path("m-00002-of-00003.gguf") + ": No such file or directory");
  TestFolder elsewhere;
  const std::string far = elsewhere.write("x.gguf", SplitLlama().parts[1].finish());
  cantFail(errorCodeToError(sys::fs::create_link(far, folder.path("m-00002-of-00003.gguf"))));
  EXPECT_EQ(toString(importModel(folder.path("m-00001-of-00003.gguf"), folder.path("m.twg")).takeError()),
            folder.path("m-00002-of-00003.gguf") + ": found a link into '" + elsewhere.path() +
                "', wanted a file in '" + folder.path() + "', where the first one is");
}

TEST_F(Import, UnknownKeysAreRefused) {
  TinyLlama model;
  model.integers["llama.shiny_new_thing"] = 1;
  EXPECT_EQ(verdict(model), "m.gguf: metadata key 'llama.shiny_new_thing': not known to family 'llama', and may change "
                            "the result");
  EXPECT_EQ(code, std::errc::not_supported);
  model.integers["llama.another"] = 1;
  EXPECT_EQ(verdict(model), "m.gguf: metadata keys 'llama.another', 'llama.shiny_new_thing': not known to family "
                            "'llama', and may change the result");
  TinyLlama harmless;
  harmless.integers["llama.pooling_type"] = 3;
  EXPECT_EQ(verdict(harmless), "accepted");
}

TEST_F(Import, FamiliesOfOneArchitectureAreToldApartByTheirKeys) {
  auto familyOf = [&](const TinyLlama &model) {
    Expected<ImportResult> result = import(model);
    return result ? result->family : toString(result.takeError());
  };
  TinyLlama model;
  EXPECT_EQ(familyOf(model), "llama");
  model.integers["llama.attention.sliding_window"] = 0; // as if it were not there
  EXPECT_EQ(familyOf(model), "llama");
  model.integers["llama.attention.sliding_window"] = 16;
  EXPECT_EQ(familyOf(model), "mistral");
  model.integers["llama.expert_count"] = model.integers["llama.expert_used_count"] = 2;
  for (std::string layer : {"blk.0.", "blk.1."}) {
    for (StringRef name : {"ffn_gate.weight", "ffn_up.weight", "ffn_down.weight"})
      model.remove(layer + name.str());
    model.tensors.push_back({layer + "ffn_gate_inp.weight", {32, 2}});
    model.tensors.push_back({layer + "ffn_gate_exps.weight", {32, 64, 2}});
    model.tensors.push_back({layer + "ffn_up_exps.weight", {32, 64, 2}});
    model.tensors.push_back({layer + "ffn_down_exps.weight", {64, 32, 2}});
  }
  EXPECT_EQ(familyOf(model), "mixtral");
}

TEST_F(Import, FactorsOfRotaryPositions) {
  TinyLlama model;
  model.strings["llama.rope.scaling.type"] = "longrope";
  EXPECT_EQ(verdict(model), "m.gguf: rope_factors_short.weight: found [] and rope_factors_long.weight [], wanted one "
                            "number for each of the 8 / 2 pairs");
  model.strings.erase("llama.rope.scaling.type");
  model.tensors.push_back({"rope_factors_short.weight", {4}});
  model.tensors.push_back({"rope_factors_long.weight", {4}});
  EXPECT_EQ(verdict(model), "accepted");
  model.floats["llama.rope.scaling.factor"] = 4;
  EXPECT_EQ(verdict(model), "m.gguf: llama.rope.scaling.factor: found 4, wanted 1 beside rope_factors_long.weight");
  model.strings["llama.rope.scaling.type"] = "linear";
  EXPECT_EQ(verdict(model), "m.gguf: llama.rope.scaling.type: found 'linear', wanted 'longrope' beside "
                            "rope_factors_long.weight and rope_factors_short.weight");
  model.tensor("rope_factors_long.weight").type = 1;
  EXPECT_EQ(verdict(model), "m.gguf: tensor 'rope_factors_long.weight': found F16 of 1 dimensions, wanted a row of at "
                            "most 65536 F32");
}

TEST_F(Import, DimensionsOfOneInFront) {
  TinyLlama model; // GGUF cannot tell [1, 32] from [32]
  model.tensor("output_norm.weight").dims = {32, 1};
  EXPECT_EQ(verdict(model), "accepted");
  model.tensor("output_norm.weight").dims = {1, 32};
  EXPECT_EQ(verdict(model), "m.gguf: tensor 'output_norm.weight': found shape [32, 1], wanted [E = 32]");
}

TEST_F(Import, TokenizerEntries) {
  TinyLlama model;
  model.integers["tokenizer.ggml.eos_token_id"] = 6;
  EXPECT_EQ(verdict(model), "m.gguf: metadata key 'tokenizer.ggml.eos_token_id': found 6, wanted 0 to 5, a token of "
                            "'tokenizer.ggml.tokens'");
  model.integers["tokenizer.ggml.eos_token_id"] = 5;
  EXPECT_EQ(verdict(model), "accepted");
  TinyLlama types;
  types.raw.push_back(
      {"tokenizer.ggml.token_type", Bytes().put<uint32_t>(ARRAY).put<uint32_t>(I32).put<uint64_t>(1).put(1)});
  EXPECT_EQ(verdict(types),
            "m.gguf: metadata key 'tokenizer.ggml.token_type': found 1 entries, wanted 6, one for each of "
            "'tokenizer.ggml.tokens'");
  TinyLlama scores;
  scores.raw.push_back({"tokenizer.ggml.scores", Bytes().put<uint32_t>(ARRAY).put<uint32_t>(F32).put<uint64_t>(0)});
  EXPECT_EQ(verdict(scores), "m.gguf: metadata key 'tokenizer.ggml.scores': found 0 entries, wanted 6, one for each of "
                             "'tokenizer.ggml.tokens'");
  TinyLlama large;
  large.raw.push_back({"tokenizer.ggml.token_type",
                       Bytes().put<uint32_t>(ARRAY).put<uint32_t>(U32).put<uint64_t>(1).put<uint32_t>(0x80000000)});
  EXPECT_EQ(verdict(large),
            "m.gguf: metadata key 'tokenizer.ggml.token_type'[0]: found an integer beyond 32 bits, wanted "
            "one that fits");
  TinyLlama kind;
  kind.strings.clear();
  EXPECT_EQ(verdict(kind), "m.gguf: metadata key 'tokenizer.ggml.model': not found, wanted a string");
}

TEST_F(Import, EndsOfText) {
  TinyLlama model;
  model.tokens = {"a", "<|endoftext|>", "<|im_end|>", "<|eot_id|>", "b", "c"};
  model.integers["tokenizer.ggml.eos_token_id"] = 2;
  model.integers["tokenizer.ggml.eot_token_id"] = 4;
  // Only control tokens (type 3) end a text by their name.
  Bytes types = Bytes().put<uint32_t>(ARRAY).put<uint32_t>(I32).put<uint64_t>(6);
  for (int32_t type : {1, 3, 3, 1, 1, 1})
    types.put(type);
  model.raw.push_back({"tokenizer.ggml.token_type", types});
  ImportResult result = cantFail(import(model));
  const graph::Tokenizer &tokenizer = *graph::GetGraph(result.bytes.data())->tokenizer();
  EXPECT_EQ(tokenizer.eos_id(), 2);
  auto ids = elements(tokenizer.eot_ids());
  EXPECT_EQ(std::vector<int32_t>(ids.begin(), ids.end()), (std::vector<int32_t>{4, 1}));
  EXPECT_FALSE(tokenizer.add_bos());
}

TEST_F(Import, LayersOfEqualTypesShareAFunction) {
  auto functionNames = [&](const TinyLlama &model) {
    ImportResult result = cantFail(import(model));
    std::vector<std::string> names;
    for (const graph::Function *function : *graph::GetGraph(result.bytes.data())->functions())
      names.push_back(function->name()->str());
    return names;
  };
  EXPECT_EQ(functionNames(TinyLlama()), (std::vector<std::string>{"layer", "step"}));
  TinyLlama mixed;
  mixed.tensor("blk.1.ffn_down.weight").type = 8;
  EXPECT_EQ(functionNames(mixed), (std::vector<std::string>{"layer", "layer_1", "step"}));
  TinyLlama biased;
  biased.tensors.push_back({"blk.0.attn_q.bias", {32}});
  EXPECT_EQ(functionNames(biased), (std::vector<std::string>{"layer", "layer_1", "step"}));
}

TEST_F(Import, TiedEmbeddingsAreOneWeight) {
  TinyLlama model;
  model.remove("output.weight");
  ImportResult result = cantFail(import(model));
  GraphFile file = cantFail(GraphFile::loadBytes(bufferOf(result.bytes), folder.path("m.twg")));
  EXPECT_EQ(file.graph().weights()->size(), model.tensors.size());
  const graph::Function &step = *file.graph().functions()->Get(1);
  const graph::Op &head = *step.body()->Get(step.body()->size() - 1);
  EXPECT_EQ(head.name()->str(), "tw.linear");
  EXPECT_EQ(step.values()->Get(head.operands()->Get(1))->name()->str(), "token_embd.weight");
}

TEST_F(Import, RowsOfQueriesAndKeysArePermuted) {
  ImportResult result = cantFail(import(TinyLlama()));
  std::map<std::string, std::string> permuted;
  for (const graph::Weight *weight : *graph::GetGraph(result.bytes.data())->weights())
    if (const graph::RowPermutation *permutation = weight->row_permutation()) {
      std::string text;
      for (int64_t dim : elements(permutation->dims()))
        text += std::to_string(dim) + " ";
      for (uint32_t axis : elements(permutation->perm()))
        text += std::to_string(axis);
      permuted[weight->name()->str()] = text;
    }
  EXPECT_EQ(permuted, (std::map<std::string, std::string>{{"blk.0.attn_q.weight", "4 4 2 021"},
                                                          {"blk.0.attn_k.weight", "2 4 2 021"},
                                                          {"blk.1.attn_q.weight", "4 4 2 021"},
                                                          {"blk.1.attn_k.weight", "2 4 2 021"}}));
}

TEST_F(Import, ModelElsewhereIsNamedByItsFileName) {
  std::string model = folder.makeFolder("models") + "/m.gguf";
  folder.write("models/m.gguf", TinyLlama().finish());
  folder.makeFolder("out");
  ImportResult beneath = cantFail(importModel(model, folder.path("m.twg")));
  EXPECT_EQ(graph::GetGraph(beneath.bytes.data())->weights()->Get(0)->file()->str(), "models/m.gguf");
  EXPECT_TRUE(beneath.notes.empty());
  ImportResult elsewhere = cantFail(importModel(model, folder.path("out/m.twg")));
  EXPECT_EQ(graph::GetGraph(elsewhere.bytes.data())->weights()->Get(0)->file()->str(), "m.gguf");
  EXPECT_EQ(elsewhere.notes,
            std::vector<std::string>{"the model is not beneath the graph's folder '" + folder.path("out") +
                                     "': give later steps --weights-dir '" + folder.path("models") +
                                     "', or write the graph beside the model"});
  Expected<GraphFile> without = GraphFile::loadBytes(bufferOf(elsewhere.bytes), folder.path("out/m.twg"));
  EXPECT_EQ(toString(without.takeError()), folder.path("out/m.twg") + ": weights file 'm.gguf' not found beneath '" +
                                               folder.path("out") +
                                               "'; put it there or give its folder with --weights-dir");
  Expected<GraphFile> with =
      GraphFile::loadBytes(bufferOf(elsewhere.bytes), folder.path("out/m.twg"), {folder.path("models"), true});
  EXPECT_TRUE(bool(with)) << toString(with.takeError());
}

TEST_F(Import, EveryByteOfTheHeadChanged) {
  const std::vector<uint8_t> bytes = TinyLlama().finish();
  // Up to the tensors' bytes; those may be anything.
  size_t head = bytes.size();
  {
    std::string path = folder.write("m.gguf", bytes);
    ImportResult result = cantFail(importModel(path, folder.path("m.twg")));
    for (const graph::Weight *weight : *graph::GetGraph(result.bytes.data())->weights())
      head = std::min<size_t>(head, weight->offset());
  }
  size_t refused = 0;
  for (size_t at = 0; at < head; ++at) {
    std::vector<uint8_t> changed = bytes;
    changed[at] ^= 1 << (at % 8);
    Expected<ImportResult> result = importModel(folder.write("m.gguf", changed), folder.path("m.twg"));
    if (result) {
      Expected<GraphFile> file = GraphFile::loadBytes(bufferOf(result->bytes), folder.path("m.twg"));
      EXPECT_TRUE(bool(file)) << "byte " << at << ": " << toString(file.takeError());
    } else {
      ++refused;
      EXPECT_FALSE(toString(result.takeError()).empty());
    }
  }
  EXPECT_GT(refused, head / 2);
}

} // namespace
