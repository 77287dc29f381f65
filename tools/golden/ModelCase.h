// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Golden cases that are whole models: a folder with a model (config.json and safetensors, or model.gguf) and
// io.safetensors.
#pragma once

#include "tools/golden/RunCase.h"

#include <string>
#include <vector>

namespace tilewright {

/// Whether `folder` holds such a case.
bool isModelCase(llvm::StringRef folder);

/// Imports the model and runs its parts `plain`, `padded`, `gen` and `gen_padded`, those that are there: logits of each
/// token that is no padding, and the tokens chosen greedily, step by step. With the CPU backend the model is compiled
/// and runs in the runtime, and its attention has to be fused.
CaseResult runModelCase(const std::string &folder, const GoldenRun &run, const std::vector<std::string> &plugins);

} // namespace tilewright
