// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A model as verify sees it, whatever runs it: tokens in, logits out.
#pragma once

#include "backends/reference/Interpreter.h"
#include "tools/driver/Session.h"

namespace tilewright::driver {

class LogitsModel {
public:
  virtual ~LogitsModel() = default;
  /// Forgets everything appended so far.
  virtual llvm::Error reset() = 0;
  /// Appends tokens and returns their logits, [tokens, vocab] row-major; with `lastOnly`, [1, vocab].
  virtual llvm::Expected<std::vector<double>> step(llvm::ArrayRef<int32_t> tokens, bool lastOnly = false) = 0;
  virtual int64_t vocab() const = 0;
  /// "precise" or "fast" for a compiled model; "f32" or "f64" for the interpreter.
  virtual std::string numerics() const = 0;
};

/// A compiled model, through the runtime's C interface. `kvType`: what its K/V caches hold; empty: its default.
llvm::Expected<std::unique_ptr<LogitsModel>> artifactModel(const std::string &folder, const std::string &kvType);

} // namespace tilewright::driver
