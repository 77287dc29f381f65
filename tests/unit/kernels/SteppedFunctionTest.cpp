// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions over states in pages, step by step, against the interpreter; and what they refuse.
#include "tools/functions/SteppedFunction.h"
#include "backends/reference/Interpreter.h"
#include "tests/unit/kernels/FunctionCase.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::test;
using reference::Tensor;

namespace {

const char *const attention = R"(
!state = !tw.state<tensor<?x1x4xf32>, tensor<?x1x4xf32>>
func.func @step(%q: tensor<?x2x4xf32>, %k: tensor<?x1x4xf32>, %r: tensor<?xi32> {tw.dims = ["B1"]}, %l: tensor<?xi32> {tw.dims = ["B"]},
    %p: tensor<?xi32>, %s: !state) -> (tensor<?x2x4xf32>, !state) {
  %t = tw.append %s, %r, %k, %k : !state, tensor<?xi32>, tensor<?x1x4xf32>, tensor<?x1x4xf32>
  %o = tw.attention query(%q : tensor<?x2x4xf32>) state(%t : !state) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>)
         positions(%p : tensor<?xi32>) {scale = 0.5 : f64, causal = "end"} -> tensor<?x2x4xf32>
  return %o, %t : tensor<?x2x4xf32>, !state
})";

Tensor floats(llvm::ArrayRef<int64_t> shape, unsigned seed) {
  Tensor tensor = Tensor::floats(shape);
  std::mt19937 random(seed);
  for (double &number : tensor.reals)
    number = static_cast<double>(random() % 65) / 32 - 1;
  return tensor;
}

/// Inputs of a step that adds `rows` to one sequence of `length`.
std::vector<Tensor> inputs(int64_t length, int64_t rows) {
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < rows; ++i)
    positions.push_back(length + i);
  auto seed = static_cast<unsigned>(length + 1);
  return {floats({rows, 2, 4}, seed), floats({rows, 1, 4}, seed + 1),
          integers({0, rows}),        integers({length + rows}),
          integers(positions),        Tensor()};
}

struct Made {
  OwningOpRef<ModuleOp> module;
  reference::NoWeights weights;
  std::string said;
  std::unique_ptr<SteppedFunction> function;

  explicit Made(const std::string &text, int64_t pages = 4) : module(parseSourceString<ModuleOp>(text, &context())) {
    said = errorOf([&] {
      auto made = SteppedFunction::create(*module, "step", host().stages, weights, pages);
      if (succeeded(made))
        function = std::move(*made);
    });
  }

  static std::string errorOf(llvm::function_ref<void()> run) {
    std::string first;
    ScopedDiagnosticHandler handler(&context(), [&](Diagnostic &diagnostic) {
      if (first.empty())
        first = diagnostic.str();
      return success();
    });
    run();
    return first;
  }
};

TEST(SteppedFunction, StepsOfAllClassesAgreeWithTheInterpreter) {
  Made made(attention);
  ASSERT_TRUE(made.function) << made.said;
  auto interpreter = reference::Interpreter::create(*made.module, made.weights, reference::Precision::F64);
  ASSERT_TRUE(succeeded(interpreter));
  for (int repeat = 0; repeat < 2; ++repeat, made.function->restart()) {
    reference::RunValue state = reference::StateHandle{};
    int64_t length = 0;
    for (int64_t rows : {70, 1, 5, 60}) {
      std::vector<Tensor> in = inputs(length, rows);
      std::vector<reference::RunValue> values(in.begin(), in.end());
      values.back() = state;
      auto wanted = (*interpreter)->run("step", values);
      auto found = made.function->run(in, {0, rows});
      ASSERT_TRUE(succeeded(wanted) && succeeded(found));
      state = wanted->back();
      const auto &want = std::get<Tensor>(wanted->front());
      ASSERT_EQ(found->front().shape, want.shape);
      for (size_t i = 0; i < want.reals.size(); ++i)
        // Means of numbers in [-1, 1]: a tenth of what the contract of attention allows.
        ASSERT_NEAR(found->front().reals[i], want.reals[i], 1e-5) << rows << " rows behind " << length << ", " << i;
      length += rows;
    }
  }
}

TEST(SteppedFunction, WhatIsRefused) {
  Made made(attention, 1);
  ASSERT_TRUE(made.function) << made.said;
  auto run = [&](std::vector<Tensor> in, std::vector<int64_t> starts) {
    return Made::errorOf([&] { EXPECT_TRUE(failed(made.function->run(in, starts))); });
  };
  EXPECT_EQ(run(inputs(0, 65), {0, 65}), "'func.func' op has too few pages for 65 rows more");
  made.function->restart();
  EXPECT_EQ(run({}, {0, 1}), "'func.func' op was given 0 arguments, wanted 6");
  EXPECT_EQ(run(inputs(0, 1), {1, 2}), "'func.func' op row starts do not begin with 0 and rise");
  EXPECT_EQ(run(inputs(0, 2), {0, 1}),
            "'func.func' op argument 0 of type 'tensor<?x2x4xf32>' was given another kind or shape");
  EXPECT_EQ(Made("module {}").said, "there is no function 'step' of one block to compile");
  EXPECT_EQ(Made("func.func @step(%x: tensor<2x?xf32>) { return }").said,
            "takes or returns a value of type 'tensor<2x?xf32>', wanted states, and tensors of numbers with static "
            "dimensions but for the first");
}

} // namespace
