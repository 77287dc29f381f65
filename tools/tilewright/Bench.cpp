// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prefill and decode speed, beside this machine's ceilings in the same run.
#include "tools/options/Options.h"
#include "tools/progress/Progress.h"
#include "tools/tilewright/Ceilings.h"
#include "tools/tilewright/Model.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <thread>

namespace tilewright::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct BenchOptions {
  ModelOptions model;
  int prefill = 512;
  int decode = 128;
  int repeat = 5;
  bool json = false;
};

double seconds(Clock::time_point since) { return std::chrono::duration<double>(Clock::now() - since).count(); }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Token ids that differ from one another, without asking the tokenizer for text.
std::vector<int32_t> someTokens(int count, int64_t vocab) {
  std::vector<int32_t> ids(static_cast<size_t>(count));
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<int32_t>((i * 7919 + 13) % static_cast<uint64_t>(vocab));
  return ids;
}

void runBench(const BenchOptions &options) {
  ModelPointer model = loadModel(options.model);
  auto description = nlohmann::json::parse(tw_model_describe(model.get()));
  const int64_t vocab = tw_model_vocab_size(model.get());
  const int threads =
      options.model.threads ? options.model.threads : static_cast<int>(std::thread::hardware_concurrency());
  SessionPointer session = newSession(model.get());

  std::vector<double> prefill, decode;
  Progress progress(options.model.quiet);
  progress.step("measuring", static_cast<uint64_t>(options.repeat + 1));
  for (int round = 0; round <= options.repeat; ++round) { // the first warms up
    if (options.prefill > 0) {
      check(tw_session_truncate(session.get(), 0), "");
      auto start = Clock::now();
      step(model.get(), session.get(), someTokens(options.prefill, vocab));
      if (round > 0)
        prefill.push_back(options.prefill / seconds(start));
    }
    if (options.decode > 0) {
      check(tw_session_truncate(session.get(), 0), "");
      std::vector<int32_t> ids = someTokens(options.decode + 1, vocab);
      step(model.get(), session.get(), {ids[0]});
      auto start = Clock::now();
      for (int i = 1; i <= options.decode; ++i)
        step(model.get(), session.get(), {ids[static_cast<size_t>(i)]});
      if (round > 0)
        decode.push_back(options.decode / seconds(start));
    }
    progress.advance();
  }

  const uint64_t weightBytes = description["weights"].value("bytes", uint64_t(0));
  progress.step("measuring this machine");
  Ceilings ceilings = measureCeilings(threads, std::max<uint64_t>(weightBytes, 1 << 20));
  progress.done();
  nlohmann::json result;
  result["threads"] = threads;
  result["numerics"] = description.value("numerics", "");
  result["kv_type"] = description.value("kv_element", "");
  result["level"] = description.value("level", "");
  result["weights_bytes"] = weightBytes;
  result["ceilings"]["read_bytes_per_second"] = ceilings.readBytesPerSecond;
  result["ceilings"]["f32_fma_per_second"] = ceilings.fmaPerSecond;
  if (ceilings.bf16DotPerSecond)
    result["ceilings"]["bf16_dot_per_second"] = *ceilings.bf16DotPerSecond;
  if (ceilings.int8DotPerSecond)
    result["ceilings"]["int8_dot_per_second"] = *ceilings.int8DotPerSecond;
  // The head is multiplied for the last row of a prompt alone, so it does not count in prefill.
  const double operations = 2.0 * description["weights"].value("layer_parameters", 0.0);
  if (!prefill.empty()) {
    double rate = median(prefill);
    result["prefill"] = {
        {"tokens", options.prefill}, {"tokens_per_second", rate}, {"operations_per_second", rate * operations}};
    double ceiling = ceilings.int8DotPerSecond.value_or(ceilings.fmaPerSecond);
    if (result["numerics"] == "precise")
      ceiling = ceilings.fmaPerSecond;
    result["prefill"]["share_of_ceiling"] = rate * operations / ceiling;
  }
  if (!decode.empty()) {
    double rate = median(decode);
    result["decode"] = {{"tokens", options.decode},
                        {"tokens_per_second", rate},
                        {"bytes_per_second", rate * static_cast<double>(weightBytes)},
                        {"share_of_ceiling", rate * static_cast<double>(weightBytes) / ceilings.readBytesPerSecond}};
  }
  if (options.json) {
    std::cout << result.dump(2) << '\n';
    return;
  }
  std::printf("%d threads, %s, %s\n", threads, result["numerics"].get<std::string>().c_str(),
              result["level"].get<std::string>().c_str());
  if (!prefill.empty())
    std::printf("prefill %5d tokens  %9.1f tokens/s  %5.1f %% of the %s ceiling\n", options.prefill,
                result["prefill"]["tokens_per_second"].get<double>(),
                100 * result["prefill"]["share_of_ceiling"].get<double>(),
                result["numerics"] == "precise" ? "f32 multiply-add" : "int8 dot product");
  if (!decode.empty())
    std::printf("decode  %5d tokens  %9.1f tokens/s  %5.1f %% of the streaming read ceiling\n", options.decode,
                result["decode"]["tokens_per_second"].get<double>(),
                100 * result["decode"]["share_of_ceiling"].get<double>());
  std::printf("ceilings: read %.1f GB/s, f32 %.0f GFLOP/s", ceilings.readBytesPerSecond / 1e9,
              ceilings.fmaPerSecond / 1e9);
  if (ceilings.bf16DotPerSecond)
    std::printf(", bf16 dot %.0f GFLOP/s", *ceilings.bf16DotPerSecond / 1e9);
  if (ceilings.int8DotPerSecond)
    std::printf(", int8 dot %.0f GOP/s", *ceilings.int8DotPerSecond / 1e9);
  std::printf("\n");
}

} // namespace

void addBench(CLI::App &app) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App *command =
      app.add_subcommand("bench", "Measure prefill and decode speed as a share of this machine's ceilings");
  addModelOptions(*command, options->model);
  command->add_option("--prefill", options->prefill, "Tokens of a prompt; 0 leaves it out")
      ->check(numberFrom(0))
      ->capture_default_str();
  command->add_option("--decode", options->decode, "Tokens to decode one by one; 0 leaves it out")
      ->check(numberFrom(0))
      ->capture_default_str();
  command->add_option("--repeat", options->repeat, "Rounds; the median counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print JSON");
  command->footer("Example:\n  tilewright bench smollm2/ --prefill 512 --decode 128 --threads 2 --json");
  command->callback([options] { runBench(*options); });
}

} // namespace tilewright::cli
