// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each function of tests/e2e/Inputs/ops.mlir, compiled, against the reference interpreter in f64.
#include "backends/reference/Interpreter.h"
#include "tests/unit/kernels/Inputs.h"
#include "tests/unit/kernels/ProgramRunner.h"

#include <cmath>

using namespace tilewright;
using namespace tilewright::test;

/// Largest difference relative to the largest number of the reference.
static constexpr double kBound = 3e-6;

TEST(Ops, AgreeWithTheReference) {
  std::string text = inputText("ops.mlir");
  if (!hasDialects(text))
    GTEST_SKIP() << "a plugin of the program is not built";
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context());
  ASSERT_TRUE(module);
  reference::NoWeights none;
  auto interpreter = reference::Interpreter::create(*module, none, reference::Precision::F64);
  ASSERT_TRUE(succeeded(interpreter));

  for (const CpuLevel *level : hostCpuLevels())
    for (llvm::StringRef className : {"decode", "prefill"}) {
      ProgramRunner runner(text, "tile", className, "precise", *level);
      ASSERT_TRUE(runner.ready());
      Step step;
      step.rows = step.logitRows = 37;
      step.paddedRows = step.paddedLogitRows = llvm::alignTo(37, findShapeClass(className)->rowMultiple);
      for (auto function : module->getOps<mlir::func::FuncOp>()) {
        std::string name = function.getSymName().str();
        std::mt19937 random(11);
        std::vector<std::shared_ptr<Buffer>> arguments;
        std::vector<reference::RunValue> inputs;
        for (mlir::Type argument : function.getArgumentTypes()) {
          auto type = mlir::cast<mlir::RankedTensorType>(argument);
          reference::Shape shape(type.getShape());
          if (type.isDynamicDim(0))
            shape[0] = step.paddedRows;
          if (type.getElementType().isInteger(32)) {
            // Positions up to 2^20 for rotations, rows of the table for gathers.
            auto tensor = reference::Tensor::ints(shape);
            std::vector<int32_t> numbers;
            for (int64_t &number : tensor.integers)
              numbers.push_back(number = random() % (name == "gather" ? 37 : 1 << 20));
            arguments.push_back(runner.table(numbers));
            inputs.push_back(tensor);
            continue;
          }
          auto tensor = reference::Tensor::floats(shape);
          std::vector<float> numbers;
          for (double &number : tensor.reals)
            numbers.push_back(number = 2.0f * (static_cast<float>(random() >> 8) / 8388608.0f - 1.0f));
          // Factors of rotations are not near 0.
          if (name == "rotate_factors" && type.getRank() == 1)
            for (size_t i = 0; i < numbers.size(); ++i)
              tensor.reals[i] = numbers[i] = 1.0f + std::fabs(numbers[i]);
          arguments.push_back(runner.table(numbers));
          inputs.push_back(tensor);
        }
        auto want = (*interpreter)->run(name, inputs);
        ASSERT_TRUE(succeeded(want)) << name;
        auto got = runner.run(name, arguments, step);
        ASSERT_TRUE(got) << name;
        const reference::Tensor &tensor = std::get<reference::Tensor>(want->front());
        double error = 0, largest = 1e-30;
        for (size_t i = 0; i < tensor.reals.size(); ++i) {
          double difference = std::fabs(got->as<float>()[i] - tensor.reals[i]);
          error = std::isnan(difference) ? HUGE_VAL : std::max(error, difference);
          largest = std::max(largest, std::fabs(tensor.reals[i]));
        }
        EXPECT_LE(error / largest, kBound) << name << ", class " << className.str() << ", level " << level->name.str();
      }
    }
}
