// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs over states, run step by step: rows are appended, and what kernels read from pages is compared with what the
// reference reads from its rows.
#pragma once

#include "tools/conformance/Fallbacks.h"

namespace tilewright::conformance {

/// Several sequences that grow, from nothing.
struct Schedule {
  int64_t sequences;
  llvm::SmallVector<int64_t> rows; ///< of each step, shared among the sequences
};

/// Long and short prompts, single rows, sequences without a row, pages that fill up in the middle of a step.
llvm::ArrayRef<Schedule> schedules();

using StepResults = std::vector<std::vector<reference::RunValue>>;

/// The results of each step of a schedule, by the interpreter in f64. The program says which rows are of which
/// sequence.
llvm::Expected<StepResults> interpretSteps(const Program &program, const Schedule &schedule);

/// A program over states, compiled for each class of steps that it is run with.
class SteppedKernel {
public:
  SteppedKernel(const Environment &environment, const Program &program, unsigned threads);
  ~SteppedKernel();

  /// The results of each step of a schedule; states are empty before the first.
  llvm::Expected<StepResults> run(const Environment &environment, const Schedule &schedule);

  /// Why `op` is compiled by its reference lowering in steps of so many rows that have run; "" when it is not.
  std::string fallback(int64_t rows, llvm::StringRef op) const;

private:
  struct Compiled;
  Fallbacks fallbacks;
  const Program &program;
  std::unique_ptr<Compiled> compiled;
};

/// "'ragged', step 2 of 135, 2, 7 rows in 2 sequences"
std::string stepText(const Program &program, const Schedule &schedule, size_t step);

} // namespace tilewright::conformance
