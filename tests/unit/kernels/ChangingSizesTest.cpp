// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes that change from call to call of one function: 1 is a size as any other, 0 as well, and two dimensions that
// happened to agree may differ the next time.
#include "tests/unit/kernels/FunctionCase.h"

using namespace tilewright;
using namespace tilewright::test;

TEST(CompiledFunction, SizesChangeFromCallToCall) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
func.func @f(%x: tensor<?x?x8xf32>, %g: tensor<?xf32>, %w: tensor<5x8xf32>) -> (tensor<?x?x5xf32>, tensor<?x8xf32>, tensor<?x?x8xf32>) {
  %0 = tw.broadcast %g like %x dims [1] : tensor<?xf32>, tensor<?x?x8xf32> -> tensor<?x?x8xf32>
  %1 = tw.mul %x, %0 : tensor<?x?x8xf32>
  %2 = tw.softmax %1 dim 2 : tensor<?x?x8xf32>
  %3 = tw.linear %2, %w : tensor<?x?x8xf32>, tensor<5x8xf32> -> tensor<?x?x5xf32>
  %4 = tw.reduce "sum" %1 dims [0] : tensor<?x?x8xf32> -> tensor<?x8xf32>
  %5 = tw.transpose %1 perm [1, 0, 2] : tensor<?x?x8xf32> -> tensor<?x?x8xf32>
  return %3, %4, %5 : tensor<?x?x5xf32>, tensor<?x8xf32>, tensor<?x?x8xf32>
})",
                                                        &context());
  ASSERT_TRUE(module);
  reference::NoWeights none;
  auto interpreter = reference::Interpreter::create(*module, none, reference::Precision::F64);
  auto compiled = CompiledFunction::create(*module, "f", host().stages, none);
  ASSERT_TRUE(succeeded(interpreter) && succeeded(compiled));
  auto function = module->lookupSymbol<mlir::func::FuncOp>("f");
  for (auto [batch, length] :
       {std::pair<int64_t, int64_t>{1, 1}, {2, 1}, {1, 1}, {3, 1}, {1, 3}, {0, 3}, {3, 0}, {4, 4}, {4, 5}, {1, 1}}) {
    SCOPED_TRACE(std::to_string(batch) + " x " + std::to_string(length));
    auto inputs = randomInputs(function, {{batch, length, 8}, {length}, {5, 8}}, 1);
    auto want = (*interpreter)->run("f", {inputs.begin(), inputs.end()});
    auto got = (*compiled)->run(inputs);
    ASSERT_TRUE(succeeded(want) && succeeded(got));
    // An exponential and sums of at most 8 products: 50 roundings of 2^-24.
    for (size_t i = 0; i < got->size(); ++i)
      EXPECT_TRUE(agrees((*got)[i], std::get<reference::Tensor>((*want)[i]), 3e-6)) << i;
  }
}
