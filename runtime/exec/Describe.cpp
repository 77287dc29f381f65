// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/exec/Describe.h"

#include "runtime/exec/Model.h"

#include <nlohmann/json.hpp>

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

std::string textOf(const flatbuffers::String *text) { return text ? text->str() : ""; }

Json sizeOf(const artifact::LinearSize *size) {
  if (!size)
    return nullptr;
  return {{"per_row", size->per_row()}, {"per_logit_row", size->per_logit_row()}, {"constant", size->constant()}};
}

Json stepsOf(const Artifact &artifact) {
  Json steps = Json::array();
  for (const auto *step : artifact.variants())
    steps.push_back({{"symbol", step->symbol()->str()},
                     {"min_rows", step->min_rows()},
                     {"max_rows", step->max_rows()},
                     {"row_multiple", step->row_multiple()},
                     {"query_tile", step->query_tile()},
                     {"arena", sizeOf(step->arena())},
                     {"arena_lower_bound", sizeOf(step->arena_lower_bound())},
                     {"arena_without_reuse", sizeOf(step->arena_without_reuse())}});
  return steps;
}

Json kernelsOf(const artifact::Level &level) {
  Json kernels = Json::array();
  for (uint32_t i = 0; level.kernels() && i < level.kernels()->size(); ++i) {
    const auto *kernel = level.kernels()->Get(i);
    Json tile = Json::array();
    for (uint32_t k = 0; kernel->tile() && k < kernel->tile()->size(); ++k)
      tile.push_back(kernel->tile()->Get(k));
    kernels.push_back({{"name", kernel->name()->str()},
                       {"variant", textOf(kernel->variant())},
                       {"kv_element", textOf(kernel->kv_element())},
                       {"description", textOf(kernel->description())},
                       {"instruction", textOf(kernel->instruction())},
                       {"tile", tile},
                       {"layout", textOf(kernel->layout())},
                       {"fallback", kernel->fallback()},
                       {"contract", textOf(kernel->contract())}});
  }
  return kernels;
}

Json levelsOf(const Manifest &manifest) {
  Json levels = Json::array();
  for (const auto *level : *manifest->levels()) {
    Json features = Json::array();
    bool available = true;
    for (const auto *feature : *level->features()) {
      features.push_back(feature->str());
      available &= CpuFeatures::host().has(feature->str());
    }
    levels.push_back({{"name", level->name()->str()}, {"features", features}, {"available", available}});
  }
  return levels;
}

Json statesOf(const Manifest &manifest) {
  Json states = Json::array();
  for (uint32_t i = 0; manifest->states() && i < manifest->states()->size(); ++i) {
    const auto *state = manifest->states()->Get(i);
    Json buffers = Json::array();
    for (const auto *buffer : *state->buffers())
      buffers.push_back({{"heads", buffer->heads()}, {"dim", buffer->dim()}, {"transposed", buffer->transposed()}});
    Json described = {{"name", state->name()->str()}, {"buffers", buffers}};
    if (state->group())
      described["group"] = state->group()->str();
    if (state->window())
      described["window"] = state->window();
    states.push_back(described);
  }
  return states;
}

Json inputsOf(const Model &model) {
  Json inputs = Json::array();
  for (const ModelInput &input : model.inputs())
    inputs.push_back({{"name", input.name}, {"limit", input.limit}});
  return inputs;
}

const char *kindName(tw_model_kind kind) {
  switch (kind) {
  case TW_MODEL_DECODER:
    break;
  case TW_MODEL_ENCODER:
    return "encoder";
  case TW_MODEL_ENCODER_DECODER:
    return "encoder-decoder";
  }
  return "decoder";
}

Json outputsOf(const Manifest &manifest) {
  Json outputs = Json::array();
  for (const auto *output : manifestOutputs(*manifest)) {
    Json shape = Json::array();
    for (uint32_t i = 0; output->shape() && i < output->shape()->size(); ++i)
      shape.push_back(output->shape()->Get(i));
    outputs.push_back({{"name", output->name()->str()}, {"shape", shape}});
  }
  return outputs;
}

/// Elements of all matrices but those with a row per word of the vocabulary: each is multiplied once for every token.
uint64_t layerParameters(const Manifest &manifest) {
  uint64_t sum = 0;
  for (uint32_t i = 0; manifest->weights() && i < manifest->weights()->size(); ++i) {
    const auto *shape = manifest->weights()->Get(i)->shape();
    if (shape && shape->size() == 2 && shape->Get(0) != manifest->vocab_size())
      sum += static_cast<uint64_t>(shape->Get(0)) * static_cast<uint64_t>(shape->Get(1));
  }
  return sum;
}

} // namespace

std::string describeModel(const Model &model) {
  const Manifest &manifest = model.loaded().manifest();
  Json plugins = Json::array();
  for (uint32_t i = 0; manifest->plugins() && i < manifest->plugins()->size(); ++i) {
    const auto *plugin = manifest->plugins()->Get(i);
    plugins.push_back({{"name", plugin->name()->str()},
                       {"version", plugin->version()->str()},
                       {"runtime_half", plugin->runtime_half()}});
  }
  Json tokenizer = nullptr;
  if (const auto *t = manifest->tokenizer())
    tokenizer = {{"kind", t->kind()->str()}, {"pre", textOf(t->pre())}, {"tokens", t->tokens()->size()}};
  uint64_t pageBytes = 0;
  for (const StateWindow &window : model.windows())
    pageBytes += window.pages->pageBytes();
  const Json json = {{"folder", model.loaded().folder()},
                     {"producer", textOf(manifest->producer())},
                     {"model", textOf(manifest->model_name())},
                     {"kind", kindName(model.kind())},
                     {"logits", model.hasLogits()},
                     {"inputs", inputsOf(model)},
                     {"numerics", manifest->numerics()->str()},
                     {"kv_element", model.loaded().kvElement()},
                     {"context", model.context()},
                     {"model_context", manifest->context_length()},
                     {"vocabulary", manifest->vocab_size()},
                     {"threads", model.threads()},
                     {"level", model.loaded().level().name()->str()},
                     {"levels", levelsOf(manifest)},
                     {"steps", stepsOf(model.loaded())},
                     {"kernels", kernelsOf(model.loaded().level())},
                     {"states", statesOf(manifest)},
                     {"outputs", outputsOf(manifest)},
                     {"weights",
                      {{"count", manifest->weights() ? manifest->weights()->size() : 0},
                       {"bytes", model.loaded().weightBytes()},
                       {"layer_parameters", layerParameters(manifest)},
                       {"file", manifest->weights_file()->str()}}},
                     {"page_bytes", pageBytes},
                     {"plugins", plugins},
                     {"tokenizer", tokenizer}};
  // Names come from a file and may be no valid UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

} // namespace tilewright
