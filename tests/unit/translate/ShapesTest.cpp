// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graphs whose structure is right and whose ops lie about ranks, shapes and axes: each is refused by the op's own
// verifier after translation, with an error that names the op; nothing crashes, whatever the number.
#include "frontend/graph/GraphBuilder.h"
#include "frontend/translate/Translate.h"
#include "ir/tw/Tw.h"
#include "tests/unit/support/TestFolder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace tilewright;

namespace {

using Shape = SmallVector<Dimension, 4>;
using Ints = std::vector<int64_t>;

Tensor f32(Shape shape) { return {"f32", std::move(shape)}; }

/// The error for a graph of one op, or "accepted".
std::string verdict(StringRef op, ArrayRef<Tensor> operands, Tensor result, std::vector<Attribute> attributes = {}) {
  GraphBuilder builder("test");
  FunctionBuilder &function = builder.addFunction("main");
  std::vector<ValueId> values;
  for (const Tensor &operand : operands)
    values.push_back(function.argument("a", operand));
  function.results({function.op(op, values, std::move(result), std::move(attributes), "y")});
  builder.setEntry("main");
  std::vector<uint8_t> bytes = cantFail(builder.finish());
  GraphFile file = cantFail(GraphFile::loadBytes(test::bufferOf(bytes), "t.twg"));
  mlir::DialectRegistry registry;
  registry.insert<tw::TwDialect, mlir::func::FuncDialect, mlir::ml_program::MLProgramDialect>();
  mlir::MLIRContext context(registry);
  Expected<mlir::OwningOpRef<mlir::ModuleOp>> module = translateToModule(file, context);
  return module ? "accepted" : toString(module.takeError());
}

void expectRefused(StringRef op, ArrayRef<Tensor> operands, Tensor result, std::vector<Attribute> attributes = {}) {
  std::string found = verdict(op, operands, std::move(result), std::move(attributes));
  EXPECT_TRUE(StringRef(found).starts_with("t.twg: function 'main', op 0 '" + op.str() + "'")) << found;
}

const int64_t extremes[] = {INT64_MIN, -100000, -1, 9, 100000, INT64_MAX};

TEST(Shapes, Reshape) {
  EXPECT_EQ(verdict("tw.reshape", {f32({6})}, f32({2, 3})), "accepted");
  EXPECT_EQ(verdict("tw.reshape", {f32({"N", 6})}, f32({"N", 2, 3})), "accepted");
  expectRefused("tw.reshape", {f32({6})}, f32({1, 1, 1, 1, 1, 1, 1, 1, 5}));        // rank 9 of another size
  expectRefused("tw.reshape", {f32({6})}, f32({4}));                                // product mismatch
  expectRefused("tw.reshape", {f32({"N", 6})}, f32({"A", "B", 3}));                 // two unknown
  expectRefused("tw.reshape", {f32({6})}, f32({int64_t(0), Dimension::unknown()})); // zero and unknown together
  expectRefused("tw.reshape", {f32({6})}, f32({int64_t(1) << 62, 4}));              // a product that wraps
  expectRefused("tw.reshape", {f32({6})}, f32({INT64_MAX, 2, 2, 6}));
}

TEST(Shapes, Transpose) {
  Tensor in = f32({2, 3});
  EXPECT_EQ(verdict("tw.transpose", {in}, f32({3, 2}), {{"perm", Ints{1, 0}}}), "accepted");
  for (const Ints &perm :
       {Ints{0, 0}, Ints{-1, 0}, Ints{0, 2}, Ints{0}, Ints{0, 1, 2}, Ints{}, Ints{INT64_MAX, INT64_MIN}})
    expectRefused("tw.transpose", {in}, f32({3, 2}), {{"perm", perm}});
  expectRefused("tw.transpose", {in}, f32({2, 3}), {{"perm", Ints{1, 0}}});
}

TEST(Shapes, Slice) {
  Tensor in = f32({4, 8});
  auto attributes = [](int64_t dim, int64_t start, int64_t size) {
    return std::vector<Attribute>{{"dim", dim}, {"start", start}, {"size", size}};
  };
  EXPECT_EQ(verdict("tw.slice", {in}, f32({4, 3}), attributes(1, 2, 3)), "accepted");
  for (int64_t bad : extremes) {
    expectRefused("tw.slice", {in}, f32({4, 3}), attributes(bad, 2, 3));
    expectRefused("tw.slice", {in}, f32({4, 3}), attributes(1, bad, 3));
    expectRefused("tw.slice", {in}, f32({4, 3}), attributes(1, 2, bad));
  }
  expectRefused("tw.slice", {in}, f32({4, 4}), attributes(1, 2, 3));
  expectRefused("tw.slice", {in}, f32({4, 3}), attributes(2, 2, 3));
}

TEST(Shapes, Concat) {
  Tensor in = f32({2, 3});
  EXPECT_EQ(verdict("tw.concat", {in, in}, f32({4, 3}), {{"dim", int64_t(0)}}), "accepted");
  for (int64_t bad : extremes)
    expectRefused("tw.concat", {in, in}, f32({4, 3}), {{"dim", bad}});
  expectRefused("tw.concat", {in, in}, f32({4, 3}), {{"dim", int64_t(2)}}); // the rank
  expectRefused("tw.concat", {in, f32({2, 4})}, f32({4, 3}), {{"dim", int64_t(0)}});
  expectRefused("tw.concat", {in, in}, f32({5, 3}), {{"dim", int64_t(0)}});
  expectRefused("tw.concat", {}, f32({5, 3}), {{"dim", int64_t(0)}});
}

TEST(Shapes, IotaBroadcastReduce) {
  Tensor in = f32({2, 3}), indices{"i32", {2, 3}};
  EXPECT_EQ(verdict("tw.iota", {in}, indices, {{"dim", int64_t(1)}}), "accepted");
  EXPECT_EQ(verdict("tw.reduce", {in}, f32({2}), {{"kind", "sum"}, {"dims", Ints{1}}}), "accepted");
  EXPECT_EQ(verdict("tw.broadcast", {f32({3}), in}, in, {{"dims", Ints{1}}}), "accepted");
  for (int64_t bad : extremes) {
    expectRefused("tw.iota", {in}, indices, {{"dim", bad}});
    expectRefused("tw.reduce", {in}, f32({2}), {{"kind", "sum"}, {"dims", Ints{bad}}});
    expectRefused("tw.broadcast", {f32({3}), in}, in, {{"dims", Ints{bad}}});
  }
  expectRefused("tw.reduce", {in}, f32({2}), {{"kind", "sum"}, {"dims", Ints{1, 1}}});
  expectRefused("tw.reduce", {in}, f32({2}), {{"kind", "median"}, {"dims", Ints{1}}});
  expectRefused("tw.broadcast", {f32({3}), in}, in, {{"dims", Ints{0}}});
}

TEST(Shapes, GatherAndLinear) {
  Tensor table = f32({10, 4}), ids{"i32", {"N"}};
  EXPECT_EQ(verdict("tw.gather", {table, ids}, f32({"N", 4})), "accepted");
  expectRefused("tw.gather", {table, Tensor{"i64", {"N"}}}, f32({"N", 4}));
  expectRefused("tw.gather", {table, Tensor{"i32", {"N", 1}}}, f32({"N", 4}));
  expectRefused("tw.gather", {table, ids}, f32({"N", 5}));
  expectRefused("tw.gather", {f32({}), ids}, f32({"N"}));
  EXPECT_EQ(verdict("tw.linear", {f32({"N", 4}), table}, f32({"N", 10})), "accepted");
  expectRefused("tw.linear", {f32({"N", 5}), table}, f32({"N", 10}));
  expectRefused("tw.linear", {f32({"N", 4}), table}, f32({"N", 11}));
  expectRefused("tw.linear", {f32({"N", 4}), f32({10})}, f32({"N", 10}));
  expectRefused("tw.linear", {f32({}), table}, f32({10}));
}

TEST(Shapes, OpsAndAttributesThatAreNone) {
  expectRefused("tw.nothing", {f32({2})}, f32({2}));
  expectRefused("tw.transpose", {f32({2, 3})}, f32({3, 2}));                     // no perm
  expectRefused("tw.transpose", {f32({2, 3})}, f32({3, 2}), {{"perm", "1, 0"}}); // of another kind
  expectRefused("tw.neg", {f32({2}), f32({2})}, f32({2}));                       // one operand too many
  expectRefused("other.op", {f32({2})}, f32({2}));                               // a plugin that is not there
}

} // namespace
