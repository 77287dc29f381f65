// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Very deep and very wide graphs, on a small stack: nothing recurses along a chain of ops, a kernel takes a limited
// number of them, and time grows with their number.
#include "tests/unit/kernels/ProgramRunner.h"
#include "tests/unit/support/ProcessorTime.h"
#include "tests/unit/support/SmallStack.h"

#include "passes/Pipelines.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::test;

namespace {

constexpr size_t stackBytes = 1 << 20;

struct Graph {
  Graph()
      : b(UnknownLoc::get(&context()), &context()),
        type(RankedTensorType::get({ShapedType::kDynamic, 8}, b.getF32Type())) {
    module = ModuleOp::create(b.getLoc());
    b.setInsertionPointToEnd(module->getBody());
    main = func::FuncOp::create(b, "f", b.getFunctionType({type, type}, {}));
    b.setInsertionPointToStart(main.addEntryBlock());
  }
  void finish(ValueRange results) {
    func::ReturnOp::create(b, results);
    main.setFunctionType(b.getFunctionType({type, type}, results.getTypes()));
  }
  LogicalResult run(StringRef first, StringRef last) {
    PassManager manager(&context(), ModuleOp::getOperationName(), PassManager::Nesting::Implicit);
    PipelineOptions options;
    options.numerics = "precise";
    options.shapeClass = "prefill";
    llvm::cantFail(buildStages(manager, host().stages, options, first, last));
    return manager.run(*module);
  }
  int64_t dispatches() {
    int64_t count = 0;
    module->walk([&](tw::DispatchOp) { ++count; });
    return count;
  }

  ImplicitLocOpBuilder b;
  RankedTensorType type;
  OwningOpRef<ModuleOp> module;
  func::FuncOp main;
};

/// x + y + y + ..., `length` sums.
std::unique_ptr<Graph> chain(int64_t length) {
  auto graph = std::make_unique<Graph>();
  Value sum = graph->main.getArgument(0);
  for (int64_t i = 0; i < length; ++i)
    sum = tw::AddOp::create(graph->b, sum, graph->main.getArgument(1));
  graph->finish(sum);
  return graph;
}

} // namespace

TEST(DeepGraphs, TheGraphLevelOfALongChain) {
  onStack(stackBytes, [] {
    auto graph = chain(200000);
    EXPECT_TRUE(succeeded(graph->run("simplify", "fuse")));
  });
}

TEST(DeepGraphs, AKernelTakesALimitedNumberOfOps) {
  onStack(stackBytes, [] {
    auto graph = chain(3000);
    ASSERT_TRUE(succeeded(graph->run("simplify", "tile")));
    EXPECT_EQ(graph->dispatches(), (3000 + 255) / 256);
  });
}

TEST(DeepGraphs, ManyOperandsAndManyResults) {
  onStack(stackBytes, [] {
    Graph graph;
    SmallVector<Value> parts, results;
    for (int64_t i = 0; i < 100000; ++i)
      parts.push_back(graph.main.getArgument(i % 2));
    results.push_back(tw::ConcatOp::create(
        graph.b, RankedTensorType::get({ShapedType::kDynamic, 8}, graph.b.getF32Type()), 0, parts));
    for (int64_t i = 0; i < 100000; ++i)
      results.push_back(tw::NegOp::create(graph.b, graph.main.getArgument(i % 2)));
    graph.finish(results);
    EXPECT_TRUE(succeeded(graph.run("simplify", "fuse")));
  });
}

// Products first, then their sums from the last to the first: each group reads the one behind it.
TEST(DeepGraphs, GroupsThatReadTheOneBehindThem) {
  onSmallStack([] {
    constexpr int64_t count = 3000;
    Graph graph;
    auto matrix = RankedTensorType::get({8, 8}, graph.b.getF32Type());
    Value weight = tw::ConstantOp::create(graph.b, matrix, DenseElementsAttr::get(matrix, 1.0f));
    SmallVector<Value> products;
    for (int64_t i = 0; i < count; ++i)
      products.push_back(tw::LinearOp::create(graph.b, graph.type, graph.main.getArgument(0), weight, Value()));
    Value sum = graph.main.getArgument(1);
    for (Value product : llvm::reverse(products))
      sum = tw::AddOp::create(graph.b, product, sum);
    graph.finish(sum);
    ASSERT_TRUE(succeeded(graph.run("tile", "tile")));
    EXPECT_EQ(graph.dispatches(), count);
  });
}

TEST(DeepGraphs, TimeGrowsWithTheNumberOfOps) {
  auto seconds = [](int64_t length) {
    auto graph = chain(length);
    const double start = processorTime();
    EXPECT_TRUE(succeeded(graph->run("tile", "tile")));
    return processorTime() - start;
  };
  seconds(1000); // what is made once
  const double once = seconds(8000), twice = seconds(16000);
  // Twice as much; a time that grows with the square of the number would be four times. 0.1 s is for what else runs.
  EXPECT_LT(twice, 3 * once + 0.1) << once << " s and " << twice << " s";
}
