// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A model as verify sees it, whatever runs it: tokens in, logits out (of an encoder without logits its first output).
#pragma once

#include "backends/reference/Interpreter.h"
#include "tools/driver/ModelShape.h"
#include "tools/driver/Session.h"

#include "llvm/ADT/StringMap.h"

#include <map>

namespace tilewright::driver {

/// Inputs of rows besides tokens and positions: a number for each token; what is absent is zeros.
using RowInputs = llvm::StringMap<std::vector<int32_t>>;

/// Rows of outputs by name, each as the logits are.
using OutputRows = std::map<std::string, std::vector<double>>;

class LogitsModel {
public:
  virtual ~LogitsModel() = default;
  /// Forgets everything appended so far.
  virtual llvm::Error reset() = 0;
  /// Reads the source of an encoder-decoder, which steps see until the next reset.
  virtual llvm::Error encode(llvm::ArrayRef<int32_t> tokens, const RowInputs &inputs = {}) = 0;
  /// Appends tokens and returns their logits, [tokens, vocab] row-major; with `lastOnly`, [1, vocab]. An encoder reads
  /// each step as a sequence of its own. An encoder-decoder that has read no source reads these tokens as one.
  /// `outputs` gets all further outputs.
  virtual llvm::Expected<std::vector<double>> step(llvm::ArrayRef<int32_t> tokens, bool lastOnly = false,
                                                   const RowInputs &inputs = {}, OutputRows *outputs = nullptr) = 0;
  /// Numbers of a row: the vocabulary, or those of the output that stands for logits.
  virtual int64_t vocab() const = 0;
  virtual bool hasLogits() const = 0;
  /// "precise" or "fast" for a compiled model; "f32" or "f64" for the interpreter.
  virtual std::string numerics() const = 0;
};

/// A compiled model, through the runtime's C interface. `kvType`: what its K/V caches hold; empty: its default. Fails
/// where it is not of the shape `wanted`; null: of any.
llvm::Expected<std::unique_ptr<LogitsModel>> artifactModel(const std::string &folder, const std::string &kvType,
                                                           const ModelShape *wanted = nullptr);

} // namespace tilewright::driver
