// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is said of loop maps and lowered values that do not fit their op.
#include "ir/interfaces/Verify.h"

#include "ir/tw/Tw.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace tilewright;

namespace {

struct Verify : testing::Test {
  Verify() {
    context.loadDialect<func::FuncDialect, tw::TwDialect>();
    module = parseSourceString<ModuleOp>("func.func @f(%x: tensor<?x6xf32>, %y: tensor<?x6xf32>) -> tensor<?x6xf32> {\n"
                                         "  %0 = tw.add %x, %y : tensor<?x6xf32>\n"
                                         "  return %0 : tensor<?x6xf32>\n"
                                         "}",
                                         &context);
    module->walk([&](tw::AddOp found) { op = found; });
  }

  /// What `verify` says on its op, without the op's name; "right" when nothing.
  template <typename Verify> std::string said(Verify verify) {
    std::string text;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { text += diagnostic.str(); });
    bool isRight = succeeded(verify());
    StringRef rest(text);
    EXPECT_EQ(isRight, !rest.consume_front("'tw.add' op ")) << text;
    return isRight ? "right" : rest.str();
  }
  std::string ofMap(const LoopMap &map) {
    return said([&] { return verifyLoopMap(op, map); });
  }
  LoopMap map() { return elementwiseLoopMap(op); }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  tw::AddOp op;
};

TEST_F(Verify, LoopMapEntries) {
  EXPECT_EQ(ofMap(map()), "right");
  LoopMap few = map();
  few.operands.pop_back();
  EXPECT_EQ(ofMap(few), "has a loop map of 1 operands, wanted one entry for each of its 2");
  LoopMap results = map();
  results.results.clear();
  EXPECT_EQ(ofMap(results), "has a loop map of 0 results, wanted one entry for each of its 1");
  LoopMap narrow = map();
  narrow.operands[1].pop_back();
  EXPECT_EQ(ofMap(narrow), "has a loop map in which operand #1 has 1 dimensions, wanted the 2 of 'tensor<?x6xf32>'");
  LoopMap uncut = map();
  uncut.operands[1] = {}; // read as a whole by every tile
  EXPECT_EQ(ofMap(uncut), "right");
}

TEST_F(Verify, LoopMapLoops) {
  LoopMap unused = map();
  unused.loops = 7;
  EXPECT_EQ(ofMap(unused), "has a loop map of 7 loops, and no dimension follows loop 2");
  LoopMap beyond = map();
  beyond.loops = 1;
  EXPECT_EQ(ofMap(beyond), "has a loop map of 1 loops, in which dimension 1 of operand #0 follows loop 1");
  LoopMap factor = map();
  factor.results[0][1].factor = 0;
  EXPECT_EQ(ofMap(factor), "has a loop map in which dimension 1 of result #0 follows loop 1 with factor 0");
  LoopMap steps = map();
  steps.results[0][1].factor = 4; // a partial last step: two
  EXPECT_EQ(ofMap(steps), "has a loop map in which loop 1 has 6 steps by dimension 1 of operand #0 and 2 by dimension "
                          "1 of result #0");
}

TEST_F(Verify, Given) {
  auto given = [&](ArrayRef<Value> values) {
    return said([&] { return verifyGivenTypes(op, "TileLowering", values); });
  };
  EXPECT_EQ(given({op.getLhs()}), "right");
  EXPECT_EQ(given({}), "has a TileLowering that gives 0 values, wanted one for each of its 1 results");
  EXPECT_EQ(given({op.getLhs(), op.getLhs()}),
            "has a TileLowering that gives 2 values, wanted one for each of its 1 results");
  EXPECT_EQ(given({Value()}), "has a TileLowering that gives no value for result #0");
  OpBuilder b(op);
  Value other =
      tw::ConstantOp::create(b, op.getLoc(), DenseElementsAttr::get(RankedTensorType::get({3}, b.getF32Type()), 1.0f));
  EXPECT_EQ(given({other}), "has a TileLowering of type 'tensor<3xf32>' for result #0 of type 'tensor<?x6xf32>'");
  // What gives types to results is not held to those that they have.
  EXPECT_EQ(said([&] { return verifyGiven(op, "ReferenceLowering", {other}); }), "right");
}

} // namespace
