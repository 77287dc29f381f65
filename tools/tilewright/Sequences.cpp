// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/tilewright/Sequences.h"

#include "runtime/api/Requests.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>

namespace tilewright::cli {
namespace {

/// Sequences of one step: enough to fill it, and few enough for their results and caches.
constexpr size_t kTokensOfAStep = 2048, kMostSequences = 64, kNumbersOfAStep = 1u << 24;

std::vector<tw_input> inputsOf(const Rows &rows) {
  std::vector<tw_input> inputs;
  for (const auto &[name, values] : rows.inputs)
    inputs.push_back({sizeof(tw_input), name.c_str(), values.data()});
  return inputs;
}

/// What the requests of a step point to.
struct StepMemory {
  std::vector<int64_t> wanted;
  std::vector<tw_input> inputs, sourceInputs;
  std::vector<tw_output> outputs;
  std::vector<std::vector<float>> results;
};

class Runner {
public:
  Runner(tw_model *model, const std::vector<WantedResult> &wanted) : model(model), wanted(wanted) {}

  void run(std::span<const Sequence> sequences, size_t first, const SequenceResults &take) {
    while (sessions.size() < sequences.size())
      sessions.push_back(newSession(model));
    for (size_t i = 0; i < sequences.size(); ++i)
      check(tw_session_truncate(sessions[i].get(), 0), "");
    std::vector<StepMemory> memory(sequences.size());
    if (tw_model_kind_of(model) == TW_MODEL_ENCODER_DECODER)
      encode(sequences, memory);
    std::vector<tw_step_request> requests;
    for (size_t i = 0; i < sequences.size(); ++i)
      requests.push_back(requestOf(sequences[i].rows, sessions[i].get(), memory[i]));
    check(tw_step(model, requests.data(), static_cast<int64_t>(requests.size())), "");
    for (size_t i = 0; i < sequences.size(); ++i)
      take(first + i, memory[i].results);
  }

private:
  void encode(std::span<const Sequence> sequences, std::vector<StepMemory> &memory) {
    std::vector<tw_encode_request> requests;
    for (size_t i = 0; i < sequences.size(); ++i) {
      const Rows &source = sequences[i].source;
      memory[i].sourceInputs = inputsOf(source);
      requests.push_back({sizeof(tw_encode_request), sessions[i].get(), source.tokens.data(),
                          static_cast<int64_t>(source.tokens.size()), memory[i].sourceInputs.data(),
                          static_cast<int64_t>(memory[i].sourceInputs.size())});
    }
    check(tw_encode(model, requests.data(), static_cast<int64_t>(requests.size())), "");
  }

  tw_step_request requestOf(const Rows &rows, tw_session *session, StepMemory &memory) const {
    memory.wanted.resize(rows.tokens.size());
    std::iota(memory.wanted.begin(), memory.wanted.end(), 0);
    memory.inputs = inputsOf(rows);
    for (const WantedResult &result : wanted)
      memory.results.emplace_back(rows.tokens.size() * static_cast<size_t>(result.size));
    tw_step_request request = stepRequest(session, rows.tokens, nullptr);
    request.wanted = memory.wanted.data();
    request.wanted_count = request.count;
    request.positions = rows.positions.empty() ? nullptr : rows.positions.data();
    request.inputs = memory.inputs.data();
    request.input_count = static_cast<int64_t>(memory.inputs.size());
    for (size_t i = 0; i < wanted.size(); ++i)
      if (wanted[i].name == "logits")
        request.logits = memory.results[i].data();
      else
        memory.outputs.push_back({sizeof(tw_output), wanted[i].name.c_str(), memory.results[i].data()});
    if (!request.logits && tw_model_has_logits(model)) { // which are always calculated
      memory.results.emplace_back(rows.tokens.size() * static_cast<size_t>(tw_model_vocab_size(model)));
      request.logits = memory.results.back().data();
    }
    request.outputs = memory.outputs.data();
    request.output_count = static_cast<int64_t>(memory.outputs.size());
    return request;
  }

  tw_model *model;
  const std::vector<WantedResult> &wanted;
  std::vector<SessionPointer> sessions;
};

} // namespace

std::vector<WantedResult> wantedResults(const tw_model *model, const std::vector<std::string> &names) {
  std::vector<WantedResult> known;
  const auto description = nlohmann::json::parse(tw_model_describe(model));
  if (tw_model_has_logits(model))
    known.push_back({"logits", {tw_model_vocab_size(model)}, tw_model_vocab_size(model)});
  for (const auto &output : description["outputs"]) {
    const auto name = output["name"].get<std::string>();
    known.push_back({name, output["shape"].get<std::vector<int64_t>>(), tw_model_output_size(model, name.c_str())});
  }
  if (names.empty())
    return known;
  std::vector<WantedResult> wanted;
  for (const std::string &name : names) {
    const auto found =
        std::find_if(known.begin(), known.end(), [&](const WantedResult &each) { return each.name == name; });
    if (found == known.end()) {
      std::string list;
      for (const WantedResult &each : known)
        list += (list.empty() ? "" : ", ") + each.name;
      throw Failure(BadInput, "the model has no output '" + name + "'; it has: " + list);
    }
    wanted.push_back(*found);
  }
  return wanted;
}

void runSequences(tw_model *model, std::span<const Sequence> sequences, const std::vector<WantedResult> &wanted,
                  const SequenceResults &take) {
  Runner runner(model, wanted);
  size_t numbers = tw_model_has_logits(model) ? static_cast<size_t>(tw_model_vocab_size(model)) : 0; // of a row
  for (const WantedResult &result : wanted)
    if (result.name != "logits")
      numbers += static_cast<size_t>(result.size);
  const size_t most = std::min(kTokensOfAStep, kNumbersOfAStep / std::max<size_t>(numbers, 1));
  for (size_t first = 0; first < sequences.size();) {
    size_t count = 0, tokens = 0;
    while (first + count < sequences.size() && count < kMostSequences &&
           (count == 0 || tokens + sequences[first + count].rows.tokens.size() <= most))
      tokens += sequences[first + count++].rows.tokens.size();
    runner.run(sequences.subspan(first, count), first, take);
    first += count;
  }
}

} // namespace tilewright::cli
