// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Texts to vectors: `tilewright run --text`.
#pragma once

#include "tools/tilewright/Commands.h"

#include "runtime/api/tilewright.h"

#include <string>
#include <vector>

namespace tilewright::cli {

struct EmbedOptions {
  std::vector<std::string> texts;
  std::string textFile; ///< one text a line
  std::string pool = "mean";
  bool normalize = false, json = false;
  std::string output;               ///< safetensors file
  std::vector<std::string> results; ///< the output that is pooled, if named
};

/// Writes "embeddings" [texts, E], or with pool none "embeddings.N" [tokens, E] of each text; as JSON a list of lists.
/// Throws Failure.
void embedTexts(tw_model *model, const EmbedOptions &options);

} // namespace tilewright::cli
