// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks of the plugins that are loaded: what one use of a block builds, or what is said about it.
#pragma once

#include "tests/unit/kernels/FunctionCase.h"
#include "tests/unit/support/BuiltBlock.h"

namespace tilewright::test {

inline const BlockRegistry &blocks() {
  static const auto *shared = new BlockRegistry(host().plugins.blocks());
  return *shared;
}

/// The function as text, or what was said instead.
inline std::string builtBlock(llvm::StringRef name, const GivenOptions &options,
                              llvm::ArrayRef<llvm::StringRef> inputTypes, const BlockBody &body = {}) {
  return buildBlock(context(), blocks(), name, options, parseTypes(context(), inputTypes), body).text();
}

/// Compiles the block and compares it with the reference on random inputs and parameters; `shapes` are those of the
/// inputs. Integers are 0 or 1.
inline void expectBlockAgreement(llvm::StringRef name, const GivenOptions &options,
                                 llvm::ArrayRef<llvm::StringRef> inputTypes, Shapes shapes, double bound,
                                 const BlockBody &body = {}) {
  BuiltBlock block = buildBlock(context(), blocks(), name, options, parseTypes(context(), inputTypes), body);
  ASSERT_TRUE(block.module) << block.said;
  for (mlir::Type type : block.function().getArgumentTypes().drop_front(shapes.size()))
    shapes.emplace_back(mlir::cast<mlir::RankedTensorType>(type).getShape());
  FunctionOptions compile;
  compile.numerics = "precise";
  compile.firstStage = "simplify";
  expectAgreement(*block.module, "f", shapes, bound, /*largestIndex=*/2, compile);
}

} // namespace tilewright::test
