// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plain functions of `tw` and plugins' ops, tensors to tensors, compiled by the CPU backend and run in this process:
// what the interpreter can run, without a model, tokens or an artifact around it.
#pragma once

#include "backends/cpu/Level.h"
#include "backends/reference/Tensor.h"
#include "backends/reference/Weights.h"
#include "passes/api/Stages.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <memory>
#include <string>

namespace tilewright {

struct FunctionOptions {
  const CpuLevel *level = nullptr;         ///< null: the highest level of this machine
  std::string numerics = "precise";        ///< or "fast"
  std::string firstStage = "tile";         ///< the stages from here to `tile` run; "simplify" for all that a model has
  std::vector<std::string> withoutKernels; ///< names of ops that are compiled by their reference lowering
  unsigned threads = 1;                    ///< that share the chunks of a kernel
};

/// One function of a module. Dynamic dimensions of its arguments take the shapes of the arrays it is called with; each
/// combination of shapes is compiled once.
class CompiledFunction {
public:
  /// Function `name` of `module`, which is copied. `stages` (with the plugins' passes) and `weights` (bytes of extern
  /// globals) must outlive the object. A function whose arguments have static shapes is compiled here, others at their
  /// first call. Fails with diagnostics: no such function, an argument that is no tensor, an op without a compiled
  /// form.
  static mlir::FailureOr<std::unique_ptr<CompiledFunction>> create(mlir::ModuleOp module, llvm::StringRef name,
                                                                   const StageRegistry &stages,
                                                                   reference::WeightProvider &weights,
                                                                   const FunctionOptions &options = {});
  ~CompiledFunction();

  /// Runs the function; inputs and results are as the interpreter's (backends/reference/Interpreter.h), rounded to
  /// their element types. Fails with diagnostics: a number, kind or shape of inputs that the function does not take; an
  /// index outside of its table, or segments outside of their rows, that follow from integers among them (what is
  /// computed from floats reads the nearest row); a kernel that wrote outside of its results.
  mlir::FailureOr<std::vector<reference::Tensor>> run(llvm::ArrayRef<reference::Tensor> inputs);

  /// Time that the kernels of the last call took: without its compilation, conversion of numbers and packing of
  /// weights.
  double kernelSeconds() const;

  /// The program for the shapes of the last call (or the static ones): dispatches and kernels. Null before the first.
  mlir::ModuleOp program() const;

private:
  struct Program;
  CompiledFunction(mlir::OwningOpRef<mlir::ModuleOp> module, std::string name, const StageRegistry &stages,
                   reference::WeightProvider &weights, const FunctionOptions &options);
  mlir::FailureOr<Program *> programFor(llvm::ArrayRef<llvm::SmallVector<int64_t>> shapes);

  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string name;
  const StageRegistry &stages;
  reference::WeightProvider &weights;
  FunctionOptions options;
  std::map<std::vector<int64_t>, std::unique_ptr<Program>> programs; ///< by all dimensions of all arguments
  Program *last = nullptr;
};

} // namespace tilewright
