// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One forward pass over a padded batch: input_ids [B, T] (attention_mask [B, T], position_ids [B, T], further inputs of
// the model) -> logits [B, T, V] or outputs [B, T, ...]. An encoder-decoder takes these for its source, and the same
// with the prefix decoder_. Tokens whose mask is 0 are left out: nothing sees them, and their results are zeros. Or
// texts to vectors.
#include "tools/files/OutputFile.h"
#include "tools/options/Options.h"
#include "tools/safetensors/Safetensors.h"
#include "tools/tilewright/Embed.h"
#include "tools/tilewright/Sequences.h"

#include <nlohmann/json.hpp>

#include <cstring>

namespace tilewright::cli {
namespace {

struct RunOptions {
  ModelOptions model;
  std::string inputs;
  std::string outputs;
  std::vector<std::string> results;
  EmbedOptions embed;
};

/// A tensor of whole numbers as int64.
std::vector<int64_t> integers(const NamedTensor &tensor, const std::string &file, const std::string &name) {
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
      throw Failure(BadInput, file + ": " + name + " has dtype " + tensor.dtype + "; wanted I64, I32, U8 or BOOL");
    }
  }
  return values;
}

/// Inputs [B, T] of one kind of token: ids, and what belongs to them.
class PaddedRows {
public:
  /// `idsName` must be there; `take` gives an input and strikes it off.
  PaddedRows(const std::string &file, TensorMap &inputs, const std::string &idsName, const std::string &maskName)
      : file(file), idsName(idsName) {
    auto found = inputs.find(idsName);
    if (found == inputs.end())
      throw Failure(BadInput, file + ": no input '" + idsName + "'");
    if (found->second.shape.size() != 2)
      throw Failure(BadInput, file + ": " + idsName + " has rank " + std::to_string(found->second.shape.size()) +
                                  "; wanted [B, T]");
    shape = found->second.shape;
    ids = take(inputs, idsName);
    mask = take(inputs, maskName);
  }

  int64_t batch() const { return shape[0]; }
  int64_t length() const { return shape[1]; }

  /// An input of the ids' shape; empty when it is not there.
  std::vector<int64_t> take(TensorMap &inputs, const std::string &name) const {
    auto found = inputs.find(name);
    if (found == inputs.end())
      return {};
    if (found->second.shape != shape)
      throw Failure(BadInput, file + ": " + name + " has another shape than " + idsName);
    std::vector<int64_t> values = integers(found->second, file, name);
    inputs.erase(found);
    return values;
  }

  /// The places of batch entry `b` whose mask is not 0.
  std::vector<int64_t> places(int64_t b) const {
    std::vector<int64_t> shown;
    for (int64_t t = 0; t < length(); ++t)
      if (mask.empty() || mask[static_cast<size_t>(b * length() + t)] != 0)
        shown.push_back(t);
    return shown;
  }

  /// The numbers of `values` at those places, each from 0 to `limit` - 1.
  std::vector<int32_t> at(const std::vector<int64_t> &values, const std::string &name, int64_t b, int64_t limit,
                          const std::string &limitText) const {
    std::vector<int32_t> rows;
    for (int64_t t : places(b)) {
      const int64_t value = values[static_cast<size_t>(b * length() + t)];
      if (value < 0 || value >= limit)
        throw Failure(BadInput, file + ": " + name + "[" + std::to_string(b) + ", " + std::to_string(t) + "] is " +
                                    std::to_string(value) + "; " + limitText);
      rows.push_back(static_cast<int32_t>(value));
    }
    return rows;
  }

  std::vector<int64_t> ids;

private:
  std::string file, idsName;
  std::vector<int64_t> shape, mask;
};

/// The tokens of each batch entry, with positions and further inputs, taken from `inputs`.
std::vector<Rows> rowsOf(const tw_model *model, const std::string &file, TensorMap &inputs, const PaddedRows &padded,
                         const std::string &idsName, const std::string &positionsName) {
  const auto description = nlohmann::json::parse(tw_model_describe(model));
  const int64_t vocab = tw_model_vocab_size(model), context = description["model_context"].get<int64_t>();
  const std::vector<int64_t> positions = padded.take(inputs, positionsName);
  std::vector<Rows> all(static_cast<size_t>(padded.batch()));
  for (int64_t b = 0; b < padded.batch(); ++b) {
    Rows &rows = all[static_cast<size_t>(b)];
    rows.tokens = padded.at(padded.ids, idsName, b, vocab, "the vocabulary has " + std::to_string(vocab) + " tokens");
    if (!positions.empty())
      rows.positions = padded.at(positions, positionsName, b, context,
                                 "the model has positions 0 to " + std::to_string(context - 1));
  }
  for (const auto &input : description["inputs"]) {
    const auto name = input["name"].get<std::string>();
    const auto limit = input["limit"].get<int64_t>();
    const std::vector<int64_t> values = padded.take(inputs, name);
    for (int64_t b = 0; b < padded.batch() && !values.empty(); ++b)
      all[static_cast<size_t>(b)].inputs[name] =
          padded.at(values, name, b, limit, "the model takes 0 to " + std::to_string(limit - 1));
  }
  return all;
}

void runInputs(tw_model *model, const RunOptions &options) {
  TensorMap inputs = readSafetensors(options.inputs).tensors;
  const bool reads = tw_model_kind_of(model) == TW_MODEL_ENCODER_DECODER;
  const std::string prefix = reads ? "decoder_" : "";
  std::vector<Rows> sources;
  if (reads) {
    const PaddedRows source(options.inputs, inputs, "input_ids", "attention_mask");
    sources = rowsOf(model, options.inputs, inputs, source, "input_ids", "position_ids");
  }
  const PaddedRows padded(options.inputs, inputs, prefix + "input_ids", prefix + "attention_mask");
  std::vector<Rows> rows = rowsOf(model, options.inputs, inputs, padded, prefix + "input_ids", prefix + "position_ids");
  if (!inputs.empty()) {
    std::string known = prefix + "input_ids, " + prefix + "attention_mask, " + prefix + "position_ids";
    if (reads)
      known = "input_ids, attention_mask, position_ids, " + known;
    for (int64_t i = 0; i < tw_model_input_count(model); ++i)
      known += std::string(", ") + tw_model_input_name(model, i);
    throw Failure(BadInput, options.inputs + ": unknown input '" + inputs.begin()->first + "'; wanted " + known);
  }
  if (reads && sources.size() != rows.size())
    throw Failure(BadInput, options.inputs + ": " + std::to_string(sources.size()) + " sources for " +
                                std::to_string(rows.size()) + " texts");

  std::vector<Sequence> sequences;
  std::vector<int64_t> entries; // of the sequences
  for (size_t b = 0; b < rows.size(); ++b) {
    if (rows[b].tokens.empty())
      continue;
    entries.push_back(static_cast<int64_t>(b));
    sequences.push_back({std::move(rows[b]), reads ? std::move(sources[b]) : Rows()});
  }
  const std::vector<WantedResult> wanted = wantedResults(model, options.results);
  std::vector<NamedTensor> results;
  for (const WantedResult &result : wanted) {
    NamedTensor &tensor = results.emplace_back(NamedTensor{"F32", {padded.batch(), padded.length()}, {}});
    tensor.shape.insert(tensor.shape.end(), result.shape.begin(), result.shape.end());
    tensor.bytes.resize(static_cast<size_t>(tensor.elements()) * sizeof(float)); // pads stay zero
  }
  runSequences(model, sequences, wanted, [&](size_t index, std::span<const std::vector<float>> found) {
    const int64_t b = entries[index];
    const std::vector<int64_t> places = padded.places(b);
    for (size_t i = 0; i < wanted.size(); ++i) {
      const size_t row = static_cast<size_t>(wanted[i].size);
      for (size_t t = 0; t < places.size(); ++t)
        std::memcpy(results[i].bytes.data() +
                        static_cast<size_t>(b * padded.length() + places[t]) * row * sizeof(float),
                    found[i].data() + t * row, row * sizeof(float));
    }
  });
  TensorMap outputs;
  for (size_t i = 0; i < wanted.size(); ++i)
    outputs[wanted[i].name] = std::move(results[i]);
  writeSafetensors(options.outputs, outputs);
}

void runRun(const RunOptions &options) {
  const bool texts = !options.embed.texts.empty() || !options.embed.textFile.empty();
  if (texts == !options.inputs.empty())
    throw Failure(Usage, "wanted either --inputs, or --text or --text-file");
  if (texts ? options.outputs.empty() == !options.embed.json : options.outputs.empty())
    throw Failure(Usage, texts ? "wanted either --outputs or --json" : "--outputs is missing");
  if (!options.outputs.empty())
    OutputFile::check(options.outputs);
  ModelPointer model = loadModel(options.model, {options.outputs}, {options.inputs, options.embed.textFile});
  if (!texts)
    return runInputs(model.get(), options);
  EmbedOptions embed = options.embed;
  embed.output = options.outputs;
  embed.results = options.results;
  embedTexts(model.get(), embed);
}

} // namespace

void addRun(CLI::App &app) {
  auto options = std::make_shared<RunOptions>();
  CLI::App *command = app.add_subcommand("run", "One forward pass from and to safetensors files, or texts to vectors");
  addModelOptions(*command, options->model);
  CLI::Option *inputs = command->add_option(
      "--inputs", options->inputs,
      "Safetensors file with input_ids [B,T], and attention_mask, position_ids and further inputs of the "
      "model [B,T] if wanted; of an encoder-decoder those of its source, and decoder_input_ids");
  inputs->check(notEmpty("a file"));
  command->add_option("--text", options->embed.texts, "A text to make a vector of; may be given several times")
      ->excludes(inputs);
  command->add_option("--text-file", options->embed.textFile, "A file of texts, one a line")
      ->check(notEmpty("a file"))
      ->excludes(inputs);
  command
      ->add_option("--pool", options->embed.pool,
                   "What makes a vector of a text's rows: their mean, the first (cls), or none: all are written")
      ->check(CLI::IsMember({"mean", "cls", "none"}))
      ->capture_default_str()
      ->excludes(inputs);
  command->add_flag("--normalize", options->embed.normalize, "Vectors of length 1")->excludes(inputs);
  command
      ->add_option("-o,--outputs", options->outputs,
                   "Safetensors file to write: results [B,T,...], zero at pads; of texts embeddings [texts,E]")
      ->check(notEmpty("a file"));
  command->add_option("--output", options->results,
                      "A result to write, logits or an output's name (default: all); may be given several times");
  command->add_flag("--json", options->embed.json, "Write the vectors as JSON to stdout")->excludes(inputs);
  command->footer("Examples:\n  tilewright run smollm2/ --inputs in.safetensors --outputs out.safetensors\n"
                  "  tilewright run minilm/ --text \"A cat\" --text \"A dog\" --pool mean --normalize --json");
  command->callback([options] { runRun(*options); });
}

} // namespace tilewright::cli
