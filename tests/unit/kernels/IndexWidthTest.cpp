// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addresses are computed in 64 bits: numbers of 32 bits that reach one are read from tables (ids, pages, offsets), and
// widened before anything is added to or multiplied with them. Every kernel of the programs below is looked through, as
// LLVM gets it.
#include "backends/cpu/Passes.h"
#include "tests/unit/kernels/Inputs.h"
#include "tests/unit/kernels/ProgramRunner.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::test;

namespace {

/// Values that a value of integers is computed from, in the same or a wider type, block arguments through all edges.
SmallVector<Value> sourcesOf(Value value) {
  SmallVector<Value> sources;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Block *block = argument.getOwner();
    for (auto it = block->pred_begin(); it != block->pred_end(); ++it) {
      auto branch = cast<BranchOpInterface>((*it)->getTerminator());
      Value operand = branch.getSuccessorOperands(it.getSuccessorIndex())[argument.getArgNumber()];
      sources.push_back(operand);
    }
    return sources;
  }
  Operation *op = value.getDefiningOp();
  if (isa<LLVM::LoadOp>(op) || op->getNumRegions())
    return sources;
  for (Value operand : op->getOperands())
    if (isa<IntegerType>(getElementTypeOrSelf(operand.getType())) &&
        !getElementTypeOrSelf(operand.getType()).isInteger(1))
      sources.push_back(operand);
  return sources;
}

bool isNarrowArithmetic(Operation *op) {
  return op && isa<LLVM::AddOp, LLVM::SubOp, LLVM::MulOp, LLVM::ShlOp>(op) &&
         getElementTypeOrSelf(op->getResult(0).getType()).getIntOrFloatBitWidth() < 64;
}

struct Looked {
  int64_t addresses = 0, widened = 0, narrow = 0;
};

void look(Operation *kernel, Looked &looked) {
  llvm::SetVector<Value> values;
  kernel->walk([&](LLVM::GEPOp address) {
    ++looked.addresses;
    for (Value index : address.getDynamicIndices()) {
      EXPECT_EQ(getElementTypeOrSelf(index.getType()).getIntOrFloatBitWidth(), 64u);
      values.insert(index);
    }
  });
  for (size_t i = 0; i < values.size(); ++i) {
    Operation *op = values[i].getDefiningOp();
    looked.widened += op && isa<LLVM::SExtOp, LLVM::ZExtOp>(op);
    if (isNarrowArithmetic(op)) {
      ++looked.narrow;
      op->emitRemark("reaches an address");
    }
    values.insert_range(sourcesOf(values[i]));
  }
}

/// Looks through all kernels of a program.
void lookThrough(StringRef text, StringRef first, Looked &looked) {
  for (StringRef shapeClass : {"decode", "prefill"}) {
    auto module = parseSourceString<ModuleOp>(text, &context());
    ASSERT_TRUE(module) << text.str();
    PipelineOptions options;
    options.numerics = "precise";
    options.shapeClass = shapeClass.str();
    PassManager passes(&context());
    llvm::cantFail(buildStages(passes, host().stages, options, first, "tile"));
    ASSERT_TRUE(succeeded(passes.run(*module)));
    for (auto function : module->getOps<func::FuncOp>()) {
      if (!function->hasAttr("tw.kernel"))
        continue;
      OwningOpRef<ModuleOp> kernel = ModuleOp::create(module->getLoc());
      kernel->push_back(function.clone());
      PassManager lower(&context());
      buildCpuPipeline(lower, *hostCpuLevels().back());
      ASSERT_TRUE(succeeded(lower.run(*kernel))) << function.getName().str();
      look(*kernel, looked);
    }
  }
}

std::string attentionText(StringRef file) {
  std::string text = inputText(file.str());
  for (auto [word, by] : std::vector<std::pair<const char *, const char *>>{{"SINKS", ""},
                                                                            {"MORE", ", window = 70 : i64"},
                                                                            {"CAUSAL", "end"},
                                                                            {"H", "4"},
                                                                            {"K", "2"},
                                                                            {"DV", "32"},
                                                                            {"D", "32"}})
    text = replaced(text, word, by);
  return text;
}

const char *const kDense = R"(
func.func @f(%q: tensor<2x4x70x32xf32>, %k: tensor<2x2x90x32xf32>, %m: tensor<70x90xi1>, %s: tensor<2xi32>, %p: tensor<2x70x3x4x32xf32>)
    -> (tensor<2x4x70x32xf32>, tensor<2x70x4x32xf32>) {
  %0 = tw.attention query(%q : tensor<2x4x70x32xf32>) key(%k : tensor<2x2x90x32xf32>) value(%k : tensor<2x2x90x32xf32>) mask(%m : tensor<70x90xi1>)
         kv_start(%s : tensor<2xi32>) {scale = 0.2 : f64, causal = "end"} -> tensor<2x4x70x32xf32>
  %1 = tw.attention query(%p : tensor<2x70x3x4x32xf32>) {scale = 0.2 : f64, layout = "bt3hd", causal = "end", window = 5 : i64} -> tensor<2x70x4x32xf32>
  return %0, %1 : tensor<2x4x70x32xf32>, tensor<2x70x4x32xf32>
})";

const char *const kRows = R"(
ml_program.global private @w(#ml_program.extern : tensor<6x32x64xf32>) : tensor<6x32x64xf32>
ml_program.global private @t(#ml_program.extern : tensor<300x64xf32>) : tensor<300x64xf32>
func.func @f(%ids0: tensor<?xi32>, %logits: tensor<?x6xf32>) -> (tensor<?x300xf32>, tensor<?x32xf32>) {
  %w = ml_program.global_load_const @w : tensor<6x32x64xf32>
  %t = ml_program.global_load_const @t : tensor<300x64xf32>
  %x = tw.gather %t, %ids0 : tensor<300x64xf32>, tensor<?xi32> -> tensor<?x64xf32>
  %l = tw.linear %x, %t : tensor<?x64xf32>, tensor<300x64xf32> -> tensor<?x300xf32>
  %v, %i = tw.topk %logits k 2 : tensor<?x6xf32> -> tensor<?x2xf32>, tensor<?x2xi32>
  %ids = tw.reshape %i : tensor<?x2xi32> -> tensor<?xi32>
  %rows, %places, %offsets = tw.group_rows %ids groups 6 per_row 2 : tensor<?xi32> -> tensor<?xi32>, tensor<?xi32>, tensor<7xi32>
  %s = tw.gather %x, %rows : tensor<?x64xf32>, tensor<?xi32> -> tensor<?x64xf32>
  %y = tw.grouped_linear %s, %w offsets %offsets : tensor<?x64xf32>, tensor<6x32x64xf32>, tensor<7xi32> -> tensor<?x32xf32>
  %z = tw.gather %y, %places : tensor<?x32xf32>, tensor<?xi32> -> tensor<?x32xf32>
  %p = tw.reshape %z : tensor<?x32xf32> -> tensor<?x2x32xf32>
  %sum = tw.reduce "sum" %p dims [1] : tensor<?x2x32xf32> -> tensor<?x32xf32>
  return %l, %sum : tensor<?x300xf32>, tensor<?x32xf32>
})";

} // namespace

TEST(IndexWidth, AddressesAreComputedInSixtyFourBits) {
  Looked looked;
  lookThrough(kDense, "tile", looked);
  lookThrough(kDense, "simplify", looked);
  lookThrough(kRows, "tile", looked);
  lookThrough(attentionText("attention.mlir"), "tile", looked);
  for (const std::string &text : {attentionText("attention-fused.mlir"), inputText("ops.mlir")})
    if (hasDialects(text))
      lookThrough(text, "tile", looked);
  EXPECT_GT(looked.addresses, 200);
  EXPECT_GT(looked.widened, 5) << "indices that come from tables";
  EXPECT_EQ(looked.narrow, 0);
}

// The search finds what it looks for.
TEST(IndexWidth, NarrowArithmeticIsFound) {
  auto module = parseSourceString<ModuleOp>(R"(
llvm.func @f(%p: !llvm.ptr, %i: i32, %n: i32) -> f32 {
  %a = llvm.mul %i, %n : i32
  %zero = llvm.mlir.constant(0 : i64) : i64
  %b = llvm.sext %a : i32 to i64
  llvm.br ^next(%b : i64)
^next(%c: i64):
  %d = llvm.add %c, %zero : i64
  %q = llvm.getelementptr %p[%d] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %x = llvm.load %q : !llvm.ptr -> f32
  llvm.return %x : f32
})",
                                            &context());
  ASSERT_TRUE(module);
  Looked looked;
  ScopedDiagnosticHandler quiet(&context(), [](Diagnostic &) { return success(); });
  look(*module, looked);
  EXPECT_EQ(looked.narrow, 1);
}
