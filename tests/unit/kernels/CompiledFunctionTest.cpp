// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plain functions of core ops, compiled, against the reference interpreter in f64: every op, element type and odd
// shape.
#include "tests/unit/kernels/FunctionCase.h"

#include "llvm/Support/FormatVariadic.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

constexpr const char *kElementwise = R"(
func.func @f(%a: tensor<?x?x$T>, %b: tensor<?x?x$T>) -> (tensor<?x?x$T>, tensor<?x?x$T>, tensor<?x?x$T>, tensor<?x?x$T>, tensor<?x?xi1>, tensor<?x?xi32>, tensor<?x?xi64>, tensor<?x?xf32>, tensor<?x?xbf16>) {
  %0 = tw.add %a, %b : tensor<?x?x$T>
  %1 = tw.mul %0, %a : tensor<?x?x$T>
  %2 = tw.maximum %1, %b : tensor<?x?x$T>
  %3 = tw.abs %2 : tensor<?x?x$T>
  %4 = tw.sqrt %3 : tensor<?x?x$T>
  %5 = tw.exp %a : tensor<?x?x$T>
  %6 = tw.log %5 : tensor<?x?x$T>
  %7 = tw.tanh %6 : tensor<?x?x$T>
  %8 = tw.sub %7, %4 : tensor<?x?x$T>
  %9 = tw.erf %b : tensor<?x?x$T>
  %10 = tw.sigmoid %9 : tensor<?x?x$T>
  %11 = tw.sin %a : tensor<?x?x$T>
  %12 = tw.cos %b : tensor<?x?x$T>
  %13 = tw.minimum %11, %12 : tensor<?x?x$T>
  %14 = tw.rsqrt %5 : tensor<?x?x$T>
  %15 = tw.div %13, %14 : tensor<?x?x$T>
  %16 = tw.neg %15 : tensor<?x?x$T>
  %17 = tw.compare "lt", %a, %b : tensor<?x?x$T> -> tensor<?x?xi1>
  %18 = tw.select %17, %16, %10 : tensor<?x?xi1>, tensor<?x?x$T>
  %19 = tw.cast %a : tensor<?x?x$T> -> tensor<?x?xi32>
  %20 = tw.cast %17 : tensor<?x?xi1> -> tensor<?x?xi64>
  %21 = tw.cast %b : tensor<?x?x$T> -> tensor<?x?xf32>
  %22 = tw.cast %b : tensor<?x?x$T> -> tensor<?x?xbf16>
  return %8, %10, %16, %18, %17, %19, %20, %21, %22 : tensor<?x?x$T>, tensor<?x?x$T>, tensor<?x?x$T>, tensor<?x?x$T>, tensor<?x?xi1>, tensor<?x?xi32>, tensor<?x?xi64>, tensor<?x?xf32>, tensor<?x?xbf16>
}
)";

constexpr const char *kIntegers = R"(
func.func @f(%a: tensor<?x?x$T>, %b: tensor<?x?x$T>) -> (tensor<?x?xi1>, tensor<?x?x$T>, tensor<?x?xf32>, tensor<?x?x$T>, tensor<?x?x$T>, tensor<?x?xi1>, tensor<?x?xi1>, tensor<?x?xi8>) {
  %0 = tw.compare "le", %a, %b : tensor<?x?x$T> -> tensor<?x?xi1>
  %1 = tw.select %0, %a, %b : tensor<?x?xi1>, tensor<?x?x$T>
  %2 = tw.cast %a : tensor<?x?x$T> -> tensor<?x?xf32>
  %3 = tw.transpose %a perm [1, 0] : tensor<?x?x$T> -> tensor<?x?x$T>
  %4 = tw.concat dim 1 %a, %b : tensor<?x?x$T>, tensor<?x?x$T> -> tensor<?x?x$T>
  %5 = tw.transpose %0 perm [1, 0] : tensor<?x?xi1> -> tensor<?x?xi1>
  %6 = tw.cast %a : tensor<?x?x$T> -> tensor<?x?xi1>
  %7 = tw.cast %b : tensor<?x?x$T> -> tensor<?x?xi8>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<?x?xi1>, tensor<?x?x$T>, tensor<?x?xf32>, tensor<?x?x$T>, tensor<?x?x$T>, tensor<?x?xi1>, tensor<?x?xi1>, tensor<?x?xi8>
}
)";

constexpr const char *kMoves = R"(
func.func @f(%x: tensor<?x?x?x$T>, %r: tensor<?x$T>) -> (tensor<?x?x?x$T>, tensor<?x?x?x$T>, tensor<?x?x?x$T>, tensor<?x?x?x$T>, tensor<?x?x?x$T>, tensor<?x?x?x$T>, tensor<?x?x?x$T>, tensor<?x?x?xi32>, tensor<?x?x?xi32>, tensor<?x?x?x$T>, tensor<?x$T>, tensor<?x?x?x?x$T>) {
  %0 = tw.transpose %x perm [2, 1, 0] : tensor<?x?x?x$T> -> tensor<?x?x?x$T>
  %1 = tw.transpose %x perm [1, 0, 2] : tensor<?x?x?x$T> -> tensor<?x?x?x$T>
  %2 = tw.transpose %x perm [0, 2, 1] : tensor<?x?x?x$T> -> tensor<?x?x?x$T>
  %3 = tw.concat dim 0 %x, %x : tensor<?x?x?x$T>, tensor<?x?x?x$T> -> tensor<?x?x?x$T>
  %4 = tw.concat dim 2 %x, %x, %x : tensor<?x?x?x$T>, tensor<?x?x?x$T>, tensor<?x?x?x$T> -> tensor<?x?x?x$T>
  %5 = tw.slice %4 dim 2 start 0 size -1 : tensor<?x?x?x$T> -> tensor<?x?x?x$T>
  %6 = tw.slice %3 dim 0 start 0 size -1 : tensor<?x?x?x$T> -> tensor<?x?x?x$T>
  %7 = tw.iota %x dim 0 : tensor<?x?x?x$T> -> tensor<?x?x?xi32>
  %8 = tw.iota %x dim 1 : tensor<?x?x?x$T> -> tensor<?x?x?xi32>
  %9 = tw.broadcast %r like %x dims [1] : tensor<?x$T>, tensor<?x?x?x$T> -> tensor<?x?x?x$T>
  %10 = tw.reshape %x : tensor<?x?x?x$T> -> tensor<?x$T>
  %s = tw.reshape %0 : tensor<?x?x?x$T> -> tensor<1x1x?x1x$T>
  %11 = tw.transpose %s perm [2, 3, 1, 0] : tensor<1x1x?x1x$T> -> tensor<?x1x1x1x$T>
  %12 = tw.reshape %11 : tensor<?x1x1x1x$T> -> tensor<1x?x1x1x$T>
  %13 = tw.concat dim 3 %12, %12 : tensor<1x?x1x1x$T>, tensor<1x?x1x1x$T> -> tensor<?x?x?x?x$T>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %13 : tensor<?x?x?x$T>, tensor<?x?x?x$T>, tensor<?x?x?x$T>, tensor<?x?x?x$T>, tensor<?x?x?x$T>, tensor<?x?x?x$T>, tensor<?x?x?x$T>, tensor<?x?x?xi32>, tensor<?x?x?xi32>, tensor<?x?x?x$T>, tensor<?x$T>, tensor<?x?x?x?x$T>
}
)";

// On dimensions of at least 2 elements.
constexpr const char *kSlices = R"(
func.func @f(%x: tensor<?x?x?x$T>) -> (tensor<?x?x?x$T>, tensor<?x1x?x$T>, tensor<?x?x2x$T>, tensor<?x?x?x$T>) {
  %0 = tw.slice %x dim 0 start 1 size -1 : tensor<?x?x?x$T> -> tensor<?x?x?x$T>
  %1 = tw.slice %x dim 1 start 1 size 1 : tensor<?x?x?x$T> -> tensor<?x1x?x$T>
  %2 = tw.slice %x dim 2 start 0 size 2 : tensor<?x?x?x$T> -> tensor<?x?x2x$T>
  %3 = tw.softmax %x dim 1 : tensor<?x?x?x$T>
  return %0, %1, %2, %3 : tensor<?x?x?x$T>, tensor<?x1x?x$T>, tensor<?x?x2x$T>, tensor<?x?x?x$T>
}
)";

constexpr const char *kSums = R"(
func.func @f(%x: tensor<?x?x?x$T>) -> (tensor<?x?x$T>, tensor<?x?x$T>, tensor<?x?x$T>, tensor<?x$T>, tensor<$T>, tensor<?x?x$T>, tensor<?x?x$T>) {
  %0 = tw.reduce "sum" %x dims [0] : tensor<?x?x?x$T> -> tensor<?x?x$T>
  %1 = tw.reduce "sum" %x dims [1] : tensor<?x?x?x$T> -> tensor<?x?x$T>
  %2 = tw.reduce "sum" %x dims [2] : tensor<?x?x?x$T> -> tensor<?x?x$T>
  %3 = tw.reduce "mean" %x dims [0, 2] : tensor<?x?x?x$T> -> tensor<?x$T>
  %4 = tw.reduce "sum" %x dims [0, 1, 2] : tensor<?x?x?x$T> -> tensor<$T>
  %5 = tw.reduce "mean" %x dims [1] : tensor<?x?x?x$T> -> tensor<?x?x$T>
  %6 = tw.broadcast %4 like %5 dims [] : tensor<$T>, tensor<?x?x$T> -> tensor<?x?x$T>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<?x?x$T>, tensor<?x?x$T>, tensor<?x?x$T>, tensor<?x$T>, tensor<$T>, tensor<?x?x$T>, tensor<?x?x$T>
}
)";

constexpr const char *kExtremes = R"(
func.func @f(%x: tensor<?x?x?x$T>) -> (tensor<?x?x$T>, tensor<?x?x$T>, tensor<?x$T>, tensor<?x?x?x$T>, tensor<?x?x?x$T>) {
  %0 = tw.reduce "max" %x dims [0] : tensor<?x?x?x$T> -> tensor<?x?x$T>
  %1 = tw.reduce "min" %x dims [2] : tensor<?x?x?x$T> -> tensor<?x?x$T>
  %2 = tw.reduce "max" %x dims [1, 2] : tensor<?x?x?x$T> -> tensor<?x$T>
  %3 = tw.softmax %x dim 2 : tensor<?x?x?x$T>
  %4 = tw.softmax %x dim 0 : tensor<?x?x?x$T>
  return %0, %1, %2, %3, %4 : tensor<?x?x$T>, tensor<?x?x$T>, tensor<?x$T>, tensor<?x?x?x$T>, tensor<?x?x?x$T>
}
)";

constexpr const char *kProducts = R"(
func.func @f(%a: tensor<?x?x?x$T>, %b: tensor<?x?x?x$T>, %c: tensor<?x?x?x$T>, %bias: tensor<?x$T>) -> (tensor<?x?x?x$T>, tensor<?x?x?x$T>, tensor<?x?x?x$T>) {
  %0 = tw.batch_matmul %a, %b : tensor<?x?x?x$T>, tensor<?x?x?x$T> -> tensor<?x?x?x$T>
  %1 = tw.batch_matmul %a, %c {transpose_b = true} : tensor<?x?x?x$T>, tensor<?x?x?x$T> -> tensor<?x?x?x$T>
  %w = tw.reduce "sum" %c dims [0] : tensor<?x?x?x$T> -> tensor<?x?x$T>
  %2 = tw.linear %a, %w bias %bias : tensor<?x?x?x$T>, tensor<?x?x$T>, tensor<?x$T> -> tensor<?x?x?x$T>
  return %0, %1, %2 : tensor<?x?x?x$T>, tensor<?x?x?x$T>, tensor<?x?x?x$T>
}
)";

constexpr const char *kLinear = R"(
func.func @f(%x: tensor<?x?x?xf32>, %w: tensor<?x?xf32>, %bias: tensor<?xf32>) -> tensor<?x?x?xf32> {
  %y = tw.linear %x, %w bias %bias : tensor<?x?x?xf32>, tensor<?x?xf32>, tensor<?xf32> -> tensor<?x?x?xf32>
  return %y : tensor<?x?x?xf32>
}
)";

constexpr const char *kLinearAlone = R"(
func.func @f(%x: tensor<?x?xf32>, %w: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = tw.linear %x, %w : tensor<?x?xf32>, tensor<?x?xf32> -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
)";

constexpr const char *kGather = R"(
func.func @f(%x: tensor<?x?x?x$T>, %ids: tensor<?xi32>) -> (tensor<?x?x?x$T>, tensor<?x?x?xf32>) {
  %t = tw.transpose %x perm [0, 2, 1] : tensor<?x?x?x$T> -> tensor<?x?x?x$T>
  %0 = tw.gather %t, %ids : tensor<?x?x?x$T>, tensor<?xi32> -> tensor<?x?x?x$T>
  %1 = tw.gather %t, %ids : tensor<?x?x?x$T>, tensor<?xi32> -> tensor<?x?x?xf32>
  return %0, %1 : tensor<?x?x?x$T>, tensor<?x?x?xf32>
}
)";

constexpr const char *kGatherPlaces = R"(
func.func @f(%x: tensor<?x?x?x$T>, %ids: tensor<?x?xi32>, %own: tensor<?x?x?xi32>) -> (tensor<?x?x?x?x$T>, tensor<?x?x?x$T>, tensor<?x?x?x$T>) {
  %t = tw.transpose %x perm [0, 2, 1] : tensor<?x?x?x$T> -> tensor<?x?x?x$T>
  %0 = tw.gather %x, %ids : tensor<?x?x?x$T>, tensor<?x?xi32> -> tensor<?x?x?x?x$T>
  %1 = tw.gather %x, %ids {batch_dims = 1 : i64} : tensor<?x?x?x$T>, tensor<?x?xi32> -> tensor<?x?x?x$T>
  %2 = tw.gather %t, %own {batch_dims = 2 : i64} : tensor<?x?x?x$T>, tensor<?x?x?xi32> -> tensor<?x?x?x$T>
  return %0, %1, %2 : tensor<?x?x?x?x$T>, tensor<?x?x?x$T>, tensor<?x?x?x$T>
}
)";

constexpr const char *kGatherWeight = R"(
func.func @f(%x: tensor<?x?xf32>, %ids: tensor<?x?xi32>) -> tensor<?x?x?xf32> {
  %0 = tw.gather %x, %ids : tensor<?x?xf32>, tensor<?x?xi32> -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}
)";

constexpr const char *kScalars = R"(
func.func @f(%a: tensor<$T>, %b: tensor<$T>) -> (tensor<$T>, tensor<i1>, tensor<$T>, tensor<1x1x$T>) {
  %0 = tw.add %a, %b : tensor<$T>
  %1 = tw.compare "lt", %a, %b : tensor<$T> -> tensor<i1>
  %2 = tw.select %1, %a, %0 : tensor<i1>, tensor<$T>
  %3 = tw.reshape %2 : tensor<$T> -> tensor<1x1x$T>
  %4 = tw.exp %3 : tensor<1x1x$T>
  return %0, %1, %2, %4 : tensor<$T>, tensor<i1>, tensor<$T>, tensor<1x1x$T>
}
)";

std::string withType(std::string text, const std::string &type) {
  for (size_t at; (at = text.find("$T")) != std::string::npos;)
    text.replace(at, 2, type);
  return text;
}

class Types : public testing::TestWithParam<const char *> {};
class IntegerTypes : public testing::TestWithParam<const char *> {};

TEST_P(Types, Elementwise) {
  for (Shapes shapes :
       {Shapes{{3, 5}, {3, 5}}, {{1, 1}, {1, 1}}, {{0, 7}, {0, 7}}, {{2, 0}, {2, 0}}, {{7, 257}, {7, 257}}})
    expectAgreement(withType(kElementwise, GetParam()), shapes, boundOf(GetParam()));
}
TEST_P(Types, Moves) {
  for (Shapes shapes : {Shapes{{2, 3, 5}, {3}},
                        {{1, 1, 1}, {1}},
                        {{3, 1, 17}, {1}},
                        {{0, 2, 3}, {2}},
                        {{2, 9, 0}, {9}},
                        {{5, 33, 64}, {33}}})
    expectAgreement(withType(kMoves, GetParam()), shapes, 0);
}
// Rows of half a register, an odd number of registers of them at once: each comes out where it belongs.
TEST(CompiledFunction, RowsOfHalfARegister) {
  const char *text = R"(
func.func @f(%a: tensor<?x1x?x8xf32>, %b: tensor<?x1x?x8xf32>) -> tensor<?x2x?x8xf32> {
  %0 = tw.concat dim 1 %a, %b : tensor<?x1x?x8xf32>, tensor<?x1x?x8xf32> -> tensor<?x2x?x8xf32>
  return %0 : tensor<?x2x?x8xf32>
}
)";
  for (int64_t rows : {3, 5, 7, 9})
    expectAgreement(text, {{2, 1, rows, 8}, {2, 1, rows, 8}}, 0);
}
TEST_P(Types, Slices) {
  for (Shapes shapes : {Shapes{{2, 3, 5}}, {{5, 2, 33}}, {{3, 17, 2}}})
    expectAgreement(withType(kSlices, GetParam()), shapes, boundOf(GetParam()));
}
TEST_P(Types, Sums) {
  for (Shapes shapes : {Shapes{{2, 3, 5}}, {{1, 1, 1}}, {{4, 2, 257}}, {{0, 2, 3}}, {{2, 3, 0}}, {{3, 31, 64}}})
    expectAgreement(withType(kSums, GetParam()), shapes, boundOf(GetParam()));
}
TEST_P(Types, Extremes) {
  for (Shapes shapes : {Shapes{{2, 3, 5}}, {{1, 1, 1}}, {{4, 2, 257}}, {{3, 31, 64}}})
    expectAgreement(withType(kExtremes, GetParam()), shapes, boundOf(GetParam()));
}
TEST_P(Types, Products) {
  for (Shapes shapes : {Shapes{{2, 3, 5}, {2, 5, 7}, {2, 7, 5}, {7}},
                        {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1}},
                        {{3, 17, 64}, {3, 64, 33}, {3, 33, 64}, {33}},
                        {{2, 3, 0}, {2, 0, 4}, {2, 4, 0}, {4}},
                        {{2, 0, 3}, {2, 3, 4}, {2, 4, 3}, {4}}})
    expectAgreement(withType(kProducts, GetParam()), shapes, boundOf(GetParam()));
}
TEST_P(Types, Gather) {
  for (Shapes shapes :
       {Shapes{{5, 3, 2}, {9}}, {{1, 1, 1}, {1}}, {{5, 3, 2}, {0}}, {{7, 33, 3}, {4}}, {{4, 0, 2}, {3}}})
    expectAgreement(withType(kGather, GetParam()), shapes, 0, /*largestIndex=*/shapes[0][0]);
}
TEST_P(Types, GatherAtPlaces) {
  for (Shapes shapes : {Shapes{{3, 4, 5}, {3, 2}, {3, 5, 7}},
                        {{1, 1, 1}, {1, 1}, {1, 1, 1}},
                        {{3, 33, 3}, {3, 17}, {3, 3, 1}},
                        {{2, 2, 3}, {2, 0}, {2, 3, 0}},
                        {{2, 2, 2}, {2, 3}, {2, 2, 3}}})
    expectAgreement(withType(kGatherPlaces, GetParam()), shapes, 0,
                    /*largestIndex=*/std::min(shapes[0][0], shapes[0][1]));
}
TEST_P(Types, Scalars) { expectAgreement(withType(kScalars, GetParam()), {{}, {}}, boundOf(GetParam())); }
INSTANTIATE_TEST_SUITE_P(CompiledFunction, Types, testing::Values("f32", "bf16", "f16", "f64"));

TEST_P(IntegerTypes, Agree) {
  for (Shapes shapes : {Shapes{{3, 5}, {3, 5}}, {{1, 1}, {1, 1}}, {{0, 7}, {0, 7}}, {{7, 65}, {7, 65}}})
    expectAgreement(withType(kIntegers, GetParam()), shapes, 0, /*largestIndex=*/300);
}
INSTANTIATE_TEST_SUITE_P(CompiledFunction, IntegerTypes, testing::Values("i32", "i64"));

TEST(CompiledFunction, LinearByAPackedWeight) {
  for (Shapes shapes : {Shapes{{2, 3, 32}, {48, 32}, {48}},
                        {{1, 1, 64}, {17, 64}, {17}},
                        {{1, 1, 32}, {64, 32}, {64}},
                        {{1, 2, 64}, {32, 64}, {32}},
                        {{1, 3, 96}, {32, 96}, {32}},
                        {{3, 2, 60}, {33, 60}, {33}},
                        {{1, 2, 5}, {3, 5}, {3}},
                        {{1, 2, 0}, {3, 0}, {3}},
                        {{1, 2, 5}, {0, 5}, {0}}})
    expectAgreement(kLinear, shapes, 1e-5);
  // What is put together block by block is the whole result of a chunk, and nothing comes behind it.
  for (Shapes shapes : {Shapes{{1, 64}, {64, 64}}, {{1, 256}, {16, 256}}, {{2, 96}, {32, 96}}, {{5, 64}, {48, 64}}})
    expectAgreement(kLinearAlone, shapes, 1e-5);
}

// Of as many rows as the weight has: a broadcast of 5x1xK rows has two readings then.
TEST(CompiledFunction, LinearByAValueOfAsManyRows) {
  for (int64_t rows : {1, 5, 6})
    for (int64_t columns : {1, 4, 5, 8, 16}) {
      const std::string r = std::to_string(rows), k = std::to_string(columns);
      const std::string x = "tensor<" + r + "x1x" + k + "xf32>", w = "tensor<" + r + "x" + k + "xf32>",
                        y = "tensor<" + r + "x1x" + r + "xf32>";
      expectAgreement("func.func @f(%x: " + x + ") -> " + y + " {\n%a = tw.abs %x : " + x +
                          "\n%w = tw.reshape %a : " + x + " -> " + w + "\n%y = tw.linear %x, %w : " + x + ", " + w +
                          " -> " + y + "\nreturn %y : " + y + "\n}",
                      {{rows, 1, columns}}, 1e-5);
    }
}

TEST(CompiledFunction, GatherByManyIdsOfAPackedWeight) {
  for (Shapes shapes : {Shapes{{48, 32}, {3, 5}}, {{5, 7}, {1, 1}}, {{17, 64}, {2, 0}}})
    expectAgreement(kGatherWeight, shapes, 0, /*largestIndex=*/shapes[0][0]);
}

TEST(CompiledFunction, CallsAreInlinedAndThreadsDoNotMatter) {
  const char *text = R"(
func.func private @twice(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = tw.add %x, %x : tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
func.func @f(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = call @twice(%x) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = call @twice(%0) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
})";
  FunctionOptions options;
  options.threads = 3;
  expectAgreement(text, {{67, 300}}, 0, 1, options);
}

/// The diagnostic of a failed compilation or run.
std::string errorOf(const char *text, const Shapes &shapes) {
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&context(), [&](mlir::Diagnostic &diagnostic) {
    message += diagnostic.str() + "\n";
    return mlir::success();
  });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context());
  EXPECT_TRUE(module) << message;
  reference::NoWeights none;
  auto compiled = CompiledFunction::create(*module, "f", host().stages, none);
  if (failed(compiled))
    return message;
  std::vector<reference::Tensor> inputs;
  auto types = module->lookupSymbol<mlir::func::FuncOp>("f").getArgumentTypes();
  for (auto [i, shape] : llvm::enumerate(shapes)) {
    bool floats = mlir::isa<mlir::FloatType>(mlir::cast<mlir::RankedTensorType>(types[i]).getElementType());
    inputs.push_back(floats ? reference::Tensor::floats(shape) : reference::Tensor::ints(shape));
    std::fill(inputs.back().integers.begin(), inputs.back().integers.end(), 5);
  }
  EXPECT_TRUE(failed((*compiled)->run(inputs)));
  return message;
}

TEST(CompiledFunction, Errors) {
  EXPECT_NE(errorOf("func.func @g() { return }", {}).find("there is no function 'f'"), std::string::npos);
  EXPECT_NE(errorOf("func.func @f(%s: !tw.state<tensor<?x1x4xf32>>) -> !tw.state<tensor<?x1x4xf32>> { return %s : "
                    "!tw.state<tensor<?x1x4xf32>> }",
                    {})
                .find("it is no plain function"),
            std::string::npos);
  const char *add = R"(func.func @f(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = tw.add %a, %b : tensor<?xf32>
  return %0 : tensor<?xf32>
})";
  EXPECT_NE(errorOf(add, {{2}}).find("was given 1 arguments, wanted 2"), std::string::npos);
  EXPECT_NE(errorOf(add, {{2}, {2, 2}}).find("is given the shape 2x2"), std::string::npos);
  EXPECT_NE(errorOf(add, {{2}, {3}}).find("tw.add"), std::string::npos);
  const char *gather = R"(func.func @f(%t: tensor<4x3xf32>, %ids: tensor<2xi32>) -> tensor<2x3xf32> {
  %0 = tw.gather %t, %ids : tensor<4x3xf32>, tensor<2xi32> -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
})";
  EXPECT_NE(errorOf(gather, {{4, 3}, {2}}).find("'tw.gather' op id 0 is 5, wanted 0 <= id < 4"), std::string::npos);
}

// What the integers of a function lead to is checked like the integers themselves: all of them are 5 here.
TEST(CompiledFunction, ComputedIndicesAreChecked) {
  auto gathers = [](const char *ids, const char *type) {
    return llvm::formatv(
               R"(func.func @f(%t: tensor<4x3xf32>, %i: tensor<2xi32>) -> tensor<{1}x3xf32> {{
  %three = tw.constant dense<3> : tensor<2xi32>
{0}
  %y = tw.gather %t, %ids : tensor<4x3xf32>, tensor<{1}xi32> -> tensor<{1}x3xf32>
  return %y : tensor<{1}x3xf32>
})",
               ids, type)
        .str();
  };
  Shapes shapes = {{4, 3}, {2}};
  struct {
    const char *ids, *type, *said;
  } cases[] = {
      {"  %a = tw.cast %i : tensor<2xi32> -> tensor<2xf32>\n"
       "  %n = tw.neg %a : tensor<2xf32>\n"
       "  %ids = tw.cast %n : tensor<2xf32> -> tensor<2xi32>",
       "2", "'tw.gather' op id 0 is -5, wanted 0 <= id < 4"},
      {"  %ids = tw.concat dim 0 %three, %i : tensor<2xi32>, tensor<2xi32> -> tensor<4xi32>", "4",
       "'tw.gather' op id 2 is 5, wanted 0 <= id < 4"},
      {"  %both = tw.concat dim 0 %three, %i : tensor<2xi32>, tensor<2xi32> -> tensor<4xi32>\n"
       "  %ids = tw.slice %both dim 0 start 3 size 1 : tensor<4xi32> -> tensor<1xi32>",
       "1", "'tw.gather' op id 0 is 5, wanted 0 <= id < 4"},
  };
  for (auto &[ids, type, said] : cases)
    EXPECT_NE(errorOf(gathers(ids, type).c_str(), shapes).find(said), std::string::npos)
        << errorOf(gathers(ids, type).c_str(), shapes);

  const char *segments = R"(func.func @f(%q: tensor<1x2x4x8xf32>, %s: tensor<2xi32>) -> tensor<1x2x4x8xf32> {
  %0 = tw.attention query(%q : tensor<1x2x4x8xf32>) key(%q : tensor<1x2x4x8xf32>) value(%q : tensor<1x2x4x8xf32>) cu_seqlens_q(%s : tensor<2xi32>) cu_seqlens_kv(%s : tensor<2xi32>) {scale = 1.0 : f64} -> tensor<1x2x4x8xf32>
  return %0 : tensor<1x2x4x8xf32>
})";
  EXPECT_NE(errorOf(segments, {{1, 2, 4, 8}, {2}})
                .find("'tw.attention' op cu_seqlens_q has 5 after 0 at run time, wanted rising numbers up to 4"),
            std::string::npos);
}

} // namespace
