// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every op with each of its dimensions 0 in turn, as a static dimension and as a dynamic one: sums over nothing are 0,
// products over nothing are 0, what has no elements is empty. Compiled and interpreted.
#include "tests/unit/kernels/FunctionCase.h"

#include "llvm/ADT/StringExtras.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

/// A function @f whose dimensions are letters, or sums and products of letters. Those of `zeros` are 0 in turn; all but
/// those of `fixed` are unknown in the dynamic form.
struct Program {
  const char *name, *zeros, *fixed, *text;
};

const Program kPrograms[] = {
    {"elementwise", "ABC", "", R"(
func.func @f(%x: tensor<AxBxCxf32>, %y: tensor<AxBxCxf32>, %c: tensor<AxBxCxi1>) -> (tensor<AxBxCxf32>, tensor<AxBxCxf32>, tensor<AxBxCxi1>, tensor<AxBxCxi32>) {
  %0 = tw.add %x, %y : tensor<AxBxCxf32>
  %1 = tw.sub %0, %y : tensor<AxBxCxf32>
  %2 = tw.mul %1, %y : tensor<AxBxCxf32>
  %3 = tw.div %2, %y : tensor<AxBxCxf32>
  %4 = tw.maximum %3, %y : tensor<AxBxCxf32>
  %5 = tw.minimum %4, %y : tensor<AxBxCxf32>
  %6 = tw.compare "lt", %x, %y : tensor<AxBxCxf32> -> tensor<AxBxCxi1>
  %7 = tw.select %c, %5, %y : tensor<AxBxCxi1>, tensor<AxBxCxf32>
  %8 = tw.cast %x : tensor<AxBxCxf32> -> tensor<AxBxCxi32>
  return %5, %7, %6, %8 : tensor<AxBxCxf32>, tensor<AxBxCxf32>, tensor<AxBxCxi1>, tensor<AxBxCxi32>
})"},
    {"functions", "AB", "", R"(
func.func @f(%x: tensor<AxBxf32>) -> (tensor<AxBxf32>, tensor<AxBxf32>) {
  %0 = tw.neg %x : tensor<AxBxf32>
  %1 = tw.abs %0 : tensor<AxBxf32>
  %2 = tw.exp %1 : tensor<AxBxf32>
  %3 = tw.log %2 : tensor<AxBxf32>
  %4 = tw.sqrt %3 : tensor<AxBxf32>
  %5 = tw.rsqrt %2 : tensor<AxBxf32>
  %6 = tw.tanh %5 : tensor<AxBxf32>
  %7 = tw.erf %6 : tensor<AxBxf32>
  %8 = tw.sin %7 : tensor<AxBxf32>
  %9 = tw.cos %8 : tensor<AxBxf32>
  %a = tw.sigmoid %9 : tensor<AxBxf32>
  return %4, %a : tensor<AxBxf32>, tensor<AxBxf32>
})"},
    {"moves", "ABCD", "", R"(
func.func @f(%x: tensor<AxBxCxf32>, %v: tensor<Bxf32>, %y: tensor<AxDxCxf32>)
    -> (tensor<AxBxCxf32>, tensor<AxBxCxi32>, tensor<BxCxAxf32>, tensor<A*B*Cxf32>, tensor<AxB+DxCxf32>, tensor<AxBxCxf32>, tensor<Ax0xCxf32>) {
  %0 = tw.broadcast %v like %x dims [1] : tensor<Bxf32>, tensor<AxBxCxf32> -> tensor<AxBxCxf32>
  %1 = tw.iota %x dim 1 : tensor<AxBxCxf32> -> tensor<AxBxCxi32>
  %2 = tw.transpose %x perm [1, 2, 0] : tensor<AxBxCxf32> -> tensor<BxCxAxf32>
  %3 = tw.reshape %x : tensor<AxBxCxf32> -> tensor<A*B*Cxf32>
  %4 = tw.concat dim 1 %x, %y : tensor<AxBxCxf32>, tensor<AxDxCxf32> -> tensor<AxB+DxCxf32>
  %5 = tw.slice %x dim 1 start 0 size -1 : tensor<AxBxCxf32> -> tensor<AxBxCxf32>
  %6 = tw.slice %x dim 1 start 0 size 0 : tensor<AxBxCxf32> -> tensor<Ax0xCxf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<AxBxCxf32>, tensor<AxBxCxi32>, tensor<BxCxAxf32>, tensor<A*B*Cxf32>, tensor<AxB+DxCxf32>, tensor<AxBxCxf32>, tensor<Ax0xCxf32>
})"},
    {"sums", "ABC", "", R"(
func.func @f(%x: tensor<AxBxCxf32>) -> (tensor<BxCxf32>, tensor<AxCxf32>, tensor<AxBxf32>, tensor<f32>, tensor<AxBxf32>, tensor<BxCxf32>) {
  %0 = tw.reduce "sum" %x dims [0] : tensor<AxBxCxf32> -> tensor<BxCxf32>
  %1 = tw.reduce "sum" %x dims [1] : tensor<AxBxCxf32> -> tensor<AxCxf32>
  %2 = tw.reduce "sum" %x dims [2] : tensor<AxBxCxf32> -> tensor<AxBxf32>
  %3 = tw.reduce "sum" %x dims [0, 1, 2] : tensor<AxBxCxf32> -> tensor<f32>
  %4 = tw.reduce "mean" %x dims [2] : tensor<AxBxCxf32> -> tensor<AxBxf32>
  %5 = tw.reduce "mean" %x dims [0] : tensor<AxBxCxf32> -> tensor<BxCxf32>
  return %0, %1, %2, %3, %4, %5 : tensor<BxCxf32>, tensor<AxCxf32>, tensor<AxBxf32>, tensor<f32>, tensor<AxBxf32>, tensor<BxCxf32>
})"},
    {"extremesAndSoftmax", "AC", "", R"(
func.func @f(%x: tensor<AxBxCxf32>) -> (tensor<AxCxf32>, tensor<AxCxf32>, tensor<AxBxCxf32>) {
  %0 = tw.reduce "max" %x dims [1] : tensor<AxBxCxf32> -> tensor<AxCxf32>
  %1 = tw.reduce "min" %x dims [1] : tensor<AxBxCxf32> -> tensor<AxCxf32>
  %2 = tw.softmax %x dim 1 : tensor<AxBxCxf32>
  return %0, %1, %2 : tensor<AxCxf32>, tensor<AxCxf32>, tensor<AxBxCxf32>
})"},
    {"products", "AMKN", "", R"(
func.func @f(%a: tensor<AxMxKxf32>, %b: tensor<AxKxNxf32>, %c: tensor<AxNxKxf32>) -> (tensor<AxMxNxf32>, tensor<AxMxNxf32>) {
  %0 = tw.batch_matmul %a, %b : tensor<AxMxKxf32>, tensor<AxKxNxf32> -> tensor<AxMxNxf32>
  %1 = tw.batch_matmul %a, %c {transpose_b = true} : tensor<AxMxKxf32>, tensor<AxNxKxf32> -> tensor<AxMxNxf32>
  return %0, %1 : tensor<AxMxNxf32>, tensor<AxMxNxf32>
})"},
    {"linear", "AMKN", "", R"(
func.func @f(%x: tensor<AxMxKxf32>, %w: tensor<NxKxf32>, %bias: tensor<Nxf32>) -> (tensor<AxMxNxf32>, tensor<AxMxNxf32>) {
  %0 = tw.linear %x, %w : tensor<AxMxKxf32>, tensor<NxKxf32> -> tensor<AxMxNxf32>
  %1 = tw.linear %x, %w bias %bias : tensor<AxMxKxf32>, tensor<NxKxf32>, tensor<Nxf32> -> tensor<AxMxNxf32>
  return %0, %1 : tensor<AxMxNxf32>, tensor<AxMxNxf32>
})"},
    {"gather", "BIE", "", R"(
func.func @f(%t: tensor<BxRxExf32>, %ids: tensor<BxIxi32>) -> (tensor<BxIxRxExf32>, tensor<BxIxExf32>) {
  %0 = tw.gather %t, %ids : tensor<BxRxExf32>, tensor<BxIxi32> -> tensor<BxIxRxExf32>
  %1 = tw.gather %t, %ids {batch_dims = 1 : i64} : tensor<BxRxExf32>, tensor<BxIxi32> -> tensor<BxIxExf32>
  return %0, %1 : tensor<BxIxRxExf32>, tensor<BxIxExf32>
})"},
    {"attention", "BTS", "H", R"(
func.func @f(%q: tensor<BxHxTxDxf32>, %k: tensor<BxHxSxDxf32>, %v: tensor<BxHxSxVxf32>, %m: tensor<TxSxi1>, %b: tensor<TxSxf32>, %s: tensor<Hxf32>) -> (tensor<BxHxTxVxf32>, tensor<BxHxTxVxf32>) {
  %0 = tw.attention query(%q : tensor<BxHxTxDxf32>) key(%k : tensor<BxHxSxDxf32>) value(%v : tensor<BxHxSxVxf32>) {scale = 0.5 : f64, causal = "end"} -> tensor<BxHxTxVxf32>
  %1 = tw.attention query(%q : tensor<BxHxTxDxf32>) key(%k : tensor<BxHxSxDxf32>) value(%v : tensor<BxHxSxVxf32>) mask(%m : tensor<TxSxi1>) bias(%b : tensor<TxSxf32>) sinks(%s : tensor<Hxf32>) {scale = 0.5 : f64} -> tensor<BxHxTxVxf32>
  return %0, %1 : tensor<BxHxTxVxf32>, tensor<BxHxTxVxf32>
})"},
    {"experts", "NKO", "KO", R"(
func.func @f(%logits: tensor<Nx4xf32>, %x: tensor<NxKxf32>, %w: tensor<4xOxKxf32>) -> (tensor<Nx2xf32>, tensor<N*2xOxf32>) {
  %v, %i = tw.topk %logits k 2 : tensor<Nx4xf32> -> tensor<Nx2xf32>, tensor<Nx2xi32>
  %ids = tw.reshape %i : tensor<Nx2xi32> -> tensor<N*2xi32>
  %rows, %places, %offsets = tw.group_rows %ids groups 4 per_row 2 : tensor<N*2xi32> -> tensor<N*2xi32>, tensor<N*2xi32>, tensor<5xi32>
  %s = tw.gather %x, %rows : tensor<NxKxf32>, tensor<N*2xi32> -> tensor<N*2xKxf32>
  %y = tw.grouped_linear %s, %w offsets %offsets : tensor<N*2xKxf32>, tensor<4xOxKxf32>, tensor<5xi32> -> tensor<N*2xOxf32>
  return %v, %y : tensor<Nx2xf32>, tensor<N*2xOxf32>
})"},
};

/// What a sum or product of letters and digits is; letter `zero` is 0, the others are 3 and more.
int64_t valueOf(llvm::StringRef expression, char zero) {
  if (auto [left, right] = expression.split('+'); !right.empty())
    return valueOf(left, zero) + valueOf(right, zero);
  if (auto [left, right] = expression.split('*'); !right.empty())
    return valueOf(left, zero) * valueOf(right, zero);
  int64_t number;
  if (!expression.getAsInteger(10, number))
    return number;
  return expression[0] == zero ? 0 : 3 + (expression[0] - 'A') % 4;
}

/// The program's text; with `dynamic` its letters but the fixed ones are unknown.
std::string textOf(const Program &program, char zero, bool dynamic) {
  std::string text;
  for (llvm::StringRef rest = program.text; !rest.empty();) {
    auto [before, behind] = rest.split("tensor<");
    text += before;
    if (behind.empty())
      break;
    auto [inside, after] = behind.split('>');
    llvm::SmallVector<llvm::StringRef> parts;
    inside.split(parts, 'x');
    text += "tensor<";
    for (llvm::StringRef dimension : llvm::ArrayRef(parts).drop_back()) {
      const bool letters = llvm::any_of(
          dimension, [&](char c) { return llvm::isUpper(c) && !llvm::StringRef(program.fixed).contains(c); });
      text += (dynamic && letters ? "?" : std::to_string(valueOf(dimension, zero))) + "x";
    }
    text += parts.back().str() + ">";
    rest = after;
  }
  return text;
}

class ZeroSizes : public testing::TestWithParam<Program> {};

TEST_P(ZeroSizes, EachDimensionInTurn) {
  const Program &program = GetParam();
  for (char zero : llvm::StringRef(program.zeros)) {
    SCOPED_TRACE(std::string(1, zero));
    auto module = mlir::parseSourceString<mlir::ModuleOp>(textOf(program, zero, false), &context());
    ASSERT_TRUE(module);
    Shapes shapes;
    for (mlir::Type type : module->lookupSymbol<mlir::func::FuncOp>("f").getArgumentTypes())
      shapes.push_back(mlir::cast<mlir::RankedTensorType>(type).getShape().vec());
    for (bool dynamic : {false, true})
      for (const char *first : {"tile", "simplify"}) {
        FunctionOptions options;
        options.firstStage = first;
        expectAgreement(textOf(program, zero, dynamic), shapes, boundOf("f32"), 1, options);
      }
  }
}
INSTANTIATE_TEST_SUITE_P(Ops, ZeroSizes, testing::ValuesIn(kPrograms),
                         [](const auto &info) { return std::string(info.param.name); });

/// Every op of the dialect stands in a program above, or has no dimension that could be 0.
TEST(ZeroSizesTable, HasEveryOp) {
  std::string all;
  for (const Program &program : kPrograms)
    all += program.text;
  for (mlir::RegisteredOperationName op : context().getRegisteredOperationsByDialect("tw")) {
    llvm::StringRef name = op.getStringRef();
    // Constants stand for their bytes; states have pages; the others are made by the compiler from those above.
    if (llvm::is_contained({"tw.constant", "tw.yield", "tw.append", "tw.dispatch", "tw.differentiate"}, name) ||
        name.contains("packed_") || name == "tw.quantize_rows")
      continue;
    EXPECT_NE(all.find(name.str() + " "), std::string::npos) << name.str();
  }
}

// What has no answer is refused, with the number: by the verifier, or when a size turns out to be 0.
TEST(ZeroSizesTable, Refusals) {
  struct Case {
    const char *text, *said;
    Shapes shapes;
  } cases[] = {
      {R"(func.func @f(%x: tensor<2xAxf32>) -> tensor<2xf32> {
  %0 = tw.reduce "max" %x dims [1] : tensor<2xAxf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
})",
       "takes the max over dimension 1 of size 0",
       {{2, 0}}},
      {R"(func.func @f(%x: tensor<Ax2xf32>) -> tensor<Ax2xf32> {
  %0 = tw.softmax %x dim 0 : tensor<Ax2xf32>
  return %0 : tensor<Ax2xf32>
})",
       "has dim 0 of 'tensor<0x2xf32>', wanted a dimension that is not empty",
       {{0, 2}}},
      {R"(func.func @f(%x: tensor<1x2x3xAxf32>, %v: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
  %0 = tw.attention query(%x : tensor<1x2x3xAxf32>) key(%x : tensor<1x2x3xAxf32>) value(%v : tensor<1x2x3x4xf32>) {scale = 1.0 : f64} -> tensor<1x2x3x4xf32>
  return %0 : tensor<1x2x3x4xf32>
})",
       "has no kernel form for heads of 0 and 4 elements",
       {{1, 2, 3, 0}, {1, 2, 3, 4}}},
      {R"(func.func @f(%t: tensor<Ax4xf32>, %ids: tensor<1xi32>) -> tensor<1x4xf32> {
  %0 = tw.gather %t, %ids : tensor<Ax4xf32>, tensor<1xi32> -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
})",
       "gathers from a table of type 'tensor<0x4xf32>', which has no rows",
       {{0, 4}, {1}}},
  };
  for (const Case &c : cases)
    for (bool dynamic : {false, true}) {
      const std::string text = textOf({"", "A", "", c.text}, 'A', dynamic);
      std::string said;
      mlir::ScopedDiagnosticHandler handler(&context(),
                                            [&](mlir::Diagnostic &diagnostic) { said += diagnostic.str(); });
      auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context());
      reference::NoWeights none;
      if (module) {
        auto compiled = CompiledFunction::create(*module, "f", host().stages, none);
        if (succeeded(compiled)) {
          auto inputs = randomInputs(module->lookupSymbol<mlir::func::FuncOp>("f"), c.shapes, 1);
          EXPECT_TRUE(failed((*compiled)->run(inputs))) << text;
        }
      }
      EXPECT_NE(said.find(c.said), std::string::npos) << text << said;
    }
}

} // namespace
