// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference: runs functions of a module op by op, in f32 or f64. Slow, short, obviously right.
#pragma once

#include "backends/reference/Tensor.h"
#include "backends/reference/Weights.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tilewright::reference {

enum class Precision {
  F32,
  F64,
  Unrounded ///< as F64, and numbers of types narrower than f32 are not rounded to them: smooth, for derivatives
};

/// Called behind each op that has run, with its results; a state is an opaque handle.
using Tap = std::function<void(mlir::Operation *op, llvm::ArrayRef<RunValue> results)>;
/// Called before and behind the body of each call of a function, with the call.
using CallTap = std::function<void(mlir::Operation *call, bool begins)>;

class Interpreter {
public:
  /// Copies the module and replaces technique ops in the copy by core ops (their reference lowering). `weights` must
  /// outlive the interpreter. Fails with diagnostics.
  static mlir::FailureOr<std::unique_ptr<Interpreter>> create(mlir::ModuleOp module, WeightProvider &weights,
                                                              Precision precision);
  virtual ~Interpreter();

  /// Runs a function of the module. A state goes in as it came out of an earlier run, or empty; so a model generates
  /// step by step. Tensors must have the arguments' ranks, static sizes and kind (floats or integers). Fails with
  /// diagnostics: what a shape or index is at run time and what was wanted, or a failed assertion.
  virtual mlir::FailureOr<std::vector<RunValue>> run(llvm::StringRef function, std::vector<RunValue> inputs) = 0;

  /// Set from now on; empty: none.
  void setTap(Tap newTap, CallTap newCallTap = {}) {
    tap = std::move(newTap);
    callTap = std::move(newCallTap);
  }

  /// What a state of this interpreter holds.
  virtual StateRows<double> rowsOf(const StateHandle &state) const = 0;

  /// The copy that runs; ops given to the tap are its.
  mlir::ModuleOp module() const { return *lowered; }

protected:
  Interpreter(mlir::OwningOpRef<mlir::ModuleOp> lowered, WeightProvider &weights)
      : lowered(std::move(lowered)), weights(weights) {}

  mlir::OwningOpRef<mlir::ModuleOp> lowered;
  WeightProvider &weights;
  Tap tap;
  CallTap callTap;
};

} // namespace tilewright::reference
