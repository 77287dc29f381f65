// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled steps held against the reference group by group.
#pragma once

#include "tools/driver/Compiler.h"
#include "tools/driver/GroupContracts.h"
#include "tools/driver/ReferenceStream.h"
#include "tools/driver/step/CompiledStep.h"

namespace tilewright::driver {

/// The largest error of one value at a fusion boundary.
struct ValueError {
  std::string layer; ///< label of the function's run
  std::string ops, type;
  std::string shapeClass; ///< where the error is largest
  std::string kernel;     ///< that made it there
  double error = 0;       ///< largest |difference|
  double allowed = 0;     ///< by the group's contract
  double magnitude = 0;   ///< largest |reference|
  int64_t at = 0;         ///< index of the error's element, row-major
  double found = 0, wanted = 0;
  NumericsBound bound;
  /// Written so that NaN fails.
  bool holds() const { return error <= allowed; }
};

/// One program of an artifact, traced.
struct TracedClass {
  std::string name; ///< of the shape class
  DispatchTrace trace;
  std::map<ValueTag, GroupResult> groups;
};

/// `program` was formed from `graph`, which has tags.
TracedClass traceClass(mlir::ModuleOp graph, const ClassProgram &program, llvm::StringRef entry,
                       llvm::StringRef numerics);

/// A prompt long enough for a step of each shape class.
const std::vector<std::string> &stepPrompts();

/// Runs compiled steps and the reference side by side: behind each dispatch, its results are compared with the
/// reference's values and replaced by them, so that the next group has the reference's inputs and errors do not add up.
class StepCheck {
public:
  /// `classes`: one per variant of the artifact's steps, in its order; `sources`: one per variant of what reads
  /// sources. All arguments outlive this.
  StepCheck(CompiledStep &step, ReferenceModel &truth, const std::vector<TracedClass> &classes,
            const std::vector<TracedClass> &sources);

  /// A new sequence of `tokens`, at least one, in a step of each shape class that they are enough for; before it, where
  /// sources are read, one of `tokens`, and the last tokens alone, for the other classes.
  llvm::Error runPrompt(llvm::ArrayRef<int32_t> tokens);

  /// Of all steps so far, in program order.
  std::vector<ValueError> errors() const;
  /// Dispatches that ran, and how many of them made a value of the graph.
  size_t dispatches() const { return ran; }
  size_t compared() const { return checked; }

private:
  using Key = std::pair<CallPath, ValueTag>;

  llvm::Error run(llvm::ArrayRef<int32_t> tokens, bool encodes);
  void check(const TracedClass &own, const TracedDispatch &dispatch, void *const *arguments);
  void checkTensor(ValueError &error, const reference::Tensor &truth, float *found);
  void checkState(ValueError &error, const reference::StateRows<double> &truth, llvm::ArrayRef<void *> pools);
  void note(ValueError &error, double truth, double found, int64_t at);
  void record(Key key, ValueError error);

  CompiledStep &step;
  ReferenceModel &truth;
  const std::vector<TracedClass> &classes, &sources;
  ReferenceStream stream;
  std::string problem; ///< why the running step cannot go on
  std::map<Key, size_t> places;
  std::vector<ValueError> all;
  size_t ran = 0, checked = 0;
};

} // namespace tilewright::driver
