// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A block repeated 1 to 128 times, each time with weights of its own: it is compiled once, no pass makes more ops of a
// repetition than the block's call needs, and time grows with their number.
#include "tests/unit/kernels/ProgramRunner.h"

#include "mlir/Pass/PassInstrumentation.h"

#include <ctime>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::test;

namespace {

std::string model(int64_t depth) {
  std::string globals, body, last = "%x";
  for (int64_t i = 0; i < depth; ++i) {
    std::string layer = std::to_string(i);
    std::string types = "tensor<128x64xf32>, tensor<64x128xf32>, tensor<64xf32>";
    for (auto [name, type] :
         {std::pair("up", "tensor<128x64xf32>"), {"down", "tensor<64x128xf32>"}, {"gain", "tensor<64xf32>"}}) {
      globals += std::string("ml_program.global private @") + name + layer + "(#ml_program.extern : " + type +
                 ") : " + type + "\n";
      body +=
          std::string("  %") + name + layer + " = ml_program.global_load_const @" + name + layer + " : " + type + "\n";
    }
    std::string made = "%y" + layer;
    body += "  " + made + " = call @block(" + last + ", %up" + layer + ", %down" + layer + ", %gain" + layer +
            ") : (tensor<?x64xf32>, " + types + ") -> tensor<?x64xf32>\n";
    last = made;
  }
  return globals + R"(
func.func private @block(%x: tensor<?x64xf32>, %up: tensor<128x64xf32>, %down: tensor<64x128xf32>, %gain: tensor<64xf32>) -> tensor<?x64xf32> {
  %g = tw.broadcast %gain like %x dims [1] : tensor<64xf32>, tensor<?x64xf32> -> tensor<?x64xf32>
  %n = tw.mul %x, %g : tensor<?x64xf32>
  %h = tw.linear %n, %up : tensor<?x64xf32>, tensor<128x64xf32> -> tensor<?x128xf32>
  %s = tw.sigmoid %h : tensor<?x128xf32>
  %a = tw.mul %h, %s : tensor<?x128xf32>
  %d = tw.linear %a, %down : tensor<?x128xf32>, tensor<64x128xf32> -> tensor<?x64xf32>
  %y = tw.add %x, %d : tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}
func.func @f(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
)" + body +
         "  return " + last + " : tensor<?x64xf32>\n}\n";
}

int64_t opsOf(ModuleOp module) {
  int64_t count = 0;
  module->walk([&](Operation *) { ++count; });
  return count;
}

/// Ops of the module behind each pass on it.
class Counts : public PassInstrumentation {
public:
  explicit Counts(std::vector<std::pair<std::string, int64_t>> &counts) : counts(counts) {}
  void runAfterPass(Pass *pass, Operation *op) override {
    if (auto module = dyn_cast<ModuleOp>(op); module && !module->getParentOp())
      counts.emplace_back(pass->getName().str(), opsOf(module));
  }

private:
  std::vector<std::pair<std::string, int64_t>> &counts;
};

struct Compiled {
  int64_t before, kernels = 0;
  std::vector<std::pair<std::string, int64_t>> counts;
  double seconds;

  explicit Compiled(int64_t depth) {
    auto module = parseSourceString<ModuleOp>(model(depth), &context());
    before = opsOf(*module);
    PassManager manager(&context(), ModuleOp::getOperationName(), PassManager::Nesting::Implicit);
    manager.addInstrumentation(std::make_unique<Counts>(counts));
    PipelineOptions options;
    options.numerics = "precise";
    options.shapeClass = "prefill";
    llvm::cantFail(buildStages(manager, host().stages, options, "simplify", "tile"));
    const std::clock_t start = std::clock(); // of all threads
    EXPECT_TRUE(succeeded(manager.run(*module)));
    seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    for (auto function : module->getOps<func::FuncOp>())
      kernels += function->hasAttr("tw.kernel");
  }
};

} // namespace

TEST(Depth, ABlockIsCompiledOnceHoweverOftenItIsCalled) {
  const Compiled once(1);
  EXPECT_GT(once.kernels, 0);
  ASSERT_GT(once.counts.size(), 10u);
  std::vector<double> seconds;
  for (int64_t depth : {8, 32, 64, 128}) {
    const Compiled deep(depth);
    EXPECT_EQ(deep.kernels, once.kernels) << depth;
    ASSERT_EQ(deep.counts.size(), once.counts.size());
    for (size_t i = 0; i < once.counts.size(); ++i) {
      EXPECT_EQ(deep.counts[i].first, once.counts[i].first);
      EXPECT_LE(deep.counts[i].second - once.counts[i].second, deep.before - once.before)
          << "behind " << once.counts[i].first << ", " << depth << " blocks";
    }
    seconds.push_back(deep.seconds);
  }
  // Twice as much and a tenth; a time that grows with the square would be four times. 0.1 s is for what else runs.
  EXPECT_LE(seconds[3], 2.2 * seconds[2] + 0.1) << "twice as many blocks";
  EXPECT_LE(seconds[2], 2.2 * seconds[1] + 0.1) << "twice as many blocks";
}
