// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models of config.json and safetensors files. Every field of a golden model's config, changed, changes the graph or is
// refused, unless its family says that it has no influence.
#include "frontend/graph/GraphFile.h"
#include "frontend/import/Family.h"
#include "frontend/import/ImportModel.h"
#include "frontend/import/safetensors/SafetensorsFile.h"
#include "tests/unit/support/TestFolder.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"

#include <gtest/gtest.h>

#include <map>

using namespace llvm;
using namespace tilewright;
using namespace tilewright::test;

namespace {

const std::string models = std::string(TILEWRIGHT_TEST_DATA) + "/golden/models/";

/// A golden model in a folder of its own, whose config can be changed.
class Copy {
public:
  explicit Copy(StringRef model) {
    for (const char *file : {"config.json", "model.safetensors"})
      folder.write(file, readBytes(models + model.str() + "/" + file));
    std::vector<uint8_t> text = readBytes(folder.path("config.json"));
    config = *cantFail(json::parse(toStringRef(text))).getAsObject();
  }

  Expected<ImportResult> import(const json::Object &changed) const {
    std::string text;
    raw_string_ostream(text) << json::Value(json::Object(changed));
    folder.write("config.json", arrayRefFromStringRef(text));
    return importModel(folder.path(), folder.path("m.twg"));
  }

  /// "accepted", or the error without the folder's name.
  std::string verdict(const json::Object &changed) const {
    Expected<ImportResult> result = import(changed);
    if (result)
      return "accepted";
    std::string message = toString(result.takeError());
    StringRef shown = message;
    shown.consume_front(folder.path());
    shown.consume_front("/");
    return shown.str();
  }
  std::string with(StringRef key, json::Value value) const {
    json::Object changed = config;
    changed[key] = std::move(value);
    return verdict(changed);
  }

  Family family() const {
    FamilyLibrary library = cantFail(FamilyLibrary::load());
    return cantFail(
        library.find(SourceKind::Config, *config.getString("model_type"), "", [](StringRef) { return false; }));
  }

  TestFolder folder;
  json::Object config;
};

json::Value changedValue(const json::Value &value) {
  if (std::optional<bool> flag = value.getAsBoolean())
    return !*flag;
  if (std::optional<int64_t> integer = value.getAsInteger())
    return *integer + 1;
  if (std::optional<double> real = value.getAsNumber())
    return *real * 1.5 + 0.25;
  if (std::optional<StringRef> text = value.getAsString())
    return (*text + "x").str();
  if (const json::Array *array = value.getAsArray()) {
    json::Array other = *array;
    if (other.empty())
      return json::Array{1};
    other.back() = changedValue(other.back());
    return other;
  }
  return 7;
}

/// Calls `visit` with each entry's key and a config in which that one is changed.
void changeEach(const json::Object &config, function_ref<void(StringRef, const json::Object &)> visit) {
  for (const auto &[key, value] : config) {
    json::Object changed = config;
    if (const json::Object *nested = value.getAsObject()) {
      changeEach(*nested, [&, &key = key](StringRef inner, const json::Object &entry) {
        changed[key] = json::Object(entry);
        visit((StringRef(key) + "." + inner).str(), changed);
      });
      continue;
    }
    changed[key] = changedValue(value);
    visit(StringRef(key), changed);
  }
}

/// Fields that matter only beside others, and those others.
struct Beside {
  const char *model, *field, *others;
};
constexpr const char *windowed =
    R"({"use_sliding_window": true, "sliding_window": 4, "layer_types": null, "max_window_layers": 0})";
constexpr const char *someWindowed =
    R"({"use_sliding_window": true, "sliding_window": 4,
        "layer_types": ["full_attention", "sliding_attention", "full_attention"]})";
constexpr const char *oneWindowed =
    R"({"use_sliding_window": true, "sliding_window": 4,
        "layer_types": ["full_attention", "sliding_attention", "full_attention", "full_attention"]})";
constexpr const char *everySecond = R"({"no_rope_layers": null, "no_rope_layer_interval": 2})";
constexpr const char *stretched =
    R"({"rope_parameters": {"rope_type": "longrope", "rope_theta": 10000.0, "short_factor": [1, 1, 1, 1, 1, 1],
        "long_factor": [2, 2, 2, 2, 2, 2], "partial_rotary_factor": 1.0}})";
constexpr Beside besides[] = {
    {"qwen3_moe", "sliding_window", R"({"use_sliding_window": true, "sliding_window": 4})"},
    {"qwen3_moe", "use_sliding_window", R"({"sliding_window": 4})"},
    {"qwen2_moe", "max_window_layers", windowed},
    {"qwen2_moe", "sliding_window", windowed},
    {"qwen2_moe", "use_sliding_window", windowed},
    {"qwen2_moe", "decoder_sparse_step", R"({"mlp_only_layers": [], "decoder_sparse_step": 2})"},
    {"smollm3", "no_rope_layer_interval", everySecond},
    {"smollm3", "sliding_window", someWindowed},
    {"smollm3", "use_sliding_window", someWindowed},
    {"smollm3_every_fourth", "no_rope_layer_interval", everySecond},
    {"smollm3_every_fourth", "sliding_window", oneWindowed},
    {"smollm3_every_fourth", "use_sliding_window", oneWindowed},
    {"gemma3_text", "_sliding_window_pattern", R"({"layer_types": null, "_sliding_window_pattern": 2})"},
    {"phi3", "original_max_position_embeddings", stretched},
    {"qwen2", "max_window_layers", windowed},
    {"qwen2", "sliding_window", windowed},
    {"qwen2", "use_sliding_window", windowed},
    {"qwen3", "max_window_layers", windowed},
    {"qwen3", "sliding_window", windowed},
    {"qwen3", "use_sliding_window", windowed},
};

json::Object othersBeside(StringRef model, StringRef field) {
  for (const Beside &beside : besides)
    if (model == beside.model && field == beside.field)
      return *cantFail(json::parse(beside.others)).getAsObject();
  return {};
}

class GoldenConfig : public testing::TestWithParam<std::string> {};

TEST_P(GoldenConfig, EveryFieldCounts) {
  Copy copy(GetParam());
  Expected<ImportResult> plain = copy.import(copy.config);
  ASSERT_TRUE(bool(plain)) << toString(plain.takeError());
  const std::vector<std::string> ignored = copy.family().models.config.ignored;
  size_t counted = 0;
  changeEach(copy.config, [&](StringRef key, const json::Object &changed) {
    const StringRef whole = key.split('.').first; // what is ignored is so with all below it
    if ((is_contained(ignored, key) || is_contained(ignored, whole)) && key != "model_type" && key != "architectures")
      return;
    ++counted;
    json::Object before = copy.config, after = changed;
    for (const auto &[name, value] : othersBeside(GetParam(), key)) {
      before[name] = value;
      after[name] = StringRef(name) == key ? changedValue(value) : value;
    }
    Expected<ImportResult> first = copy.import(before);
    Expected<ImportResult> second = copy.import(after);
    ASSERT_TRUE(bool(first)) << toString(first.takeError());
    if (second)
      EXPECT_NE(first->bytes, second->bytes) << key.str() << " has no influence";
    else
      EXPECT_FALSE(toString(second.takeError()).empty());
  });
  EXPECT_GT(counted, 8u);
}

TEST_P(GoldenConfig, LoadsBackWithItsWeights) {
  std::string folder = models + GetParam(), output = folder + "/model.twg"; // only named, never written
  Expected<ImportResult> imported = importModel(folder, output);
  ASSERT_TRUE(bool(imported)) << toString(imported.takeError());
  Expected<GraphFile> loaded = GraphFile::loadBytes(bufferOf(imported->bytes), output);
  ASSERT_TRUE(bool(loaded)) << toString(loaded.takeError());
  GraphFile &file = *loaded;
  ASSERT_NE(file.graph().weights(), nullptr);
  for (uint32_t i = 0; i < file.graph().weights()->size(); ++i) {
    Error error = file.weights().checkHash(file.graph(), i);
    EXPECT_FALSE(bool(error)) << toString(std::move(error));
  }
}

/// As the model without its head is saved: the same graph, but for names.
TEST_P(GoldenConfig, NamesWithoutTheBasesPrefix) {
  Copy copy(GetParam());
  const std::string prefix = copy.family().models.config.basePrefix;
  std::vector<uint8_t> file = readBytes(copy.folder.path("model.safetensors"));
  const uint64_t length = support::endian::read64le(file.data());
  std::string header(file.begin() + 8, file.begin() + 8 + length);
  if (prefix.empty()) { // the base's parts have their own names with the head as well
    for (StringRef part : {"\"shared.", "\"encoder.", "\"decoder."})
      EXPECT_TRUE(StringRef(header).contains(part)) << part.str();
    return;
  }
  size_t found = 0;
  for (size_t at; (at = header.find("\"" + prefix)) != std::string::npos; ++found)
    header.erase(at + 1, prefix.size());
  header.resize(length, ' ');
  std::copy(header.begin(), header.end(), file.begin() + 8);
  const ImportResult before = cantFail(copy.import(copy.config));
  copy.folder.write("model.safetensors", file);
  Expected<ImportResult> after = copy.import(copy.config);
  ASSERT_TRUE(bool(after)) << toString(after.takeError());
  EXPECT_GT(found, 0u);
  auto hashes = [](const ImportResult &result) {
    std::vector<uint64_t> hashes;
    for (const graph::Weight *weight : *graph::GetGraph(result.bytes.data())->weights())
      hashes.push_back(weight->hash());
    return hashes;
  };
  EXPECT_EQ(hashes(before), hashes(*after));
}

std::vector<std::string> goldenModels() {
  std::vector<std::string> names;
  std::error_code code;
  for (sys::fs::directory_iterator it(models, code), end; it != end && !code; it.increment(code))
    names.push_back(sys::path::filename(it->path()).str());
  llvm::sort(names);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Models, GoldenConfig, testing::ValuesIn(goldenModels()),
                         [](const testing::TestParamInfo<std::string> &info) { return info.param; });

TEST(ConfigImport, FieldsThatAreNotKnown) {
  Copy copy("llama");
  EXPECT_EQ(copy.with("shiny", 1),
            "config.json: field 'shiny': not known to family 'llama', and may change the result");
  json::Object two = copy.config;
  two["quantization_config"] = json::Object{{"bits", 4}};
  two["more"] = nullptr;
  EXPECT_EQ(copy.verdict(two),
            "config.json: fields 'more', 'quantization_config.bits': not known to family 'llama', and may "
            "change the result");
  EXPECT_EQ(copy.with("hidden_act", "gelu_sharp"),
            "config.json: field 'hidden_act': found 'gelu_sharp', wanted \"silu\" or \"swish\" or \"gelu\" or "
            "\"gelu_new\" or "
            "\"gelu_pytorch_tanh\" or \"gelu_fast\" or \"relu\": anything else is not supported by this family");
  EXPECT_EQ(copy.with("num_key_value_heads", 4),
            "config.json: num_attention_heads: found 6, wanted a multiple of num_key_value_heads = 4");
}

TEST(ConfigImport, OutputsThatAreAskedFor) {
  auto outputs = [](StringRef model, std::vector<std::string> asked) -> std::string {
    Expected<ImportResult> result = importModel(models + model.str(), models + model.str() + "/m.twg", asked);
    if (!result) {
      std::string message = toString(result.takeError());
      return message.substr(message.find(": ") + 2);
    }
    const graph::Graph *graph = graph::GetGraph(result->bytes.data());
    std::vector<std::string> names;
    for (const graph::Function *function : *graph->functions())
      if (function->name()->str() == graph->entry()->str())
        for (const flatbuffers::String *result : *function->result_names())
          if (StringRef name = result->string_view(); !name.starts_with("cache"))
            names.push_back(name.str());
    return join(names, " ");
  };
  EXPECT_EQ(outputs("qwen3", {}), "logits");
  EXPECT_EQ(outputs("qwen3", {"hidden"}), "logits hidden");
  EXPECT_EQ(outputs("qwen3", {"hidden_states", "hidden"}), "logits hidden hidden_states.0 hidden_states.1");
  EXPECT_EQ(outputs("bert", {"hidden_states"}), "logits hidden hidden_states.0 hidden_states.1");
  EXPECT_EQ(outputs("t5", {"hidden"}), "logits hidden");
  EXPECT_EQ(outputs("t5", {"hidden_states"}),
            "found the output 'hidden_states' asked for, wanted 'encoder' or 'hidden'");
  EXPECT_EQ(outputs("t5", {"encoder"}), "hidden");
  EXPECT_EQ(outputs("bart", {"encoder"}), "hidden");
  EXPECT_EQ(outputs("qwen3", {"encoder"}), "found the output 'encoder' asked for, wanted 'hidden' or 'hidden_states'");
  EXPECT_EQ(outputs("qwen3", {"hiden"}), "found the output 'hiden' asked for, wanted 'hidden' or 'hidden_states'");
}

TEST(ConfigImport, FamiliesAndArchitectures) {
  Copy copy("llama");
  EXPECT_EQ(copy.with("model_type", "lama"),
            "config.json: field 'model_type': unknown model type 'lama', nearest known: 'llama'");
  EXPECT_EQ(copy.with("architectures", json::Array{"LlamaForSequenceClassification"}),
            "config.json: field 'architectures': found 'LlamaForSequenceClassification', wanted 'LlamaForCausalLM'");
  json::Object none = copy.config;
  none.erase("model_type");
  EXPECT_EQ(copy.verdict(none), "config.json: field 'model_type': not found, wanted a string");
}

TEST(ConfigImport, EncodersOfEncoderDecoders) {
  Copy copy("t5");
  EXPECT_EQ(copy.with("architectures", json::Array{"T5EncoderModel"}), "accepted");
  json::Object encoder = copy.config;
  encoder["architectures"] = json::Array{"T5EncoderModel"};
  encoder["is_encoder_decoder"] = false;
  EXPECT_EQ(copy.verdict(encoder), "accepted");
  EXPECT_EQ(copy.with("is_encoder_decoder", false), "config.json: is_encoder_decoder: found false, wanted true");
}

TEST(ConfigImport, BothFormsOfRopeSettings) {
  Copy copy("llama_rope_llama3");
  std::vector<uint8_t> plain = cantFail(copy.import(copy.config)).bytes;
  json::Object older = copy.config;
  json::Object settings = *older.getObject("rope_parameters");
  older.erase("rope_parameters");
  older["rope_theta"] = *settings.get("rope_theta");
  settings.erase("rope_theta");
  older["rope_scaling"] = json::Object(settings);
  EXPECT_EQ(cantFail(copy.import(older)).bytes, plain);
  settings["type"] = *settings.get("rope_type");
  settings.erase("rope_type");
  older["rope_scaling"] = json::Object(settings);
  EXPECT_EQ(cantFail(copy.import(older)).bytes, plain);
  settings["rope_type"] = "yarn";
  older["rope_scaling"] = json::Object(settings);
  EXPECT_EQ(copy.verdict(older), "config.json: field 'rope_scaling.type': found 'llama3', but 'rope_scaling.rope_type' "
                                 "is 'yarn'; wanted one value");
  older["rope_scaling"] = nullptr;
  EXPECT_EQ(copy.verdict(older), "accepted");
}

/// The verdict on a model with one of the settings of its rotary positions changed, or, with null, left out.
std::string withRotary(const Copy &copy, StringRef key, json::Value value) {
  json::Object changed = copy.config, settings = *copy.config.getObject("rope_parameters");
  if (value.kind() == json::Value::Null)
    settings.erase(key);
  else
    settings[key] = std::move(value);
  changed["rope_parameters"] = std::move(settings);
  std::string verdict = copy.verdict(changed);
  StringRef shown = verdict;
  shown.consume_front("config.json: ");
  return shown.str();
}

// Families have defaults of their own, and what does not turn whole pairs is refused.
TEST(ConfigImport, PartsOfHeadsThatAreRotated) {
  const std::string wanted = ", wanted an even number of at most 10, because rotary positions turn pairs";
  Copy phi("phi"); // heads of 10, of which it says 0.4
  EXPECT_EQ(withRotary(phi, "partial_rotary_factor", 0.4), "accepted");
  EXPECT_EQ(withRotary(phi, "partial_rotary_factor", 0.25), "accepted"); // 2.5, hence 2
  EXPECT_EQ(
      withRotary(phi, "partial_rotary_factor", 0.3),
      "floor(hidden_size / num_attention_heads * rope_parameters.partial_rotary_factor): found 3 rotary dimensions of "
      "10" +
          wanted);
  EXPECT_EQ(
      withRotary(phi, "partial_rotary_factor", nullptr),
      "floor(hidden_size / num_attention_heads * rope_parameters.partial_rotary_factor): found 5 rotary dimensions of "
      "10" +
          wanted);
  EXPECT_EQ(withRotary(phi, "partial_rotary_factor", 1.2),
            "field 'rope_parameters.partial_rotary_factor': found 1.2, wanted at most 1");
  Copy neox("gpt_neox"); // says 0.25, which is its family's default
  json::Object without = neox.config, settings = *neox.config.getObject("rope_parameters");
  settings.erase("partial_rotary_factor");
  without["rope_parameters"] = std::move(settings);
  EXPECT_EQ(cantFail(neox.import(without)).bytes, cantFail(neox.import(neox.config)).bytes);
  Copy llama("llama_rope_linear"); // of a family that rotates whole heads
  EXPECT_EQ(
      withRotary(llama, "partial_rotary_factor", 0.5),
      "field 'rope_parameters.partial_rotary_factor': found 0.5, wanted 1: anything else is not supported by this "
      "family");
}

TEST(ConfigImport, SettingsOfRotaryPositionsThatCannotBe) {
  Copy llama3("llama_rope_llama3");
  EXPECT_EQ(
      withRotary(llama3, "rope_type", "su"),
      "field 'rope_parameters.rope_type': found 'su', wanted \"default\" or \"linear\" or \"dynamic\" or \"yarn\" "
      "or \"longrope\" or \"llama3\": anything else is not supported by this family");
  EXPECT_EQ(withRotary(llama3, "factor", 0.5),
            "rope_parameters.factor: found 0.5, wanted at least 1 for rope type 'llama3'");
  EXPECT_EQ(withRotary(llama3, "factor", nullptr),
            "rope_parameters.factor: found 0, wanted at least 1 for rope type 'llama3'");
  const std::string order = " and rope_parameters.high_freq_factor 4, wanted 0 < low < high";
  EXPECT_EQ(withRotary(llama3, "low_freq_factor", 4.0), "rope_parameters.low_freq_factor: found 4" + order);
  EXPECT_EQ(withRotary(llama3, "low_freq_factor", nullptr), "rope_parameters.low_freq_factor: found 0" + order);
  EXPECT_EQ(withRotary(llama3, "attention_factor", 1.5),
            "field 'rope_parameters.attention_factor': found 1.5, wanted none: it is read where "
            "rope_parameters.rope_type is 'yarn' or 'longrope', and that is 'llama3'");
  EXPECT_EQ(withRotary(Copy("llama_rope_yarn"), "beta_fast", 0.5),
            "rope_parameters.beta_slow: found 1 and rope_parameters.beta_fast 0.5, wanted 0 < slow < fast");
  Copy longrope("phi3_longrope_short");
  EXPECT_EQ(withRotary(longrope, "short_factor", json::Array{1.0, 2.0}),
            "rope_parameters.short_factor: found [1, 2] and rope_parameters.long_factor [1, 1.3, 1.9, 2.8, 3.6, 4], "
            "wanted one number for each of the 12 / 2 pairs");
  EXPECT_EQ(withRotary(longrope, "long_factor", nullptr),
            "rope_parameters.short_factor: found [1, 1.05, 1.1, 1.2, 1.35, 1.5] and rope_parameters.long_factor [], "
            "wanted one number for each of the 12 / 2 pairs");
}

// Settings that the type of rotary positions does not read, by the form in which they stand: none is left out unseen.
TEST(ConfigImport, SettingsOfOtherRotaryPositions) {
  Copy copy("llama");
  auto verdict = [&](const char *settings) {
    json::Object changed = copy.config;
    changed.erase("rope_parameters");
    changed["rope_scaling"] = cantFail(json::parse(settings));
    std::string verdict = copy.verdict(changed);
    StringRef shown = verdict;
    shown.consume_front("config.json: field ");
    shown.consume_front("config.json: ");
    return shown.str();
  };
  const std::string any = "'linear' or 'dynamic' or 'yarn' or 'longrope' or 'llama3', and that is ";
  auto unread = [](StringRef key, StringRef found, const Twine &kinds) {
    return ("'rope_scaling." + key + "': found " + found +
            ", wanted none: it is read where rope_scaling.rope_type is " + kinds)
        .str();
  };
  EXPECT_EQ(verdict(R"({"factor": 8, "original_max_position_embeddings": 32})"),
            unread("factor", "8", any + "'default'"));
  EXPECT_EQ(verdict(R"({"rope_type": "default", "factor": 8})"), unread("factor", "8", any + "'default'"));
  EXPECT_EQ(
      verdict(R"({"original_max_position_embeddings": 32})"),
      "rope_scaling.original_max_position_embeddings: found 32, wanted none: it is read where rope_scaling.rope_type "
      "is 'yarn' or 'longrope' or 'llama3', and that is 'default'");
  const std::string linear = R"({"rope_type": "linear", "factor": 2, )";
  for (auto [key, value, found, kinds] : {std::tuple("beta_fast", "4", "4", "'yarn'"),
                                          {"beta_slow", "2", "2", "'yarn'"},
                                          {"mscale", "0.5", "0.5", "'yarn'"},
                                          {"mscale_all_dim", "1", "1", "'yarn'"},
                                          {"truncate", "false", "false", "'yarn'"},
                                          {"low_freq_factor", "1", "1", "'llama3'"},
                                          {"high_freq_factor", "4", "4", "'llama3'"},
                                          {"short_factor", "[1, 2]", "[1, 2]", "'longrope'"},
                                          {"long_factor", "[1, 2]", "[1, 2]", "'longrope'"},
                                          {"attention_factor", "1.5", "1.5", "'yarn' or 'longrope'"}})
    EXPECT_EQ(verdict((linear + "\"" + key + "\": " + value + "}").c_str()),
              unread(key, found, Twine(kinds) + ", and that is 'linear'"));
  EXPECT_EQ(verdict((R"({"rope_type": "llama3", "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4, )"
                     R"("original_max_position_embeddings": 32, "long_factor": [1]})")),
            unread("long_factor", "[1]", "'longrope', and that is 'llama3'"));
  // What has no influence may stand there, and null.
  EXPECT_EQ(verdict(R"({"rope_type": "default", "factor": 1.0, "low_freq_factor": null, "beta_fast": 32})"),
            "accepted");
  EXPECT_EQ(verdict((linear + R"("attention_factor": 1.0, "truncate": true, "mscale": null})").c_str()), "accepted");
  json::Object changed = copy.config;
  changed.erase("rope_parameters");
  changed["rope_scaling"] = json::Object{{"type", "linear"}};
  EXPECT_EQ(copy.verdict(changed),
            "config.json: rope_scaling.factor: found 0, wanted at least 1 for rope type 'linear'");
}

// Expressions of options take what requirements ask for.
TEST(ConfigImport, WindowsOnBothSidesAreEven) {
  EXPECT_EQ(Copy("modernbert").with("local_attention", 7),
            "config.json: local_attention: found 7, wanted an even number: a half of it on each side");
}

// A tokenizer of more tokens than the model has rows is told by the files in which the two numbers stand.
TEST(ConfigImport, TokenizersOfMoreTokensThanTheModel) {
  Copy copy("llama"); // of 199
  json::Object vocabulary;
  for (int i = 0; i < 200; ++i)
    vocabulary["t" + std::to_string(i)] = i;
  std::string text;
  raw_string_ostream(text) << json::Value(json::Object{
      {"version", "1.0"},
      {"model", json::Object{{"type", "BPE"}, {"vocab", std::move(vocabulary)}, {"merges", json::Array()}}}});
  copy.folder.write("tokenizer.json", arrayRefFromStringRef(text));
  EXPECT_EQ(copy.verdict(copy.config),
            "config.json: field 'vocab_size': found 199, wanted at least 200, the number of tokens in tokenizer.json");
}

// A model whose layers end before those that predict further tokens: these are left out, with a note.
TEST(ConfigImport, LayersThatPredictFurtherTokens) {
  Copy copy("deepseek_v3"); // of 3 layers, of which the last shall be such a one
  json::Object changed = copy.config;
  changed["num_hidden_layers"] = 2;
  const ImportResult result = cantFail(copy.import(changed));
  EXPECT_EQ(result.notes,
            std::vector<std::string>{"layer 2 predicts further tokens, and is left out: the texts are the "
                                     "same without it"});
  changed["num_nextn_predict_layers"] = 0;
  EXPECT_TRUE(StringRef(copy.verdict(changed))
                  .contains("'model.layers.2.input_layernorm.weight': found, but the family "
                            "has no place for it"));
  EXPECT_TRUE(cantFail(copy.import(copy.config)).notes.empty());
}

// An older word for the first token of a text, which counts where the newer is absent.
TEST(ConfigImport, FirstTokensThatAreForced) {
  Copy copy("bart");
  auto forced = [&](const json::Object &config) {
    return graph::GetGraph(cantFail(copy.import(config)).bytes.data())->generation()->forced_bos_id();
  };
  json::Object changed = copy.config;
  changed["forced_bos_token_id"] = nullptr;
  EXPECT_EQ(forced(changed), -1);
  changed["force_bos_token_to_be_generated"] = true;
  changed["bos_token_id"] = 3;
  EXPECT_EQ(forced(changed), 3);
  changed["forced_bos_token_id"] = 5;
  EXPECT_EQ(forced(changed), 5);
}

// What a field stands for, and what its absence does, is the family's to say.
TEST(ConfigImport, FamiliesReadFieldsInTheirOwnWay) {
  auto imported = [](const Copy &copy, StringRef key, std::optional<json::Value> value) {
    json::Object changed = copy.config;
    changed.erase(key);
    if (value)
      changed[key] = std::move(*value);
    return cantFail(copy.import(changed)).bytes;
  };
  for (auto [model, normalized] : {std::pair("qwen2_moe", false), {"qwen3_moe", false}, {"deepseek_v3", true}}) {
    Copy copy(model);
    const auto absent = imported(copy, "norm_topk_prob", std::nullopt);
    EXPECT_EQ(absent, imported(copy, "norm_topk_prob", normalized)) << model;
    EXPECT_NE(absent, imported(copy, "norm_topk_prob", !normalized)) << model;
  }
  Copy gemma("gemma"), gemma2("gemma2"); // the first was published with a name that it does not mean
  EXPECT_EQ(imported(gemma, "hidden_act", "gelu"), imported(gemma, "hidden_act", "gelu_pytorch_tanh"));
  EXPECT_NE(imported(gemma2, "hidden_activation", "gelu"), imported(gemma2, "hidden_activation", "gelu_pytorch_tanh"));
}

// Numbers that choose experts: by one that is NaN or infinite nothing would be chosen, or always the same.
TEST(ConfigImport, CorrectionsOfScoresAreFinite) {
  Copy copy("deepseek_v3");
  const std::vector<uint8_t> whole = readBytes(copy.folder.path("model.safetensors"));
  size_t corrections = 0;
  for (const safetensors::TensorEntry &entry : cantFail(safetensors::readHeader(whole, "m"))) {
    if (!StringRef(entry.name).ends_with("e_score_correction_bias"))
      continue;
    ++corrections;
    ASSERT_EQ(entry.dtype, "F32");
    for (uint32_t bits : {0x7fc00000u, 0x7f800000u, 0xff800000u, 0x7f800001u}) {
      std::vector<uint8_t> changed = whole;
      support::endian::write32le(changed.data() + entry.offset + 4, bits);
      copy.folder.write("model.safetensors", changed);
      EXPECT_EQ(copy.verdict(copy.config),
                ": tensor '" + entry.name + "': found NaN or infinity at place 1, wanted finite numbers");
    }
  }
  EXPECT_GT(corrections, 0u);
}

TEST(ConfigImport, TiedHeads) {
  Copy copy("llama"); // has a head of its own
  EXPECT_EQ(copy.with("tie_word_embeddings", true),
            ": tensor 'lm_head.weight': found, but 'model.embed_tokens.weight' stands in its place, and they differ");
  Copy tied("llama_rope_linear"); // has none
  EXPECT_EQ(tied.with("tie_word_embeddings", false),
            ": tensor 'lm_head.weight': missing, wanted shape [V = 199, E = 60]");
}

} // namespace
