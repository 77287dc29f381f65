// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plain function, compiled, against the reference interpreter in f64.
#pragma once

#include "backends/reference/Interpreter.h"
#include "tests/unit/kernels/ProgramRunner.h"
#include "tools/functions/CompiledFunction.h"

#include <cmath>

namespace tilewright::test {

using Shapes = std::vector<std::vector<int64_t>>;

/// What results may be off by, as a share of the largest: in f32 and f64 what the contract of products and elementwise
/// ops allows (ir/tw/Numerics.cpp), else five roundings of bf16 (2^-8) and six of f16 (2^-11).
inline double boundOf(llvm::StringRef type) { return type == "bf16" ? 2e-2 : type == "f16" ? 3e-3 : 1e-5; }

/// "tensor<2x3xf32>"
inline std::string typeText(llvm::ArrayRef<int64_t> shape, llvm::StringRef element) {
  std::string text = "tensor<";
  for (int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text + element.str() + ">";
}

/// A tensor of these numbers; without a shape, of one dimension.
inline reference::Tensor integers(std::vector<int64_t> numbers, std::vector<int64_t> shape = {}) {
  if (shape.empty())
    shape = {static_cast<int64_t>(numbers.size())};
  reference::Tensor tensor = reference::Tensor::ints(shape);
  tensor.integers = std::move(numbers);
  return tensor;
}

/// Where `got` is first not `want`, in words; empty when it is: the same shape, integers equal, floats within `bound`
/// of the largest, or within `allowed`, NaN and infinities the same.
inline std::string firstDisagreement(const reference::Tensor &got, const reference::Tensor &want, double bound,
                                     double allowed = 0) {
  if (got.shape != want.shape || got.isFloat != want.isFloat)
    return "found another shape or kind";
  auto differs = [](size_t i, auto found, auto wanted) {
    return "element " + std::to_string(i) + " is " + testing::PrintToString(found) + ", wanted " +
           testing::PrintToString(wanted);
  };
  for (size_t i = 0; i < want.integers.size(); ++i)
    if (got.integers[i] != want.integers[i])
      return differs(i, got.integers[i], want.integers[i]);
  double largest = 1e-30;
  for (double value : want.reals)
    if (std::isfinite(value))
      largest = std::max(largest, std::fabs(value));
  for (size_t i = 0; i < want.reals.size(); ++i) {
    if (std::isnan(want.reals[i]) ? std::isnan(got.reals[i]) : got.reals[i] == want.reals[i])
      continue;
    if (!(std::fabs(got.reals[i] - want.reals[i]) <= std::max(bound * largest, allowed)))
      return differs(i, got.reals[i], want.reals[i]);
  }
  return "";
}

inline bool agrees(const reference::Tensor &got, const reference::Tensor &want, double bound, double allowed = 0) {
  return firstDisagreement(got, want, bound, allowed).empty();
}

/// The largest difference between two tensors' floats that are finite.
inline double largestDifference(const reference::Tensor &a, const reference::Tensor &b) {
  double largest = 0;
  for (size_t i = 0; i < std::min(a.reals.size(), b.reals.size()); ++i)
    if (std::isfinite(a.reals[i]) && std::isfinite(b.reals[i]))
      largest = std::max(largest, std::fabs(a.reals[i] - b.reals[i]));
  return largest;
}

/// The results of function `name`, tensors all, by the interpreter.
inline mlir::FailureOr<std::vector<reference::Tensor>>
interpret(mlir::ModuleOp module, const std::vector<reference::Tensor> &inputs, llvm::StringRef name = "f",
          reference::Precision precision = reference::Precision::F64) {
  reference::NoWeights none;
  auto interpreter = reference::Interpreter::create(module, none, precision);
  if (failed(interpreter))
    return mlir::failure();
  auto values = (*interpreter)->run(name, {inputs.begin(), inputs.end()});
  if (failed(values))
    return mlir::failure();
  std::vector<reference::Tensor> tensors;
  for (reference::RunValue &value : *values)
    tensors.push_back(std::move(std::get<reference::Tensor>(value)));
  return tensors;
}

/// Random arguments: floats from -2 to 2 as their type holds them, integers below `largestIndex`, booleans.
inline std::vector<reference::Tensor> randomInputs(mlir::func::FuncOp function, const Shapes &shapes,
                                                   int64_t largestIndex) {
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
  auto function = module.lookupSymbol<mlir::func::FuncOp>(name);
  std::vector<reference::Tensor> inputs = randomInputs(function, shapes, largestIndex);
  auto want = interpret(module, inputs, name);
  ASSERT_TRUE(succeeded(want));
  reference::NoWeights none;
  auto compiled = CompiledFunction::create(module, name, host().stages, none, options);
  ASSERT_TRUE(succeeded(compiled));
  auto got = (*compiled)->run(inputs);
  std::string place = testing::PrintToString(shapes);
  ASSERT_TRUE(succeeded(got)) << place;
  ASSERT_EQ(got->size(), want->size());
  for (size_t i = 0; i < got->size(); ++i)
    EXPECT_EQ(firstDisagreement((*got)[i], (*want)[i], bound), "") << "result " << i << ", shapes " << place;
}

/// The same for function @f of `text`.
inline void expectAgreement(const std::string &text, const Shapes &shapes, double bound, int64_t largestIndex = 1,
                            const FunctionOptions &options = {}) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context());
  ASSERT_TRUE(module) << text;
  expectAgreement(*module, "f", shapes, bound, largestIndex, options);
}

} // namespace tilewright::test
