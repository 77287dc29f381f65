// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a compiled model holds; graphs are shown by tilewright-compiler.
#include "tools/tilewright/Commands.h"
#include "tools/tilewright/InspectReceipts.h"

#include "runtime/module/Artifact.h"
#include "runtime/module/RuntimeHalf.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <set>

namespace tilewright::cli {
namespace {

struct InspectOptions {
  std::string path;
  bool kernels = false, receipts = false, json = false;
  bool check = false;
};

std::string text(const flatbuffers::String *value) { return value ? value->str() : ""; }

template <typename Table> uint32_t size(const flatbuffers::Vector<flatbuffers::Offset<Table>> *list) {
  return list ? list->size() : 0;
}

/// What K/V caches may hold, the default first: "f32 or bf16".
std::string kvElements(const Manifest &manifest) {
  std::string words = text(manifest->kv_element());
  std::set<std::string> known = {words};
  for (const auto *step : *manifest->levels()->Get(0)->steps())
    if (std::string element = manifest.kvElementOf(*step); known.insert(element).second)
      words += " or " + element;
  return words;
}

void printSummary(const Manifest &manifest) {
  std::printf("model      %s (numerics %s, K/V %s)\n", text(manifest->model_name()).c_str(),
              text(manifest->numerics()).c_str(), kvElements(manifest).c_str());
  std::printf("producer   %s\n", text(manifest->producer()).c_str());
  std::printf("context    %u tokens, vocabulary %u\n", manifest->context_length(), manifest->vocab_size());
  std::printf("weights    %u in %s, %.1f MB\n", size(manifest->weights()), text(manifest->weights_file()).c_str(),
              static_cast<double>(manifest->weights_file_length()) / 1e6);
  std::printf("states     %u\n", size(manifest->states()));
  for (int64_t window : stateWindows(*manifest))
    std::printf(
        "window     %lld tokens, of %lld states\n", static_cast<long long>(window),
        static_cast<long long>(std::count_if(manifest->states()->begin(), manifest->states()->end(),
                                             [&](const artifact::State *state) { return state->window() == window; })));
  for (const auto *output : manifestOutputs(*manifest)) {
    std::string shape;
    for (uint32_t i = 0; output->shape() && i < output->shape()->size(); ++i)
      shape += ", " + std::to_string(output->shape()->Get(i));
    std::printf("output     %s [R%s]\n", output->name()->c_str(), shape.c_str());
  }
  for (const auto *level : *manifest->levels()) {
    std::printf("level      %s: %u kernels; needs", text(level->name()).c_str(), size(level->kernels()));
    for (const auto *feature : *level->features())
      std::printf(" %s", feature->c_str());
    std::printf("\n");
    for (const auto *step : *level->steps()) {
      if (manifest.kvElementOf(*step) != text(manifest->kv_element())) // the same arena
        continue;
      std::string rows =
          std::to_string(step->min_rows()) + (step->max_rows() ? "-" + std::to_string(step->max_rows()) : "+");
      const auto *arena = step->arena(), *lower = step->arena_lower_bound(), *all = step->arena_without_reuse();
      std::printf("  rows %-6s padded to %u; arena %llu B a row, %llu B a logit row", rows.c_str(),
                  step->row_multiple(), static_cast<unsigned long long>(arena->per_row()),
                  static_cast<unsigned long long>(arena->per_logit_row()));
      if (lower && all)
        std::printf(
            " (lower bound %llu and %llu, without reuse %llu and %llu)",
            static_cast<unsigned long long>(lower->per_row()), static_cast<unsigned long long>(lower->per_logit_row()),
            static_cast<unsigned long long>(all->per_row()), static_cast<unsigned long long>(all->per_logit_row()));
      std::printf("\n");
    }
  }
  for (uint32_t i = 0; i < size(manifest->plugins()); ++i) {
    const auto *plugin = manifest->plugins()->Get(i);
    std::printf("plugin     %s %s", text(plugin->name()).c_str(), text(plugin->version()).c_str());
    if (plugin->runtime_half())
      std::printf(", its runtime half is needed");
    if (uint64_t sources = plugin->runtime_half_sources())
      std::printf(", from sources %s", sourcesText(sources).c_str());
    std::printf("\n");
  }
}

nlohmann::json kernelsOf(const artifact::Level &level) {
  auto rows = nlohmann::json::array();
  for (uint32_t i = 0; i < size(level.kernels()); ++i) {
    const auto *kernel = level.kernels()->Get(i);
    auto tile = nlohmann::json::array();
    for (uint32_t k = 0; kernel->tile() && k < kernel->tile()->size(); ++k)
      tile.push_back(kernel->tile()->Get(k));
    rows.push_back({{"level", text(level.name())},
                    {"variant", text(kernel->variant())},
                    {"kv_element", text(kernel->kv_element())},
                    {"name", text(kernel->name())},
                    {"instruction", text(kernel->instruction())},
                    {"tile", tile},
                    {"layout", text(kernel->layout())},
                    {"fallback", kernel->fallback()}});
  }
  return rows;
}

void printKernels(const Manifest &manifest, bool json) {
  auto all = nlohmann::json::array();
  for (const auto *level : *manifest->levels())
    for (auto &row : kernelsOf(*level))
      all.push_back(row);
  if (json) {
    std::cout << all.dump(2) << '\n';
    return;
  }
  std::printf("%-11s %-12s %-44s %-12s %-14s %s\n", "level", "rows", "kernel", "instruction", "tile", "layout");
  for (const auto &row : all) {
    const std::string kvElement = row["kv_element"].get<std::string>();
    std::printf("%-11s %-12s %-44s %-12s %-14s %s%s\n", row["level"].get<std::string>().c_str(),
                (row["variant"].get<std::string>() + (kvElement.empty() ? "" : " " + kvElement)).c_str(),
                row["name"].get<std::string>().c_str(), row["instruction"].get<std::string>().c_str(),
                row["tile"].dump().c_str(), row["layout"].get<std::string>().c_str(),
                row["fallback"].get<bool>() ? "  fallback" : "");
  }
}

void runInspect(const InspectOptions &options) {
  if (options.check)
    Artifact::load(options.path, ArtifactOptions{.level = {}, .checkWeights = true});
  const Manifest manifest = Artifact::readManifest(options.path);
  if (options.kernels)
    printKernels(manifest, options.json);
  else if (options.receipts)
    printReceipts(text(manifest->receipts()), options.json);
  else
    printSummary(manifest);
}

} // namespace

void addInspect(CLI::App &app) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App *command = app.add_subcommand("inspect", "Show what a graph or a compiled model holds");
  command
      ->add_option("model", options->path,
                   "A compiled model (folder); a .twg or .gguf file is shown by its own options (--table, --json, "
                   "--dot, --mlir)")
      ->required();
  CLI::Option *kernels =
      command->add_flag("--kernels", options->kernels,
                        "Each kernel: instruction, tile sizes, layout, 'fallback' where the schedule did not apply");
  CLI::Option *receipts = command->add_flag(
      "--receipts", options->receipts,
      "Each attention, norm, feed-forward, ...: what was fused by which pass, what was not, why, and what to change");
  receipts->excludes(kernels);
  command->add_flag("--json", options->json, "With --kernels or --receipts: as JSON");
  command->add_flag("--check", options->check, "Verify the hashes of all weights");
  command->footer("Examples:\n  tilewright inspect smollm2/ --kernels\n  tilewright inspect smollm2/ --receipts\n  "
                  "tilewright inspect smollm2.twg --dot");
  command->callback([options] {
    if (options->json && !options->kernels && !options->receipts)
      throw CLI::RequiresError("--json", "--kernels or --receipts");
    runInspect(*options);
  });
}

} // namespace tilewright::cli
