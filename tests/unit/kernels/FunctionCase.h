// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plain function, compiled, against the reference interpreter in f64.
#pragma once

#include "backends/reference/Interpreter.h"
#include "tests/unit/kernels/ProgramRunner.h"
#include "tools/functions/CompiledFunction.h"

#include <cmath>

namespace tilewright::test {

using Shapes = std::vector<std::vector<int64_t>>;

inline bool agrees(const reference::Tensor &got, const reference::Tensor &want, double bound) {
  if (got.shape != want.shape || got.isFloat != want.isFloat)
    return false;
  if (!want.isFloat)
    return got.integers == want.integers;
  double largest = 1e-30;
  for (double value : want.reals)
    if (std::isfinite(value))
      largest = std::max(largest, std::fabs(value));
  for (size_t i = 0; i < want.reals.size(); ++i) {
    if (std::isnan(want.reals[i]) ? std::isnan(got.reals[i]) : got.reals[i] == want.reals[i])
      continue;
    if (!(std::fabs(got.reals[i] - want.reals[i]) <= bound * largest))
      return false;
  }
  return true;
}

/// Random arguments: floats from -2 to 2 as their type holds them, integers below `largestIndex`, booleans.
inline std::vector<reference::Tensor> randomInputs(mlir::func::FuncOp function, const Shapes &shapes, int64_t largestIndex) {
  std::mt19937 random(7);
  std::vector<reference::Tensor> inputs;
  for (auto [type, shape] : llvm::zip_equal(function.getArgumentTypes(), shapes)) {
    mlir::Type element = mlir::cast<mlir::RankedTensorType>(type).getElementType();
    if (auto floating = mlir::dyn_cast<mlir::FloatType>(element)) {
      auto tensor = reference::Tensor::floats(shape);
      for (double &number : tensor.reals) { // few enough bits for every type
        number = static_cast<double>(random() % 257) / 64.0 - 2.0;
        if (floating.getWidth() >= 32)
          number += static_cast<double>(random() % 1024) / 65536.0;
      }
      inputs.push_back(tensor);
    } else {
      auto tensor = reference::Tensor::ints(shape);
      for (int64_t &number : tensor.integers)
        number = element.isInteger(1) ? random() % 2 : random() % std::max<int64_t>(1, largestIndex);
      inputs.push_back(tensor);
    }
  }
  return inputs;
}

/// Compiles function `name` of `module` and compares it with the interpreter on random inputs of these shapes.
inline void expectAgreement(mlir::ModuleOp module, llvm::StringRef name, const Shapes &shapes, double bound,
                            int64_t largestIndex, const FunctionOptions &options) {
  reference::NoWeights none;
  auto interpreter = reference::Interpreter::create(module, none, reference::Precision::F64);
  ASSERT_TRUE(succeeded(interpreter));
  auto function = module.lookupSymbol<mlir::func::FuncOp>(name);
  std::vector<reference::Tensor> inputs = randomInputs(function, shapes, largestIndex);
  auto want = (*interpreter)->run(name, {inputs.begin(), inputs.end()});
  ASSERT_TRUE(succeeded(want));
  auto compiled = CompiledFunction::create(module, name, host().stages, none, options);
  ASSERT_TRUE(succeeded(compiled));
  auto got = (*compiled)->run(inputs);
  std::string place = testing::PrintToString(shapes);
  ASSERT_TRUE(succeeded(got)) << place;
  ASSERT_EQ(got->size(), want->size());
  for (size_t i = 0; i < got->size(); ++i)
    EXPECT_TRUE(agrees((*got)[i], std::get<reference::Tensor>((*want)[i]), bound)) << "result " << i << ", shapes " << place;
}

/// The same for function @f of `text`.
inline void expectAgreement(const std::string &text, const Shapes &shapes, double bound, int64_t largestIndex = 1,
                            const FunctionOptions &options = {}) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context());
  ASSERT_TRUE(module) << text;
  expectAgreement(*module, "f", shapes, bound, largestIndex, options);
}

} // namespace tilewright::test
