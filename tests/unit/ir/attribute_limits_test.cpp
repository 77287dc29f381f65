// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every number in an attribute of every core op, at its least, its greatest and out of range: refused or harmless,
// never a crash (the sanitizers watch for sums that wrap), and no number that nobody looks at.
#include "ir/tw/Tw.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <set>

using namespace mlir;
using namespace tilewright;

namespace {

constexpr int64_t extremes[] = {INT64_MIN, INT64_MIN + 1, -100000, -1, 9, 100000, INT64_MAX - 1, INT64_MAX};

/// `attribute` with each of its numbers replaced by each extreme, one at a time; arrays also shorter and longer.
SmallVector<Attribute> damaged(Attribute attribute) {
  Builder builder(attribute.getContext());
  SmallVector<Attribute> result;
  if (auto number = dyn_cast<IntegerAttr>(attribute); number && number.getType().isSignlessInteger(64))
    for (int64_t extreme : extremes)
      result.push_back(builder.getI64IntegerAttr(extreme));
  if (auto numbers = dyn_cast<DenseI64ArrayAttr>(attribute)) {
    SmallVector<int64_t> values(numbers.asArrayRef());
    for (size_t i = 0; i < values.size(); ++i)
      for (int64_t extreme : extremes) {
        SmallVector<int64_t> changed = values;
        changed[i] = extreme;
        result.push_back(builder.getDenseI64ArrayAttr(changed));
      }
    for (int64_t extreme : extremes) {
      SmallVector<int64_t> longer = values;
      longer.push_back(extreme);
      result.push_back(builder.getDenseI64ArrayAttr(longer));
    }
    if (!values.empty())
      result.push_back(builder.getDenseI64ArrayAttr(ArrayRef(values).drop_back()));
  }
  return result;
}

TEST(AttributeLimits, EveryNumberOfEveryOp) {
  MLIRContext context;
  context
      .loadDialect<affine::AffineDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect, tw::TwDialect>();
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(TILEWRIGHT_TEST_DATA "/ir/tw/round-trip.mlir", ParserConfig(&context));
  ASSERT_TRUE(module);
  std::set<std::string> looked, refused;
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &diagnostic) {
    EXPECT_FALSE(diagnostic.str().empty());
    return success();
  });
  module->walk([&](Operation *op) {
    if (op->getName().getDialectNamespace() != "tw")
      return;
    for (NamedAttribute entry : op->getAttrDictionary())
      for (Attribute changed : damaged(entry.getValue())) {
        std::string name = (op->getName().getStringRef() + "." + entry.getName().strref()).str();
        looked.insert(name);
        op->setAttr(entry.getName(), changed);
        if (failed(verify(op, /*verifyRecursively=*/false)))
          refused.insert(name);
        op->setAttr(entry.getName(), entry.getValue());
      }
  });
  EXPECT_TRUE(looked.count("tw.transpose.perm") && looked.count("tw.slice.start")) << "the ops of round-trip.mlir";
  EXPECT_EQ(refused, looked) << "a number that no verifier looks at";
}

} // namespace
