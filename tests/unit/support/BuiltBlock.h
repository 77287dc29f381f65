// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One use of a block: the function that it makes, or what is said instead.
#pragma once

#include "frontend/api/Block.h"
#include "ir/tw/Tw.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Regex.h"
#include "gtest/gtest.h"

namespace tilewright::test {

using GivenOptions = std::map<std::string, BlockValue>;

struct BuiltBlock {
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< holds @f; null when the block failed
  std::string said;

  mlir::func::FuncOp function() { return module->lookupSymbol<mlir::func::FuncOp>("f"); }
  /// The function, or what was said instead.
  std::string text() {
    std::string result = said;
    if (module)
      llvm::raw_string_ostream(result) << *function();
    return result;
  }
};

/// @f: block `name` on inputs x0, x1, ... of these types.
inline BuiltBlock buildBlock(mlir::MLIRContext &context, const BlockRegistry &blocks, llvm::StringRef name,
                             const GivenOptions &options, llvm::ArrayRef<mlir::RankedTensorType> types,
                             const BlockBody &body = {}) {
  BuiltBlock built;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) { built.said += d.str(); });
  mlir::OwningOpRef<mlir::ModuleOp> module(mlir::ModuleOp::create(mlir::UnknownLoc::get(&context)));
  std::vector<std::pair<std::string, mlir::RankedTensorType>> inputs;
  for (auto [i, type] : llvm::enumerate(types))
    inputs.emplace_back("x" + std::to_string(i), type);
  auto function = buildBlockFunction(*module, "f", blocks, inputs, [&](BlockBuilder &b, mlir::ValueRange in) {
    return b.block(name, options, in, body);
  });
  if (succeeded(function))
    built.module = std::move(module);
  else
    EXPECT_TRUE(module->getBody()->empty()) << "a failed function stays behind";
  return built;
}

inline std::vector<mlir::RankedTensorType> parseTypes(mlir::MLIRContext &context,
                                                      llvm::ArrayRef<llvm::StringRef> texts) {
  std::vector<mlir::RankedTensorType> types;
  for (llvm::StringRef text : texts)
    types.push_back(mlir::cast<mlir::RankedTensorType>(mlir::parseType(text, &context)));
  return types;
}

inline testing::AssertionResult hasText(llvm::StringRef text, llvm::StringRef part) {
  if (text.contains(part))
    return testing::AssertionSuccess() << part.str() << " is in\n" << text.str();
  return testing::AssertionFailure() << part.str() << " is not in\n" << text.str();
}

inline testing::AssertionResult hasMatch(llvm::StringRef text, llvm::StringRef regex) {
  if (llvm::Regex(regex).match(text))
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << regex.str() << " matches nothing in\n" << text.str();
}

/// Tests of blocks that need no dialects but core's and these.
template <typename... Dialects> class BlockFixture : public testing::Test {
protected:
  BlockFixture() { context.loadDialect<mlir::func::FuncDialect, tw::TwDialect, Dialects...>(); }

  mlir::RankedTensorType f32(llvm::ArrayRef<int64_t> shape) {
    return mlir::RankedTensorType::get(shape, mlir::Float32Type::get(&context));
  }
  mlir::RankedTensorType integers(llvm::ArrayRef<int64_t> shape, unsigned bits) {
    return mlir::RankedTensorType::get(shape, mlir::IntegerType::get(&context, bits));
  }
  std::string built(llvm::StringRef name, const GivenOptions &options, llvm::ArrayRef<mlir::RankedTensorType> types,
                    const BlockBody &body = {}) {
    return buildBlock(context, blocks, name, options, types, body).text();
  }

  mlir::MLIRContext context;
  BlockRegistry blocks;
};

} // namespace tilewright::test
