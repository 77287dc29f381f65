// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The words behind --speculate.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tilewright::speculative_decoding {

struct Options {
  enum class Source { Ngram, DraftModel, PredictionHeads };
  static constexpr int64_t mostDrafted = 16;

  Source source = Source::Ngram;
  std::string draftModel;       ///< folder
  int64_t drafted = 5;          ///< tokens at a time, at most
  double lossyThreshold = 0;    ///< Judgement::lossyThreshold
  bool lossyUnverified = false; ///< whatever is drafted stands
};

/// `ngram[:K]`, `draft:FOLDER` or `mtp`, then `,max=K`, `,lossy-threshold=P` and `,lossy-unverified` in any order.
/// Throws Fault(INVALID) with what was found and wanted.
Options parseOptions(std::string_view words);

} // namespace tilewright::speculative_decoding
