// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What every command that runs a model shares: its options, loading, sessions.
#pragma once

#include "tools/tilewright/Commands.h"

#include "runtime/api/tilewright.h"

#include <memory>
#include <vector>

namespace tilewright::cli {

struct ModelOptions {
  std::string path;
  std::string numerics; ///< empty: not given
  std::vector<std::string> plugins;
  std::string level;
  std::string kvType = "f32";
  int threads = 0;
  int context = 0;
  bool checkWeights = false;
  bool quiet = false;
  std::string trace; ///< file
};

/// Adds the model argument and the options that loading one has.
void addModelOptions(CLI::App &command, ModelOptions &options);

struct ModelDeleter {
  void operator()(tw_model *model) const { tw_model_release(model); }
};
struct SessionDeleter {
  void operator()(tw_session *session) const { tw_session_release(session); }
};
using ModelPointer = std::unique_ptr<tw_model, ModelDeleter>;
using SessionPointer = std::unique_ptr<tw_session, SessionDeleter>;

/// Whether a loaded model has told of an error that no call returned: of a trace that could not be written.
bool hasLoggedError();

/// Loads the artifact (compiling a .gguf or .twg into the cache first); throws Failure, before any work when one of the
/// files `outputs`, or the trace, is one that the model or that `inputs` is read from.
ModelPointer loadModel(const ModelOptions &options, std::vector<std::string> outputs = {},
                       const std::vector<std::string> &inputs = {});
SessionPointer newSession(tw_model *model);

/// Appends `tokens` and returns the logits behind the last one.
std::vector<float> step(tw_model *model, tw_session *session, const std::vector<int32_t> &tokens);

std::vector<int32_t> tokenize(const tw_model *model, const std::string &text, bool parseSpecial);

} // namespace tilewright::cli
