// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the passes that build kernels share: which form of them is wanted, and the dialects that they are written in.
#pragma once

#include "ir/tile/Tile.h"
#include "ir/tw/Tw.h"
#include "passes/tile/GroupKernel.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

namespace tilewright {

template <typename Derived>
class KernelFormPass : public mlir::PassWrapper<Derived, mlir::OperationPass<mlir::ModuleOp>> {
  using Base = mlir::PassWrapper<Derived, mlir::OperationPass<mlir::ModuleOp>>;

public:
  KernelFormPass() = default;
  KernelFormPass(llvm::StringRef shapeClassName, llvm::StringRef mode, llvm::StringRef kvElement) {
    shapeClass = shapeClassName.str();
    numerics = mode.str();
    kvType = kvElement.str();
  }
  KernelFormPass(const KernelFormPass &other) : Base(other) {
    shapeClass = other.shapeClass.getValue();
    numerics = other.numerics.getValue();
    kvType = other.kvType.getValue();
  }

  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    registry.insert<mlir::affine::AffineDialect, mlir::arith::ArithDialect, mlir::bufferization::BufferizationDialect,
                    mlir::linalg::LinalgDialect, mlir::math::MathDialect, mlir::memref::MemRefDialect,
                    mlir::scf::SCFDialect, mlir::tensor::TensorDialect, tile::TileDialect, tw::TwDialect>();
  }

protected:
  /// What the options ask for; fails with a diagnostic on the module when one of them is unknown.
  mlir::FailureOr<KernelForm> wantedForm() {
    const ShapeClass *found = findShapeClass(shapeClass);
    auto fail = [&] { return this->getOperation().emitError(this->getArgument()); };
    if (!found)
      return fail() << ": unknown shape class '" << shapeClass << "', wanted decode, small or prefill";
    if (kvType != "f32" && kvType != "bf16")
      return fail() << ": unknown kv-type '" << kvType << "', wanted f32 or bf16";
    return KernelForm{*found, numerics, kvType == "bf16"};
  }

private:
  template <typename T> using Option = typename Base::template Option<T>;

  Option<std::string> shapeClass{*this, "shape-class", llvm::cl::desc("decode, small or prefill"),
                                 llvm::cl::init("decode")};
  Option<std::string> numerics{*this, "numerics", llvm::cl::desc("precise or fast"), llvm::cl::init("precise")};
  Option<std::string> kvType{*this, "kv-type", llvm::cl::desc("How states of f32 are kept: f32 or bf16"),
                             llvm::cl::init("f32")};
};

} // namespace tilewright
