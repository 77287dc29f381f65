// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/api/Order.h"
#include "passes/api/Stages.h"

#include "llvm/Support/Error.h"
#include "gtest/gtest.h"

#include <algorithm>

using namespace tilewright;

namespace {

using Numbers = std::vector<size_t>;

TEST(Order, KeepsNumericOrderWithoutEdges) {
  EXPECT_EQ(topologicalOrder(4, {}).order, (Numbers{0, 1, 2, 3}));
  EXPECT_TRUE(topologicalOrder(0, {}).order.empty());
}

TEST(Order, PutsSourcesFirst) {
  EXPECT_EQ(topologicalOrder(4, {{3, 0}, {2, 3}}).order, (Numbers{2, 3, 0, 1}));
  EXPECT_EQ(topologicalOrder(3, {{0, 1}, {0, 1}, {1, 2}}).order, (Numbers{0, 1, 2})); // a doubled edge is one edge
}

TEST(Order, NamesACycleInEdgeOrder) {
  OrderResult result = topologicalOrder(5, {{0, 1}, {1, 3}, {3, 4}, {4, 1}});
  EXPECT_TRUE(result.order.empty());
  ASSERT_EQ(result.cycle.size(), 3u);
  // 1 -> 3 -> 4 -> 1, from whichever vertex.
  Numbers doubled(result.cycle);
  doubled.insert(doubled.end(), result.cycle.begin(), result.cycle.end());
  Numbers wanted = {1, 3, 4};
  EXPECT_NE(std::search(doubled.begin(), doubled.end(), wanted.begin(), wanted.end()), doubled.end());
  EXPECT_EQ(topologicalOrder(1, {{0, 0}}).cycle, (Numbers{0}));
}

StagePass pass(const char *stage, const char *name, std::vector<std::string> before = {},
               std::vector<std::string> after = {}) {
  return {stage, name, std::move(before), std::move(after), {}, {}};
}

std::string names(llvm::Expected<std::vector<const StagePass *>> passes) {
  if (!passes)
    return "error: " + llvm::toString(passes.takeError());
  std::string text;
  for (const StagePass *p : *passes)
    text += p->name + " ";
  return text;
}

TEST(Stages, OrdersByBeforeAndAfter) {
  StageRegistry registry;
  registry.add(pass("fuse", "c"));
  registry.add(pass("simplify", "elsewhere"));
  registry.add(pass("fuse", "b", {"c", "elsewhere", "nobody"}));
  registry.add(pass("fuse", "a", {}, {"c"}));
  EXPECT_EQ(names(orderStage(registry, "fuse")), "b c a ");
  EXPECT_EQ(names(orderStage(registry, "share")), "");
}

TEST(Stages, PrintsACycle) {
  StageRegistry registry;
  registry.add(pass("fuse", "first", {"second"}));
  registry.add(pass("fuse", "second", {"first"}));
  std::string message = names(orderStage(registry, "fuse"));
  EXPECT_TRUE(message == "error: the passes of stage 'fuse' cannot be ordered: first -> second -> first" ||
              message == "error: the passes of stage 'fuse' cannot be ordered: second -> first -> second")
      << message;
}

TEST(Stages, RefusesAnUnknownStage) {
  StageRegistry registry;
  EXPECT_EQ(names(orderStage(registry, "fuze")),
            "error: unknown stage 'fuze', wanted one of import, simplify, recognise, share, differentiate, distribute, "
            "fuse, tile, bufferize, lower, emit");
}

TEST(Stages, RemembersWhoRegistered) {
  StageRegistry registry;
  registry.currentPlugin = "somebody";
  registry.add(pass("fuse", "theirs"));
  registry.currentPlugin.clear();
  registry.add(pass("fuse", "ours"));
  EXPECT_EQ(registry.all()[0].plugin, "somebody");
  EXPECT_EQ(registry.all()[1].plugin, "");
}

} // namespace
