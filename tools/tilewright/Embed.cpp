// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/tilewright/Embed.h"

#include "tools/safetensors/Safetensors.h"
#include "tools/tilewright/Sequences.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace tilewright::cli {
namespace {

std::vector<std::string> textsOf(const EmbedOptions &options) {
  std::vector<std::string> texts = options.texts;
  if (options.textFile.empty())
    return texts;
  std::ifstream file = openText(options.textFile);
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r')
      line.pop_back();
    texts.push_back(line);
  }
  if (file.bad())
    throw Failure(BadInput, options.textFile + ": cannot be read to its end");
  return texts;
}

/// The output whose rows are pooled: the one that is named, or the only one.
WantedResult pooledOutput(const tw_model *model, const EmbedOptions &options) {
  if (options.results.size() > 1)
    throw Failure(Usage,
                  "--output names " + std::to_string(options.results.size()) + " results; wanted one with --text");
  if (options.results.empty() && tw_model_output_count(model) != 1)
    throw Failure(Unsupported,
                  "the model has " + std::to_string(tw_model_output_count(model)) +
                      " outputs besides its logits; wanted one whose rows are pooled, or its name by --output");
  return wantedResults(model, options.results.empty() ? std::vector<std::string>{tw_model_output_name(model, 0)}
                                                      : options.results)
      .front();
}

/// Of rows [tokens][size]; a vector of zeros keeps its length.
std::vector<float> pooled(const std::vector<float> &rows, size_t size, const EmbedOptions &options) {
  std::vector<double> sums(rows.begin(), rows.begin() + static_cast<ptrdiff_t>(size));
  if (options.pool == "mean") {
    const size_t count = rows.size() / size;
    for (size_t i = size; i < rows.size(); ++i)
      sums[i % size] += static_cast<double>(rows[i]);
    for (double &sum : sums)
      sum /= static_cast<double>(count);
  }
  double square = 0;
  for (double x : sums)
    square += x * x;
  const double length = options.normalize ? std::max(std::sqrt(square), 1e-12) : 1;
  std::vector<float> result;
  for (double x : sums)
    result.push_back(static_cast<float>(x / length));
  return result;
}

NamedTensor tensorOf(const std::vector<float> &values, std::vector<int64_t> shape) {
  NamedTensor tensor{"F32", std::move(shape), std::vector<uint8_t>(values.size() * sizeof(float))};
  if (!values.empty())
    std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

} // namespace

void embedTexts(tw_model *model, const EmbedOptions &options) {
  const WantedResult output = pooledOutput(model, options);
  const auto size = static_cast<size_t>(output.size);
  std::vector<Sequence> sequences;
  for (const std::string &text : textsOf(options)) {
    const std::string place = "text " + std::to_string(sequences.size() + 1);
    std::vector<int32_t> ids = tokenize(model, text, /*parseSpecial=*/true);
    if (ids.empty())
      throw Failure(BadInput, place + " has no tokens");
    if (static_cast<int64_t>(ids.size()) > tw_model_context(model))
      throw Failure(BadInput, place + " has " + std::to_string(ids.size()) + " tokens; the context holds " +
                                  std::to_string(tw_model_context(model)));
    sequences.push_back({{std::move(ids)}});
  }
  const bool whole = options.pool == "none";
  std::vector<float> all;
  TensorMap tensors;
  nlohmann::json list = nlohmann::json::array();
  runSequences(model, sequences, {output}, [&](size_t index, std::span<const std::vector<float>> results) {
    const std::vector<float> &rows = results.front();
    const auto tokens = static_cast<int64_t>(rows.size() / size);
    if (whole && options.json) {
      nlohmann::json text = nlohmann::json::array();
      for (size_t i = 0; i < rows.size(); i += size)
        text.push_back(std::vector<float>(rows.begin() + static_cast<ptrdiff_t>(i),
                                          rows.begin() + static_cast<ptrdiff_t>(i + size)));
      list.push_back(std::move(text));
    } else if (whole) {
      tensors["embeddings." + std::to_string(index)] = tensorOf(rows, {tokens, output.size});
    } else {
      const std::vector<float> vector = pooled(rows, size, options);
      if (options.json)
        list.push_back(vector);
      all.insert(all.end(), vector.begin(), vector.end());
    }
  });
  if (options.json) {
    const std::string text = nlohmann::json{{"embeddings", std::move(list)}}.dump() + "\n";
    std::fputs(text.c_str(), stdout);
    return;
  }
  if (!whole)
    tensors["embeddings"] = tensorOf(all, {static_cast<int64_t>(sequences.size()), output.size});
  writeSafetensors(options.output, tensors);
}

} // namespace tilewright::cli
