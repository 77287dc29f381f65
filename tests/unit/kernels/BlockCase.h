// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks of the plugins that are loaded: what one use of a block builds, or what is said about it.
#pragma once

#include "frontend/api/Block.h"
#include "tests/unit/kernels/FunctionCase.h"

#include "mlir/AsmParser/AsmParser.h"

namespace tilewright::test {

inline const BlockRegistry &blocks() {
  static const auto *shared = new BlockRegistry(host().plugins.blocks());
  return *shared;
}

using GivenOptions = std::map<std::string, BlockValue>;

/// A module with function @f, one use of block `name` on inputs of these types. Null when it fails; what was said, if
/// anything, is in `said`.
inline mlir::OwningOpRef<mlir::ModuleOp> buildBlock(llvm::StringRef name, const GivenOptions &options,
                                                    llvm::ArrayRef<llvm::StringRef> inputTypes, std::string &said,
                                                    const BlockBody &body = {}) {
  mlir::ScopedDiagnosticHandler handler(&context(), [&](mlir::Diagnostic &d) { said += d.str(); });
  auto module = mlir::OwningOpRef<mlir::ModuleOp>(mlir::ModuleOp::create(mlir::UnknownLoc::get(&context())));
  std::vector<std::pair<std::string, mlir::RankedTensorType>> inputs;
  for (auto [i, text] : llvm::enumerate(inputTypes))
    inputs.emplace_back("x" + std::to_string(i), mlir::cast<mlir::RankedTensorType>(mlir::parseType(text, &context())));
  auto function = buildBlockFunction(*module, "f", blocks(), inputs, [&](BlockBuilder &b, mlir::ValueRange in) {
    return b.block(name, options, in, body);
  });
  if (failed(function))
    return {};
  return module;
}

/// The function as text, or what was said instead.
inline std::string builtBlock(llvm::StringRef name, const GivenOptions &options,
                              llvm::ArrayRef<llvm::StringRef> inputTypes, const BlockBody &body = {}) {
  std::string said;
  auto module = buildBlock(name, options, inputTypes, said, body);
  if (!module)
    return said;
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  return text;
}

/// Compiles the block and compares it with the reference on random inputs and parameters; `shapes` are those of the
/// inputs.
inline void expectBlockAgreement(llvm::StringRef name, const GivenOptions &options,
                                 llvm::ArrayRef<llvm::StringRef> inputTypes, Shapes shapes, double bound,
                                 const BlockBody &body = {}) {
  std::string said;
  auto module = buildBlock(name, options, inputTypes, said, body);
  ASSERT_TRUE(module) << said;
  auto function = module->lookupSymbol<mlir::func::FuncOp>("f");
  for (mlir::Type type : function.getArgumentTypes().drop_front(shapes.size()))
    shapes.emplace_back(mlir::cast<mlir::RankedTensorType>(type).getShape());
  FunctionOptions compile;
  compile.numerics = "precise";
  compile.firstStage = "simplify";
  expectAgreement(*module, "f", shapes, bound, /*largestIndex=*/1, compile);
}

} // namespace tilewright::test
