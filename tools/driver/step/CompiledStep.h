// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An artifact's compiled steps, phase by phase, for code without exceptions: the caller runs the kernels, and sees and
// may change what they read and write.
#pragma once

#include "runtime/api/abi.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tilewright {

/// The pages of one state buffer: page p of one sequence's tokens [64 p, 64 p + 64) stands p-th.
struct StatePool {
  int64_t heads = 0, dim = 0;
  bool transposed = false; ///< a page is [heads][dim][64], else [heads][64][dim]
  std::vector<float> values;

  /// Element `d` of head `h` of token `token`.
  float &at(int64_t token, int64_t h, int64_t d);
};

/// One kernel as it was compiled.
struct CompiledKernel {
  std::string name, variant;
};

/// One sequence on one artifact.
class CompiledStep {
public:
  /// Runs a phase's works; a result other than 0 ends the step.
  using Phase = std::function<int32_t(const tw_abi_work &work)>;

  /// Loads the artifact in `folder` at its strongest level that runs here, with room for `tokens` tokens. Null, with a
  /// message, on failure.
  static std::unique_ptr<CompiledStep> open(const std::string &folder, int64_t tokens, std::string &error);
  ~CompiledStep();

  const std::string &level() const { return levelName; }
  const std::string &numerics() const { return mode; }
  /// Of the level.
  std::span<const CompiledKernel> kernels() const { return kernelList; }
  /// Number of the variant (shape class) that takes `rows` rows.
  size_t variantFor(int64_t rows) const;
  /// All state buffers, in manifest order.
  std::vector<StatePool> &pools() { return poolList; }
  int64_t length() const { return held; }
  /// Forgets all tokens.
  void reset();

  /// Appends `tokens` (which must have room) and computes the logits of each, [tokens, vocab]; where steps read whole
  /// sequences, in place of all before. `encodes`: reads them as the sequence's source, with which it begins anew.
  /// False, with a message, when the step ended early.
  bool run(bool encodes, std::span<const int32_t> tokens, const Phase &phase, std::vector<float> &logits,
           std::string &error);

private:
  struct Loaded;
  CompiledStep();

  std::unique_ptr<Loaded> loaded;
  std::string levelName, mode;
  std::vector<CompiledKernel> kernelList;
  std::vector<StatePool> poolList;
  bool isWhole = false; ///< each step is a whole sequence
  int64_t held = 0, source = 0, room = 0, vocabulary = 0;
};

} // namespace tilewright
