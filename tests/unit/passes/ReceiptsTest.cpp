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
    registry.add({"fuse", "some-plugin-fuse", {}, {}, {}, {}});
    llvm::cantFail(collector.install(context, &registry));
    module = mlir::parseSourceString<mlir::ModuleOp>("func.func private @f() loc(\"model.twg\":3:7)\n"
                                                     "func.func private @g() loc(\"model.twg\":9:1)",
                                                     &context);
    f = module->lookupSymbol("f");
    g = module->lookupSymbol("g");
  }

  std::string required(llvm::StringRef kind) {
    llvm::Error error = collector.requireFused(kind);
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
  receipt::missed(g, "core-pass", "attention", "the form is dense");
  llvm::json::Value wanted = llvm::cantFail(llvm::json::parse(R"json([
    {"pass": "some-plugin-fuse", "plugin": "some_plugin", "kind": "norm", "function": "f", "location": "\"model.twg\":3:7",
     "outcome": "done", "reason": "one sweep", "details": {"rows": "16"}},
    {"pass": "core-pass", "plugin": "", "kind": "attention", "function": "g", "location": "\"model.twg\":9:1",
     "outcome": "missed", "reason": "the form is dense", "details": {}}])json"));
  EXPECT_EQ(collector.toJson(), wanted);
}

TEST_F(ReceiptsTest, RequiredKindIsFused) {
  receipt::done(f, "some-plugin-fuse", "attention", "by tiles");
  EXPECT_EQ(required("attention"), "");
}

TEST_F(ReceiptsTest, AMissedCandidateIsAnErrorWithItsReason) {
  receipt::done(f, "some-plugin-fuse", "attention", "by tiles");
  receipt::missed(g, "some-plugin-fuse", "attention", "the form is dense");
  EXPECT_EQ(required("attention"), "--require-fused=attention: not fused:\n  \"model.twg\":9:1: some-plugin-fuse: the form is dense");
}

TEST_F(ReceiptsTest, WhatAnotherPassDidAtTheSamePlaceIsNotMissed) {
  receipt::missed(f, "other-pass", "attention", "no such form");
  receipt::done(f, "some-plugin-fuse", "attention", "by tiles");
  EXPECT_EQ(required("attention"), "");
}

TEST_F(ReceiptsTest, NoCandidateIsAnError) {
  receipt::done(f, "some-plugin-fuse", "norm", "one sweep");
  EXPECT_EQ(required("attention"),
            "--require-fused=attention: no pass met a candidate of this kind (is the fusing plugin loaded?)");
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
