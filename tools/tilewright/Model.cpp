// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/tilewright/Model.h"

#include "runtime/api/Requests.h"
#include "runtime/exec/Log.h"
#include "tools/files/InputFiles.h"
#include "tools/options/Options.h"
#include "tools/progress/Progress.h"

#include <atomic>
#include <optional>

namespace tilewright::cli {

void addModelOptions(CLI::App &command, ModelOptions &options) {
  command
      .add_option("model", options.path,
                  "A compiled model (folder), or a .gguf or .twg file or a folder with a config.json to compile into "
                  "the cache first")
      ->required();
  command.add_option("--threads", options.threads, "Threads to use (default: all CPUs of this process)")
      ->check(CLI::Range(1, 1024));
  command.add_option("--context", options.context, "Tokens a session may hold (default: the model's own)")
      ->check(numberFrom(1));
  command.add_option("--level", options.level, "Level of compiled code to run (default: the best this CPU has)")
      ->check(notEmpty("a level"));
  command
      .add_option("--kv-type", options.kvType,
                  "What the K/V caches hold; bf16 halves their memory, for models compiled with numerics fast")
      ->check(CLI::IsMember({"f32", "bf16"}))
      ->capture_default_str();
  command.add_option("--numerics", options.numerics, "precise or fast, when a model file is compiled first")
      ->check(CLI::IsMember({"precise", "fast"}))
      ->default_str("fast");
  command.add_option("--plugin", options.plugins, "A plugin (file or name), when a model file is compiled first");
  command
      .add_option("--trace", options.trace,
                  "File to write what each thread does when to, for ui.perfetto.dev or chrome://tracing")
      ->check(notEmpty("a file"));
  command.add_flag("--check-weights", options.checkWeights, "Verify the hashes of all weights at load");
  command.add_flag("--quiet", options.quiet, "No progress, no statistics");
}

static void checkOutputs(const ModelOptions &options, std::vector<std::string> outputs,
                         const std::vector<std::string> &inputs) {
  std::error_code unreadable; // loading it tells why
  const std::vector<std::string> model = modelFiles(options.path, unreadable);
  outputs.push_back(options.trace);
  for (const std::string &output : outputs) {
    std::optional<std::string> problem = overwrites(output, model, "the model is");
    if (!problem)
      problem = overwrites(output, inputs, "the inputs are");
    if (problem)
      throw Failure(BadInput, *problem);
  }
}

static std::atomic<bool> errorLogged{false};

bool hasLoggedError() { return errorLogged; }

static void interruptAndPrint(void *, tw_log_level level, const char *message) {
  if (level == TW_LOG_ERROR)
    errorLogged = true;
  Progress::interrupt();
  printMessage(level, message);
}

ModelPointer loadModel(const ModelOptions &options, std::vector<std::string> outputs,
                       const std::vector<std::string> &inputs) {
  checkOutputs(options, std::move(outputs), inputs);
  const std::string folder = artifactFor(options.path, options.numerics, options.plugins, options.quiet);
  Progress progress(options.quiet);
  progress.step("loading " + options.path);
  tw_model_options wanted = {};
  wanted.size = sizeof wanted;
  wanted.threads = options.threads;
  wanted.context = options.context;
  wanted.level = options.level.empty() ? nullptr : options.level.c_str();
  wanted.check_weights = options.checkWeights;
  wanted.kv_type = options.kvType.c_str();
  wanted.trace = options.trace.empty() ? nullptr : options.trace.c_str();
  wanted.log = interruptAndPrint;
  tw_model *model = nullptr;
  check(tw_model_load(folder.c_str(), &wanted, &model), "");
  progress.done();
  return ModelPointer(model);
}

SessionPointer newSession(tw_model *model) {
  tw_session *session = nullptr;
  check(tw_session_create(model, &session), "");
  return SessionPointer(session);
}

std::vector<float> step(tw_model *model, tw_session *session, const std::vector<int32_t> &tokens) {
  std::vector<float> logits(static_cast<size_t>(tw_model_vocab_size(model)));
  const tw_step_request request = stepRequest(session, tokens, logits.data());
  check(tw_step(model, &request, 1), "");
  return logits;
}

std::vector<int32_t> tokenize(const tw_model *model, const std::string &text, bool parseSpecial) {
  std::vector<int32_t> ids(text.size() + 16);
  int64_t count = 0;
  auto fill = [&] {
    return tw_tokenize(model, text.data(), text.size(), parseSpecial, ids.data(), static_cast<int64_t>(ids.size()),
                       &count);
  };
  tw_status status = fill();
  // Normalization may make a text longer.
  if (status == TW_EXHAUSTED && count > static_cast<int64_t>(ids.size())) {
    ids.resize(static_cast<size_t>(count));
    status = fill();
  }
  check(status, "");
  ids.resize(static_cast<size_t>(count));
  return ids;
}

} // namespace tilewright::cli
