// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/api/Receipts.h"
#include "passes/api/Stages.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace tilewright;

namespace {

class ReceiptsTest : public testing::Test {
protected:
  ReceiptsTest() {
    context.loadDialect<mlir::func::FuncDialect>();
    registry.currentPlugin = "some_plugin";
    registry.add({"fuse", "some-plugin-fuse", {}, {}, {}, {}, {"talking_heads"}});
    registry.add({"fuse", "other-fuse", {}, {}, {}, {}});
    registry.add({"recognise", "some-plugin-recognise", {}, {}, {}, {}});
    llvm::cantFail(collector.install(context, &registry));
    module = mlir::parseSourceString<mlir::ModuleOp>("func.func private @f() loc(\"model.twg\":3:7)\n"
                                                     "func.func private @g() loc(fused[\"model.twg\":9:0])",
                                                     &context);
    f = module->lookupSymbol("f");
    g = module->lookupSymbol("g");
  }

  std::string required(llvm::StringRef kind) {
    llvm::Error error = collector.requireFused(kind, [](llvm::StringRef place) { return ("at " + place).str(); });
    return error ? llvm::toString(std::move(error)) : "";
  }

  // The collector outlives the context, which reports to it.
  StageRegistry registry;
  ReceiptCollector collector;
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::Operation *f, *g;
};

TEST_F(ReceiptsTest, BecomeJson) {
  receipt::done(f, "some-plugin-fuse", "norm", "one sweep", {{"rows", "16"}});
  receipt::missed(g, "core-pass", "attention", "the form is dense", "use a state");
  llvm::json::Value wanted = llvm::cantFail(llvm::json::parse(R"json([
    {"pass": "some-plugin-fuse", "stage": "fuse", "plugin": "some_plugin", "kind": "norm", "function": "f",
     "location": "model.twg:3:7", "outcome": "done", "reason": "one sweep", "advice": "", "details": {"rows": "16"}},
    {"pass": "core-pass", "stage": "", "plugin": "", "kind": "attention", "function": "g", "location": "model.twg:9",
     "outcome": "missed", "reason": "the form is dense", "advice": "use a state", "details": {}}])json"));
  EXPECT_EQ(collector.toJson(), wanted);
}

TEST_F(ReceiptsTest, ScopesAreDetails) {
  {
    ReceiptScope outer(collector, "level", "avx2");
    ReceiptScope inner(collector, "shape_class", "decode");
    receipt::done(f, "some-plugin-fuse", "norm", "one sweep");
  }
  receipt::done(g, "some-plugin-fuse", "norm", "one sweep");
  std::vector<Receipt> all = collector.receipts();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].scope, "avx2.decode");
  ASSERT_EQ(all[0].details.size(), 2u);
  EXPECT_EQ(all[0].details[1], std::make_pair(std::string("shape_class"), std::string("decode")));
  EXPECT_EQ(all[1].scope, "");
}

TEST_F(ReceiptsTest, AreTakenOnce) {
  receipt::done(g, "some-plugin-fuse", "norm", "one sweep");
  receipt::done(f, "some-plugin-fuse", "norm", "two sweeps");
  std::vector<Receipt> taken = collector.take();
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken[0].function, "f");
  EXPECT_EQ(taken[1].function, "g");
  receipt::done(g, "some-plugin-fuse", "norm", "three sweeps");
  taken = collector.take();
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].reason, "three sweeps");
  EXPECT_TRUE(collector.receipts().empty());
}

TEST_F(ReceiptsTest, PostConditionsAreCounted) {
  for (llvm::StringRef level : {"avx2", "avx512"}) {
    ReceiptScope scope(collector, "level", level);
    receipt::held(f, "cpu-check-buffers", {"no copy", "no heap"});
    receipt::held(g, "cpu-check-buffers", {"no copy"});
  }
  std::vector<PostCondition> all = collector.postConditions();
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].condition, "no copy");
  EXPECT_EQ(all[0].kernels, 2u);
  EXPECT_EQ(all[1].condition, "no heap");
  EXPECT_EQ(all[1].kernels, 1u);
  EXPECT_EQ(all[2].scope.front().second, "avx512");
  EXPECT_TRUE(collector.receipts().empty());
  llvm::json::Value json = collector.toJson();
  EXPECT_EQ((*json.getAsArray())[0], llvm::cantFail(llvm::json::parse(R"json(
    {"pass": "cpu-check-buffers", "stage": "", "plugin": "", "kind": "post_condition", "function": "", "location": "",
     "outcome": "held", "reason": "no copy", "advice": "", "details": {"level": "avx2", "kernels": "2"}})json")));
}

TEST_F(ReceiptsTest, RequiredKindIsFused) {
  receipt::done(f, "some-plugin-fuse", "attention", "by tiles");
  EXPECT_EQ(required("attention"), "");
}

TEST_F(ReceiptsTest, AMissedCandidateIsAnErrorWithItsReason) {
  receipt::done(f, "some-plugin-fuse", "attention", "by tiles");
  receipt::missed(g, "some-plugin-fuse", "attention", "the form is dense", "use a state");
  EXPECT_EQ(required("attention"),
            "--require-fused=attention: not fused:\n  at model.twg:9: some-plugin-fuse: the form is dense\n"
            "    to change: use a state");
}

TEST_F(ReceiptsTest, WhatAnotherPassOfTheStageDidAtTheSamePlaceIsNotMissed) {
  receipt::missed(f, "other-fuse", "attention", "no such form", "");
  receipt::done(f, "some-plugin-fuse", "attention", "by tiles");
  EXPECT_EQ(required("attention"), "");
}

TEST_F(ReceiptsTest, TheLatestStageDecides) {
  receipt::done(f, "some-plugin-recognise", "attention", "raised");
  receipt::missed(f, "some-plugin-fuse", "attention", "no such form", "");
  EXPECT_EQ(required("attention"),
            "--require-fused=attention: not fused:\n  at model.twg:3:7: some-plugin-fuse: no such form");
  receipt::missed(g, "some-plugin-recognise", "norm", "not quite", "");
  receipt::done(g, "some-plugin-fuse", "norm", "one sweep");
  EXPECT_EQ(required("norm"), "");
}

TEST_F(ReceiptsTest, EachScopeCounts) {
  for (llvm::StringRef shapeClass : {"decode", "prefill"}) {
    ReceiptScope scope(collector, "shape_class", shapeClass);
    if (shapeClass == "decode")
      receipt::done(f, "some-plugin-fuse", "norm", "one sweep");
    else
      receipt::missed(f, "some-plugin-fuse", "norm", "too wide", "");
  }
  EXPECT_EQ(required("norm"), "--require-fused=norm: not fused:\n  at model.twg:3:7: some-plugin-fuse: too wide");
}

TEST_F(ReceiptsTest, NoCandidateIsAnError) {
  receipt::done(f, "some-plugin-fuse", "norm", "one sweep");
  EXPECT_EQ(required("attention"),
            "--require-fused=attention: no pass met a candidate of this kind (is the plugin that "
            "makes or fuses it loaded?)");
}

TEST_F(ReceiptsTest, KindsAreCoresAndPlugins) {
  for (const ReceiptKind &kind : coreReceiptKinds())
    EXPECT_FALSE(checkReceiptKind(kind.name, registry)) << kind.name.str();
  EXPECT_FALSE(checkReceiptKind("talking_heads", registry));
  EXPECT_EQ(llvm::toString(checkReceiptKind("atention", registry)),
            "unknown kind 'atention' of receipts; wanted one of attention, softmax, shared_heads, norm, feed_forward, "
            "rotary, "
            "residual, elementwise, integer_products, weights, reference_form, talking_heads");
}

TEST_F(ReceiptsTest, OneCollectorPerContext) {
  ReceiptCollector second;
  EXPECT_EQ(llvm::toString(second.install(context, nullptr)), "this context already has a remark engine");
}

TEST(Receipts, NobodyCollects) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::func::FuncDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>("func.func private @f()", &context);
  receipt::done(module->lookupSymbol("f"), "pass", "norm", "nothing happens");
}

} // namespace
