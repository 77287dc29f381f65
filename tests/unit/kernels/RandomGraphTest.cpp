// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Optimisation does not change an answer: random graphs of 10 to 40 pieces, each as it is, behind each pass of the
// graph level alone, behind all of them, and compiled with and without them. All values stay within [-1, 1] and no
// piece makes more than a few times as much of a difference, so that rounding stays small. TILEWRIGHT_RANDOM_GRAPHS=N
// compares N graphs.
#include "tests/unit/kernels/FunctionCase.h"

#include "ir/tw/Layers.h"
#include "passes/Pipelines.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

#include <cstdlib>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::test;

namespace {

class RandomGraph {
public:
  explicit RandomGraph(unsigned seed) : random(seed), b(UnknownLoc::get(&context()), &context()) {
    module = ModuleOp::create(b.getLoc());
    b.setInsertionPointToEnd(module->getBody());
    std::vector<Type> types;
    for (int i = 0; i < 3; ++i)
      types.push_back(RankedTensorType::get({size(), size(), size()}, b.getF32Type()));
    auto main = func::FuncOp::create(b, "f", b.getFunctionType(types, {}));
    b.setInsertionPointToStart(main.addEntryBlock());
    values.assign(main.getArguments().begin(), main.getArguments().end());
    for (int64_t pieces = 10 + below(31); pieces > 0; --pieces)
      values.push_back(piece(values[below(values.size())]));
    SmallVector<Value> results(values.end() - 4, values.end());
    func::ReturnOp::create(b, results);
    main.setFunctionType(b.getFunctionType(types, ValueRange(results).getTypes()));
  }

  OwningOpRef<ModuleOp> module;

private:
  int64_t below(int64_t n) { return static_cast<int64_t>(random() % n); }
  int64_t size() { return 1 + below(9); }
  ArrayRef<int64_t> shapeOf(Value x) { return tw::tensorType(x).getShape(); }
  Value times(Value x, double factor) { return tw::MulOp::create(b, x, tw::splat(b, factor, x)); }

  /// A value of the graph with x's shape, x itself if there is no other.
  Value alike(Value x) {
    SmallVector<Value> same = llvm::filter_to_vector(values, [&](Value y) { return y.getType() == x.getType(); });
    return same[below(same.size())];
  }
  /// A number for each element of x's last dimension.
  Value vector(Value x) {
    int64_t rank = tw::tensorType(x).getRank();
    SmallVector<int64_t> leading = llvm::to_vector(llvm::seq<int64_t>(0, rank - 1));
    Value y = alike(x);
    return leading.empty() ? y : tw::reduce(b, "mean", y, leading);
  }

  Value unary(Value x) {
    switch (below(8)) {
    case 0:
      return tw::NegOp::create(b, x);
    case 1:
      return tw::AbsOp::create(b, x);
    case 2:
      return tw::TanhOp::create(b, x);
    case 3:
      return tw::SinOp::create(b, x);
    case 4:
      return tw::CosOp::create(b, x);
    case 5:
      return tw::ErfOp::create(b, x);
    case 6:
      return tw::SigmoidOp::create(b, x);
    default:
      return times(tw::ExpOp::create(b, x), 0.25);
    }
  }
  Value binary(Value x, Value y) {
    switch (below(5)) {
    case 0:
      return times(tw::AddOp::create(b, x, y), 0.5);
    case 1:
      return times(tw::SubOp::create(b, x, y), 0.5);
    case 2:
      return tw::MulOp::create(b, x, y);
    case 3:
      return tw::MaximumOp::create(b, x, y);
    default:
      return tw::MinimumOp::create(b, x, y);
    }
  }
  /// What recognisers look for, and moves of elements.
  Value structured(Value x) {
    const int64_t rank = tw::tensorType(x).getRank(), last = rank - 1, dim = below(rank);
    switch (below(10)) {
    case 0:
      return tw::TanhOp::create(b, tw::rmsNorm(b, x, vector(x), 0.1));
    case 1:
      return tw::TanhOp::create(b, tw::layerNorm(b, x, vector(x), Value(), 0.1));
    case 2: { // softmax in its parts
      SmallVector<int64_t> rows = llvm::to_vector(llvm::seq<int64_t>(0, last));
      Value largest = tw::broadcast(b, tw::reduce(b, "max", x, {last}), x, rows);
      Value powers = tw::ExpOp::create(b, tw::SubOp::create(b, x, largest));
      return tw::DivOp::create(b, powers, tw::broadcast(b, tw::reduce(b, "sum", powers, {last}), powers, rows));
    }
    case 3:
      return tw::SoftmaxOp::create(b, x.getType(), x, last);
    case 4:
      return times(tw::MulOp::create(b, tw::activation(b, "silu", x), alike(x)), 1);
    case 5: {
      Value reversed = tw::transpose(b, x, llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, rank))));
      return below(2) ? tw::transpose(b, reversed, llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, rank))))
                      : reversed;
    }
    case 6: {
      Value y = tw::concat(b, dim, {x, alike(x)});
      int64_t start = below(shapeOf(x)[dim] + 1);
      return tw::slice(b, y, dim, start, 1 + below(shapeOf(y)[dim] - start));
    }
    case 7:
      return tw::reshape(b, x, {tw::tensorType(x).getNumElements()});
    case 8: { // by a weight that is a value: x's own columns
      if (rank < 2 || shapeOf(x)[last] == 0)
        return x;
      Value rows = tw::reshape(b, x, {tw::tensorType(x).getNumElements() / shapeOf(x)[last], shapeOf(x)[last]});
      return times(tw::linear(b, x, rows), 1.0 / static_cast<double>(shapeOf(x)[last]));
    }
    default:
      if (rank == 1)
        return x;
      return tw::reduce(b, below(2) ? "mean" : "max", x, {dim});
    }
  }

  Value piece(Value x) {
    if (tw::tensorType(x).getNumElements() > 2000) // keep it small
      return tw::reduce(b, "mean", x, llvm::to_vector(llvm::seq<int64_t>(1, tw::tensorType(x).getRank())));
    switch (below(3)) {
    case 0:
      return unary(x);
    case 1:
      return binary(x, alike(x));
    default:
      return structured(x);
    }
  }

  std::mt19937 random;
  ImplicitLocOpBuilder b;
  SmallVector<Value> values;
};

using Tensors = std::vector<reference::Tensor>;

/// Where `inF32` is given, a result may also be off by as much as the interpreter's in f32 is, a few times: what is
/// left of x - tanh(x) for a small x is mostly the rounding of its parts, whoever computes it.
void expectSame(const FailureOr<Tensors> &got, const Tensors &want, double bound, ModuleOp module,
                const std::string &how, const Tensors *inF32 = nullptr) {
  constexpr double kOtherOrder = 4;
  bool same = succeeded(got) && got->size() == want.size();
  for (size_t i = 0; same && i < want.size(); ++i)
    same = agrees((*got)[i], want[i], bound, inF32 ? kOtherOrder * largestDifference((*inF32)[i], want[i]) : 0);
  std::string text;
  if (!same)
    llvm::raw_string_ostream(text) << module;
  EXPECT_TRUE(same) << how << " changes the answer of\n" << text;
}

void compareGraph(unsigned seed) {
  RandomGraph graph(seed);
  ASSERT_TRUE(succeeded(verify(*graph.module)));
  auto function = graph.module->lookupSymbol<func::FuncOp>("f");
  Shapes shapes;
  for (Type type : function.getArgumentTypes()) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
    shapes.emplace_back(shape.begin(), shape.end());
  }
  Tensors inputs = randomInputs(function, shapes, 1);
  for (reference::Tensor &input : inputs)
    for (double &number : input.reals)
      number /= 2.5; // within [-1, 1]
  const FailureOr<Tensors> interpreted = interpret(*graph.module, inputs);
  ASSERT_TRUE(succeeded(interpreted));
  const Tensors &want = *interpreted;
  ASSERT_EQ(want.size(), 4u);

  // What passes do to a graph is exact but for the order of sums. Compiled, up to 40 pieces round to f32, and those
  // behind pass it on: some 1600 times 2^-24.
  constexpr double kExact = 1e-9, kRounded = 1e-4;
  for (const StagePass &pass : host().stages.all()) {
    if (!llvm::is_contained({"simplify", "recognise", "share", "fuse"}, pass.stage))
      continue;
    OwningOpRef<ModuleOp> copy = graph.module->clone();
    PassManager manager(&context(), ModuleOp::getOperationName(), PassManager::Nesting::Implicit);
    if (std::unique_ptr<Pass> made = pass.make(PipelineOptions()))
      manager.addPass(std::move(made));
    ASSERT_TRUE(succeeded(manager.run(*copy))) << pass.name;
    expectSame(interpret(*copy, inputs), want, kExact, *graph.module, pass.name);
  }
  OwningOpRef<ModuleOp> all = graph.module->clone();
  PassManager manager(&context(), ModuleOp::getOperationName(), PassManager::Nesting::Implicit);
  llvm::cantFail(buildStages(manager, host().stages, PipelineOptions(), "simplify", "fuse"));
  ASSERT_TRUE(succeeded(manager.run(*all)));
  expectSame(interpret(*all, inputs), want, kExact, *graph.module, "the graph level");

  const FailureOr<Tensors> inF32 = interpret(*graph.module, inputs, "f", reference::Precision::F32);
  ASSERT_TRUE(succeeded(inF32));
  reference::NoWeights none;
  for (const char *firstStage : {"simplify", "tile"}) {
    FunctionOptions options;
    options.firstStage = firstStage;
    auto compiled = CompiledFunction::create(*graph.module, "f", host().stages, none, options);
    ASSERT_TRUE(succeeded(compiled));
    auto got = (*compiled)->run(inputs);
    ASSERT_TRUE(succeeded(got));
    expectSame(got, want, kRounded, *graph.module, std::string("compiling from stage ") + firstStage, &*inF32);
    // The same session gives the same bits each time.
    for (int repeat = 0; repeat < 3; ++repeat) {
      auto again = (*compiled)->run(inputs);
      ASSERT_TRUE(succeeded(again));
      for (size_t i = 0; i < got->size(); ++i)
        EXPECT_EQ((*again)[i].reals, (*got)[i].reals);
    }
  }
}

unsigned graphs() {
  const char *wanted = std::getenv("TILEWRIGHT_RANDOM_GRAPHS");
  return wanted ? static_cast<unsigned>(std::atoi(wanted)) : 8;
}

} // namespace

class RandomGraphs : public testing::TestWithParam<unsigned> {};

TEST_P(RandomGraphs, OptimisationDoesNotChangeTheAnswer) { compareGraph(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Seeds, RandomGraphs, testing::Range(1u, graphs() + 1));
