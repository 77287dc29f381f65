// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tilewright-compiler can do, as functions without MLIR or LLVM types: the command line (which uses exceptions)
// fills an options struct and gets an exit code (docs/status-and-exit-codes.md). Each command is one file here; all
// print errors as "file:place: error: ..." to stderr.
#pragma once

#include <string>
#include <vector>

namespace tilewright::driver {

struct ImportOptions {
  std::string input;                ///< .gguf, or a folder with a config.json
  std::string output;               ///< .twg
  std::vector<std::string> outputs; ///< asked for besides what the model returns anyway
  std::string quantize;             ///< a storage type, or empty: weights stay as and where they are
  bool keepTables = false;          ///< tables keep their type
  std::vector<std::string> plugins; ///< for the storage type
  bool quiet = false;
};
int importModel(const ImportOptions &options);
/// The families that models may be of.
int listFamilies();

struct InspectOptions {
  std::string input; ///< as of CompileOptions
  std::string weightsDir;
  enum class Form { Summary, Table, Json, Dot, Mlir } form = Form::Summary;
  std::vector<std::string> plugins; ///< for the MLIR form
};
int inspectGraph(const InspectOptions &options);

struct CompileOptions {
  std::string input; ///< .twg, or .gguf or a folder with a config.json (imported first)
  std::string weightsDir;
  std::string output;               ///< artifact folder; empty with `cache`
  std::string cache;                ///< cache folder: compile only when it does not hold this model yet
  std::string printFolder;          ///< file to write the artifact's path to
  std::vector<std::string> targets; ///< "cpu", "cpu:portable", "cpu:LEVEL"
  std::string numerics = "fast";
  std::string receipts; ///< file for the receipts, JSON
  std::vector<std::string> requireFused;
  std::string dumpAfter; ///< stage after which the IR is printed to stdout
  std::string trace;     ///< file for a trace of passes and stages, JSON
  std::vector<std::string> plugins;
  int threads = 0;
  bool isolate = false; ///< in a child process; with `output` only
  bool quiet = false;
};
int compileModel(const CompileOptions &options);

struct PtxOptions {
  std::string input; ///< as of CompileOptions
  std::string weightsDir;
  std::string output; ///< folder for the kernels
  std::string numerics = "fast";
  std::vector<std::string> plugins;
};
/// The kernels of a model for the GPU.
int writePtx(const PtxOptions &options);

struct ExportOptions {
  std::string input; ///< .twg, .gguf, or a folder with a config.json
  std::string weightsDir;
  std::string output; ///< safetensors file
  std::string dtype;  ///< "f32", "f16" or "bf16"; empty: each weight's own where the format has it, else f32
  std::vector<std::string> plugins;
  bool quiet = false;
};
/// The weights of a graph, row by row in their source's order, under their source's names.
int exportWeights(const ExportOptions &options);

struct VerifyOptions {
  std::string input; ///< as of CompileOptions
  std::string weightsDir;
  std::string artifact; ///< compiled model to compare; empty: the reference alone, f32 against f64
  std::string kvType;   ///< what the compiled model's K/V caches hold; empty: its default
  std::vector<std::string> prompts;
  std::string expected; ///< JSON of expected ids, NLLs and logits to compare with
  std::vector<std::string> plugins;
  int maxTokens = 0; ///< greedy tokens to compare as well
  bool json = false, quiet = false;
  /// Of what --per-op and --bisect compile; with an artifact its own counts.
  std::string numerics = "fast";
  std::vector<std::string> targets;
};
/// The model as a whole.
int verifyModel(const VerifyOptions &options);
/// Every fused group for itself.
int verifyPerOp(const VerifyOptions &options);
/// The pass that breaks the result.
int verifyByBisection(const VerifyOptions &options);

struct ReferenceOptions {
  std::string input;
  std::string weightsDir;
  std::string prompt;
  int maxTokens = 16;
  bool f64 = false;
  std::vector<std::string> plugins;
};
/// Writes text with the reference interpreter: slow, and right.
int generateByReference(const ReferenceOptions &options);

struct PluginsOptions {
  std::vector<std::string> plugins;
  bool json = false;
};
int listPlugins(const PluginsOptions &options);

struct CacheOptions {
  bool json = false;
  std::string keep; ///< how much stays; empty: nothing
};
/// The models that commands compiled by themselves.
int listCache(const CacheOptions &options);
/// Removes them, the least recently used first.
int cleanCache(const CacheOptions &options);

struct NewPluginOptions {
  std::string name;
  std::string folder; ///< empty: a folder of that name in the current one
};
/// Writes a plugin of this name that builds and passes its tests (share/tilewright/template, renamed).
int newPlugin(const NewPluginOptions &options);

/// SIGINT, SIGTERM and SIGHUP then remove what this process has not finished, and end it with the exit code
/// Interrupted.
void cleanUpOnInterrupt();
/// Sends on what was printed. `code`, or when that was Success and printing has failed, the exit code for that.
int endOutput(int code);

} // namespace tilewright::driver
