// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One forward pass over a padded batch: input_ids [B, T] (attention_mask [B, T], position_ids [B, T]) -> logits [B, T,
// V] and [B, T, ...] of each of the model's outputs. Tokens whose mask is 0 are left out: nothing sees them, and what
// they give is zeros.
#include "tools/safetensors/Safetensors.h"
#include "tools/tilewright/Model.h"

#include <nlohmann/json.hpp>

#include <cstring>

namespace tilewright::cli {
namespace {

struct RunOptions {
  ModelOptions model;
  std::string inputs;
  std::string outputs;
};

/// A tensor of whole numbers as int64.
std::vector<int64_t> integers(const NamedTensor &tensor, const std::string &name) {
  std::vector<int64_t> values(static_cast<size_t>(tensor.elements()));
  for (size_t i = 0; i < values.size(); ++i) {
    if (tensor.dtype == "I64") {
      std::memcpy(&values[i], &tensor.bytes[i * 8], 8);
    } else if (tensor.dtype == "I32") {
      int32_t value;
      std::memcpy(&value, &tensor.bytes[i * 4], 4);
      values[i] = value;
    } else if (tensor.dtype == "BOOL" || tensor.dtype == "U8") {
      values[i] = tensor.bytes[i];
    } else {
      throw Failure(BadInput, "input '" + name + "' has dtype " + tensor.dtype + "; wanted I64, I32, U8 or BOOL");
    }
  }
  return values;
}

void runRun(const RunOptions &options) {
  TensorMap inputs = readSafetensors(options.inputs).tensors;
  for (const auto &[name, tensor] : inputs)
    if (name != "input_ids" && name != "attention_mask" && name != "position_ids")
      throw Failure(BadInput,
                    options.inputs + ": unknown input '" + name + "'; wanted input_ids, attention_mask, position_ids");
  auto ids = inputs.find("input_ids");
  if (ids == inputs.end())
    throw Failure(BadInput, options.inputs + ": no input 'input_ids'");
  if (ids->second.shape.size() != 2)
    throw Failure(BadInput, options.inputs + ": input_ids has rank " + std::to_string(ids->second.shape.size()) +
                                "; wanted [B, T]");
  const int64_t batch = ids->second.shape[0], length = ids->second.shape[1];
  auto optional = [&](const std::string &name) {
    auto it = inputs.find(name);
    if (it == inputs.end())
      return std::vector<int64_t>();
    if (it->second.shape != ids->second.shape)
      throw Failure(BadInput, options.inputs + ": " + name + " has another shape than input_ids");
    return integers(it->second, name);
  };
  std::vector<int64_t> tokens = integers(ids->second, "input_ids");
  std::vector<int64_t> mask = optional("attention_mask"), positions = optional("position_ids");

  ModelPointer model = loadModel(options.model);
  const int64_t vocab = tw_model_vocab_size(model.get());
  const auto description = nlohmann::json::parse(tw_model_describe(model.get()));
  const auto context = description["model_context"].get<int64_t>();
  auto at = [](const char *name, int64_t b, int64_t t) {
    return std::string(name) + "[" + std::to_string(b) + ", " + std::to_string(t) + "]";
  };
  std::vector<std::pair<std::string, NamedTensor>> results = {{"logits", {"F32", {batch, length, vocab}, {}}}};
  for (const auto &output : description["outputs"]) {
    NamedTensor &tensor = results.emplace_back(output["name"].get<std::string>(), NamedTensor()).second;
    tensor = {"F32", {batch, length}, {}};
    for (const auto &extent : output["shape"])
      tensor.shape.push_back(extent.get<int64_t>());
  }
  for (auto &[name, tensor] : results)
    tensor.bytes.resize(static_cast<size_t>(tensor.elements()) * sizeof(float)); // pads stay zero
  SessionPointer session = newSession(model.get());
  for (int64_t b = 0; b < batch; ++b) {
    std::vector<int32_t> row, rowPositions;
    std::vector<int64_t> places;
    for (int64_t t = 0; t < length; ++t) {
      const size_t index = static_cast<size_t>(b * length + t);
      if (!mask.empty() && mask[index] == 0)
        continue;
      if (tokens[index] < 0 || tokens[index] >= vocab)
        throw Failure(BadInput, options.inputs + ": " + at("input_ids", b, t) + " is " + std::to_string(tokens[index]) +
                                    "; the vocabulary has " + std::to_string(vocab) + " tokens");
      row.push_back(static_cast<int32_t>(tokens[index]));
      places.push_back(t);
      if (positions.empty())
        continue;
      if (positions[index] < 0 || positions[index] >= context)
        throw Failure(BadInput, options.inputs + ": " + at("position_ids", b, t) + " is " +
                                    std::to_string(positions[index]) + "; the model has positions 0 to " +
                                    std::to_string(context - 1));
      rowPositions.push_back(static_cast<int32_t>(positions[index]));
    }
    if (row.empty())
      continue;
    check(tw_session_truncate(session.get(), 0), "");
    const std::vector<std::vector<float>> made = stepAllRows(model.get(), session.get(), row, rowPositions);
    for (size_t r = 0; r < results.size(); ++r) {
      const size_t numbers = made[r].size() / places.size(), bytes = numbers * sizeof(float);
      for (size_t i = 0; i < places.size(); ++i)
        std::memcpy(results[r].second.bytes.data() + static_cast<size_t>(b * length + places[i]) * bytes,
                    made[r].data() + i * numbers, bytes);
    }
  }
  writeSafetensors(options.outputs, {std::make_move_iterator(results.begin()), std::make_move_iterator(results.end())});
}

} // namespace

void addRun(CLI::App &app) {
  auto options = std::make_shared<RunOptions>();
  CLI::App *command = app.add_subcommand("run", "One forward pass from and to safetensors files");
  addModelOptions(*command, options->model);
  command
      ->add_option("--inputs", options->inputs,
                   "Safetensors file with input_ids [B,T], and attention_mask [B,T], position_ids [B,T] if wanted")
      ->required();
  command
      ->add_option("--outputs", options->outputs,
                   "Safetensors file to write: logits [B,T,V] and the model's outputs [B,T,...], zero at pads")
      ->required();
  command->footer("Example:\n  tilewright run smollm2/ --inputs in.safetensors --outputs out.safetensors");
  command->callback([options] { runRun(*options); });
}

} // namespace tilewright::cli
