// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions over growing states, compiled by the CPU backend and run in this process step by step, as a model's layers
// are: rows of several sequences at a time, keys and values in pages.
#pragma once

#include "tools/functions/CompiledFunction.h"
#include "tools/functions/StatePages.h"

namespace tilewright {

class CompiledProgram;

/// One function of a module. Its tensors have static dimensions but for the first, which may count the step's rows (in
/// `tw.dims` or `tw.symbols`: "N", as without a name) or, in arguments, sequences. Its states are arguments that it
/// appends to; all hold rows of the same sequences.
class SteppedFunction {
public:
  /// `stages` and `weights` must outlive the object. Room is for `pages` pages of 64 rows. Fails with diagnostics: no
  /// such function, an argument or result that is none of the above.
  static mlir::FailureOr<std::unique_ptr<SteppedFunction>> create(mlir::ModuleOp module, llvm::StringRef name,
                                                                  const StageRegistry &stages,
                                                                  reference::WeightProvider &weights, int64_t pages,
                                                                  const FunctionOptions &options = {});
  ~SteppedFunction();

  /// Empties the states: the next step is the first.
  void restart();
  /// One step: rows [rowStart[b], rowStart[b + 1]) of the inputs belong to sequence b, behind those of earlier steps.
  /// Inputs are as the interpreter's, that of a state is left empty; so are results. Programs are compiled when a step
  /// of their class is first run. Rows between the step's and its padding hold NaN, and so do pages that nothing was
  /// appended to. Fails with diagnostics, as CompiledFunction::run does, also when there are too few pages.
  mlir::FailureOr<std::vector<reference::Tensor>> run(llvm::ArrayRef<reference::Tensor> inputs,
                                                      llvm::ArrayRef<int64_t> rowStart);

private:
  SteppedFunction(mlir::OwningOpRef<mlir::ModuleOp> module, std::string name, const StageRegistry &stages,
                  reference::WeightProvider &weights, int64_t pages, const FunctionOptions &options);
  void makePools();
  mlir::FailureOr<CompiledProgram *> programFor(const ShapeClass &shapeClass);
  struct Pools;

  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string name;
  const StageRegistry &stages;
  reference::WeightProvider &weights;
  FunctionOptions options;
  int64_t pageCount;
  StatePages pages;
  std::unique_ptr<Pools> pools;
  std::map<std::string, std::unique_ptr<CompiledProgram>> programs; ///< by shape class
};

} // namespace tilewright
