// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole sequences through a model, several in one step, without padding.
#pragma once

#include "tools/tilewright/Model.h"

#include <functional>
#include <map>
#include <span>
#include <string>

namespace tilewright::cli {

/// Tokens with what else the model takes for each of them.
struct Rows {
  std::vector<int32_t> tokens;
  std::vector<int32_t> positions = {};                     ///< empty: they count on
  std::map<std::string, std::vector<int32_t>> inputs = {}; ///< by name; absent ones are zeros
};

struct Sequence {
  Rows rows;
  Rows source = {}; ///< of an encoder-decoder
};

/// A result that is wanted of each row.
struct WantedResult {
  std::string name;           ///< "logits", or an output's
  std::vector<int64_t> shape; ///< of a row
  int64_t size;               ///< numbers of a row
};

/// The wanted results by name; none named: all that the model has. Throws Failure for a name that it does not have.
std::vector<WantedResult> wantedResults(const tw_model *model, const std::vector<std::string> &names);

/// `rows[i]` is result number i of sequence `index`, [tokens][its size].
using SequenceResults = std::function<void(size_t index, std::span<const std::vector<float>> rows)>;

/// Runs all sequences, each at least one token long. Throws Failure with what a step says.
void runSequences(tw_model *model, std::span<const Sequence> sequences, const std::vector<WantedResult> &wanted,
                  const SequenceResults &take);

} // namespace tilewright::cli
