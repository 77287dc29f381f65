// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Base of the passes that depend on a level: given by the pipeline, or by name on the command line.
#pragma once

#include "backends/cpu/Level.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace tilewright {

/// A pass on kernels with the option `level=NAME` (default: avx512).
template <typename Derived, typename Op = mlir::func::FuncOp>
class CpuLevelPass : public mlir::PassWrapper<Derived, mlir::OperationPass<Op>> {
public:
  CpuLevelPass() = default;
  explicit CpuLevelPass(const CpuLevel *given) {
    if (given)
      levelName = given->name.str();
  }
  CpuLevelPass(const CpuLevelPass &other) : mlir::PassWrapper<Derived, mlir::OperationPass<Op>>(other) {
    levelName = other.levelName.getValue();
    level = other.level; // passes are cloned for other threads after they are initialised
  }

  mlir::LogicalResult initialize(mlir::MLIRContext *context) override {
    llvm::Expected<const CpuLevel *> found = CpuLevel::find(levelName);
    if (!found)
      return mlir::emitError(mlir::UnknownLoc::get(context)) << llvm::toString(found.takeError());
    level = *found;
    return mlir::success();
  }

protected:
  const CpuLevel *level = nullptr;

private:
  mlir::Pass::Option<std::string> levelName{*this, "level", llvm::cl::desc("CPU level: avx2, avx512 or avx512bf16"),
                                            llvm::cl::init("avx512")};
};

} // namespace tilewright
