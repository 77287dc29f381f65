// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Options of the compile-side commands. Built with exceptions for the command-line parser; it sees no LLVM header.
#include "tools/conformance/Check.h"
#include "tools/driver/Commands.h"
#include "tools/host/EarlyEnd.h"
#include "tools/options/Options.h"

#include <CLI/CLI.hpp>

#include <functional>

using namespace tilewright::driver;

namespace {

void addPlugins(CLI::App &command, std::vector<std::string> &plugins) {
  command.add_option("--plugin", plugins,
                     "A plugin besides the installed ones: a file, or a name to look for in TILEWRIGHT_PLUGIN_PATH");
}

void addWeightsDir(CLI::App &command, std::string &folder) {
  command
      .add_option("--weights-dir", folder, "Folder that holds the weights files, when they are not beside the graph")
      ->check(CLI::ExistingDirectory);
}

int runCommand(int argc, char **argv) {
  CLI::App app{"Compiles transformer models ahead of time.", "tilewright"};
  app.require_subcommand(1);
  int result = 0;

  ImportOptions import;
  CLI::App *command = app.add_subcommand("import", "Turn a model file into a graph (.twg)");
  bool familiesOnly = false;
  auto *listFlag = command->add_flag("--list-families", familiesOnly, "List the families that a model may be of");
  auto *importInput = command->add_option(
      "model", import.input, "GGUF file (of several: the first), or a folder with config.json and model.safetensors");
  auto *importOutput = command->add_option("-o,--output", import.output, "Graph file to write");
  listFlag->excludes(importInput)->excludes(importOutput);
  command
      ->add_option("--outputs", import.outputs,
                   "What the model returns besides, as its family has it: hidden (rows behind the last norm), "
                   "hidden_states (rows that each layer reads); encoder: of an encoder-decoder the encoder alone")
      ->delimiter(',');
  command
      ->add_option("--quantize", import.quantize,
                   "Storage type of a plugin for matrices of f32, f16 and bf16 that linear maps multiply with, or that "
                   "ids look rows up in, where their rows are whole blocks. All weights are then written to a file "
                   "beside the graph, of its name with the ending .weights")
      ->check(tilewright::notEmpty("a type"));
  command
      ->add_flag("--keep-tables", import.keepTables,
                 "With --quantize: matrices that ids look rows up in keep their type, with them a head that is the "
                 "same matrix (tied)")
      ->needs("--quantize");
  command->add_flag("--quiet", import.quiet, "No progress");
  addPlugins(*command, import.plugins);
  command->footer("Examples:\n  tilewright import SmolLM2-135M-Instruct.Q4_1.gguf -o smollm2.twg\n  tilewright import "
                  "Qwen3-0.6B/ -o qwen3.twg\n  tilewright import Qwen3-0.6B/ -o qwen3.twg --quantize TYPE\n  "
                  "tilewright import --list-families");
  command->callback([&] {
    if (!familiesOnly && import.input.empty())
      throw CLI::RequiredError("model");
    if (!familiesOnly && import.output.empty())
      throw CLI::RequiredError("--output");
    result = familiesOnly ? listFamilies() : importModel(import);
  });

  InspectOptions inspect;
  bool table = false, json = false, dot = false, mlir = false;
  command = app.add_subcommand("inspect", "Show what a graph holds");
  command->add_option("graph", inspect.input, ".twg or .gguf file, or a folder with a config.json")->required();
  auto *tableFlag = command->add_flag("--table", table, "All functions, ops and weights as a table");
  auto *jsonFlag = command->add_flag("--json", json, "As JSON")->excludes(tableFlag);
  auto *dotFlag = command->add_flag("--dot", dot, "As a DOT picture")->excludes(tableFlag)->excludes(jsonFlag);
  command->add_flag("--mlir", mlir, "As MLIR, the text form that can be read back")
      ->excludes(tableFlag)
      ->excludes(jsonFlag)
      ->excludes(dotFlag);
  addWeightsDir(*command, inspect.weightsDir);
  addPlugins(*command, inspect.plugins);
  command->footer("Example:\n  tilewright inspect smollm2.twg --dot | dot -Tsvg > smollm2.svg");
  command->callback([&] {
    using Form = InspectOptions::Form;
    inspect.form = table ? Form::Table : json ? Form::Json : dot ? Form::Dot : mlir ? Form::Mlir : Form::Summary;
    result = inspectGraph(inspect);
  });

  CompileOptions compile;
  command = app.add_subcommand("compile", "Compile a graph ahead of time");
  command->add_option("model", compile.input, ".twg or .gguf file, or a folder with a config.json")->required();
  auto *output = command->add_option("-o,--output", compile.output, "Folder to write the compiled model to");
  command->add_option("--cache", compile.cache, "Cache folder: compile only if it does not hold this model yet")
      ->excludes(output);
  command->add_option("--print-folder", compile.printFolder, "File to write the compiled model's path to");
  command->add_option("--target", compile.targets,
                      "cpu (this machine, and avx2), cpu:portable (all levels) or cpu:LEVEL; repeatable");
  command->add_option("--numerics", compile.numerics, "precise: f32 activations; fast: may quantise activations")
      ->check(CLI::IsMember({"precise", "fast"}))
      ->capture_default_str();
  command->add_option("--receipts", compile.receipts, "Write what was fused, and what was not and why, as JSON");
  command->add_option(
      "--require-fused", compile.requireFused,
      "Fail unless every candidate of this kind was fused: attention, norm, feed_forward, rotary, ... (an unknown "
      "kind lists the known ones); repeatable");
  command->add_option("--dump-ir-after", compile.dumpAfter,
                      "Print the IR after a stage: import, simplify, recognise, share, differentiate, distribute, "
                      "fuse; tile (each shape class); bufferize, lower, emit (each kernel of each level and class)");
  command->add_option("--trace", compile.trace,
                      "File to write when which pass ran to, and what else took time, for ui.perfetto.dev or "
                      "chrome://tracing");
  command->add_option("--threads", compile.threads, "Threads to compile with (default: all)")
      ->check(CLI::Range(1, 1024));
  command
      ->add_flag("--isolate", compile.isolate,
                 "Compile in a child process: if a plugin or code generation crashes, that is an error, and nothing is "
                 "left behind")
      ->excludes("--cache");
  command->add_flag("--quiet", compile.quiet, "No progress");
  addWeightsDir(*command, compile.weightsDir);
  addPlugins(*command, compile.plugins);
  command->footer("Examples:\n  tilewright compile smollm2.twg -o smollm2/\n  tilewright compile smollm2.twg -o "
                  "smollm2/ --target cpu:portable --require-fused attention");
  command->callback([&] {
    if (compile.output.empty() && compile.cache.empty())
      throw CLI::RequiredError("--output");
    result = compileModel(compile);
  });

  ExportOptions exported;
  command = app.add_subcommand("export", "Write a graph's weights as a safetensors file");
  command->add_option("model", exported.input, ".twg or .gguf file, or a folder with a config.json")->required();
  command->add_option("-o,--output", exported.output, "Safetensors file to write")->required();
  command
      ->add_option(
          "--dtype", exported.dtype,
          "What all numbers become: f32, f16 or bf16 (default: each weight's own type where the format has it, "
          "else f32)")
      ->check(CLI::IsMember({"f32", "f16", "bf16"}));
  command->add_flag("--quiet", exported.quiet, "No progress");
  addWeightsDir(*command, exported.weightsDir);
  addPlugins(*command, exported.plugins);
  command->footer("Example:\n  tilewright export smollm2.twg -o smollm2.safetensors --dtype bf16");
  command->callback([&] { result = exportWeights(exported); });

  PtxOptions ptx;
  command =
      app.add_subcommand("ptx", "Write the kernels of a model as PTX for sm_80, and list those without a form yet");
  command->add_option("model", ptx.input, ".twg or .gguf file, or a folder with a config.json")->required();
  command->add_option("-o,--output", ptx.output, "Folder to write CLASS.KERNEL.ptx to")->required();
  command->add_option("--numerics", ptx.numerics, "precise: f32 products; fast: in tf32, and quantised activations")
      ->check(CLI::IsMember({"precise", "fast"}))
      ->capture_default_str();
  addWeightsDir(*command, ptx.weightsDir);
  addPlugins(*command, ptx.plugins);
  command->footer("Example:\n  tilewright-compiler ptx smollm2.twg -o kernels/");
  command->callback([&] { result = writePtx(ptx); });

  VerifyOptions verify;
  command = app.add_subcommand("verify", "Compare a compiled model with the reference interpreter");
  command->add_option("graph", verify.input, ".twg or .gguf file, or a folder with a config.json")->required();
  command->add_option("--artifact", verify.artifact,
                      "The compiled model (default: the interpreter in f32 against f64)");
  command->add_option("--kv-type", verify.kvType, "What the compiled model's K/V caches hold (default: f32)")
      ->check(CLI::IsMember({"f32", "bf16"}));
  command->add_option("--prompt", verify.prompts, "A prompt to compare on; repeatable (default: 8 seeded prompts)");
  command->add_option("--expected", verify.expected, "JSON file of expected ids, NLLs and logits");
  command->add_option("--max-tokens", verify.maxTokens, "Greedy tokens to compare as well")
      ->check(tilewright::numberFrom(0));
  command->add_flag("--json", verify.json, "Print JSON");
  command->add_flag("--quiet", verify.quiet, "No progress");
  bool perOp = false, bisect = false;
  auto *perOpFlag =
      command
          ->add_flag(
              "--per-op", perOp,
              "Compare every fused group for itself, on the reference's inputs, with its ops' contracts; compiles the "
              "model when no --artifact is given")
          ->excludes("--expected")
          ->excludes("--max-tokens");
  command
      ->add_flag(
          "--bisect", bisect,
          "Find the pass that breaks the result: what stands behind each pass is interpreted, or compiled plainly")
      ->excludes(perOpFlag)
      ->excludes("--artifact")
      ->excludes("--expected")
      ->excludes("--max-tokens");
  command->add_option("--numerics", verify.numerics, "What --per-op and --bisect compile with")
      ->check(CLI::IsMember({"precise", "fast"}))
      ->capture_default_str()
      ->excludes("--artifact");
  command->add_option("--target", verify.targets, "The level that they compile for (default: this machine's best)")
      ->excludes("--artifact");
  addWeightsDir(*command, verify.weightsDir);
  addPlugins(*command, verify.plugins);
  command->footer(
      "Examples:\n  tilewright verify smollm2.twg --artifact smollm2/ --prompt \"The capital of France "
      "is\"\n  tilewright verify smollm2.twg --per-op --numerics precise\n  tilewright verify smollm2.twg --bisect "
      "--plugin ./libmine.so");
  command->callback([&] {
    result = perOp ? verifyPerOp(verify) : bisect ? verifyByBisection(verify) : verifyModel(verify);
  });

  ReferenceOptions reference;
  command = app.add_subcommand("reference", "Write text with the reference interpreter (slow, and right)");
  command->add_option("graph", reference.input, ".twg or .gguf file, or a folder with a config.json")->required();
  command->add_option("--prompt", reference.prompt, "The text to continue")->required();
  command->add_option("--max-tokens", reference.maxTokens, "Tokens to write")
      ->check(tilewright::numberFrom(0))
      ->capture_default_str();
  command->add_flag("--f64", reference.f64, "Calculate in f64 instead of f32");
  addWeightsDir(*command, reference.weightsDir);
  addPlugins(*command, reference.plugins);
  command->footer("Example:\n  tilewright reference smollm2.twg --prompt \"The capital of France is\" --max-tokens 8");
  command->callback([&] { result = generateByReference(reference); });

  CacheOptions cache;
  command = app.add_subcommand("cache", "About models that were compiled by the way");
  command->require_subcommand(1);
  CLI::App *entries = command->add_subcommand("list", "List them with their sizes, the least recently used first");
  entries->add_flag("--json", cache.json, "Print JSON");
  entries->footer("Example:\n  tilewright cache list\nTILEWRIGHT_CACHE_SIZE says how large the cache may get (50G); "
                  "then the least recently used go.");
  entries->callback([&] { result = listCache(cache); });
  CLI::App *clean = command->add_subcommand("clean", "Remove them");
  clean->add_option("--keep", cache.keep, "Stop when the others are at most this large: 20G, 500M, ...");
  clean->footer("Examples:\n  tilewright cache clean\n  tilewright cache clean --keep 5G");
  clean->callback([&] { result = cleanCache(cache); });

  PluginsOptions plugins;
  command = app.add_subcommand("plugins", "About plugins");
  command->require_subcommand(1);
  CLI::App *list = command->add_subcommand(
      "list", "List the plugins that are found, with their ops, passes, stages, blocks and runtime halves");
  list->add_flag("--json", plugins.json, "Print JSON");
  addPlugins(*list, plugins.plugins);
  list->footer("Example:\n  tilewright plugins list");
  list->callback([&] { result = listPlugins(plugins); });

  NewPluginOptions fresh;
  CLI::App *create =
      command->add_subcommand("new", "Write a new plugin that builds and passes its tests: one op, one pass");
  create->add_option("name", fresh.name, "Its name, in snake_case: also that of its dialect and library")->required();
  create->add_option("--dir", fresh.folder, "Folder to write to, absent or empty (default: the name)");
  create->footer(
      "Example:\n  tilewright plugins new talking_heads --dir ~/talking_heads\n  cd ~/talking_heads && cmake "
      "-B build && cmake --build build && ctest --test-dir build");
  create->callback([&] { result = newPlugin(fresh); });

  tilewright::conformance::CheckOptions check;
  command = command->add_subcommand("check", "Check that a plugin keeps what its interfaces promise");
  command->add_option("plugin", check.plugin, "The plugin: a file, or a name to look for")->required();
  command->add_flag("--json", check.json, "Print JSON");
  command->add_option("--budget", check.budget, "Processor seconds that one check may take")
      ->check(CLI::Range(0.001, 1e6))
      ->capture_default_str();
  addPlugins(*command, check.plugins);
  command->footer("Example:\n  tilewright plugins check build/libtilewright_talking_heads.so");
  command->callback([&] { result = checkPlugin(check); });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    result = tilewright::endParse(app, error);
  }
  return endOutput(result);
}

} // namespace

int main(int argc, char **argv) {
  cleanUpOnInterrupt();
  const tilewright::CommandUnderWay underWay;
  return runCommand(argc, argv);
}
