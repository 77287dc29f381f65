// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel of tw.attention from core words alone, for when no plugin fuses it: two sweeps over the keys, one for the
// maximum of each row, one for the weights.
#include "ir/tw/DenseAttention.h"
#include "ir/tw/PagedAttention.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tilewright::tw {

/// Rows at a time: each of the four loops over pages has its own buffers.
static constexpr int64_t kMostRows = 48;

LogicalResult AttentionOp::buildKernel(KernelBuilder &kernel) {
  if (!getState())
    return buildDenseAttention(*this, kernel);
  PagedAttentionSpec spec{getOperation(), getQuery(), getState(), getSinks(), getScale().convertToDouble(),
                          getCausal() == "end", std::nullopt, 0.0, kMostRows};
  if (getWindow())
    spec.window = *getWindow();
  if (getSoftcap())
    spec.softcap = getSoftcap()->convertToDouble();
  FailureOr<PagedAttention> attention = PagedAttention::create(spec, kernel);
  if (failed(attention))
    return failure();
  return attention->build([](PagedAttention &a) -> std::pair<Value, Value> {
    TileBuilder &t = a.t;
    Value maximum = a.forPages(a.initial().first, [&](Value page, ValueRange state, bool masked) -> SmallVector<Value> {
      Value largest = a.rowMaximum(a.scores(page, masked));
      return {t.elementwise(largest, state[0], [](TileBuilder &s, ValueRange v) {
        return s.select(s.compare(arith::CmpFPredicate::OGT, v[0], v[1]), v[0], v[1]);
      })};
    })[0];
    auto [own, sums] = a.initial();
    if (a.hasSinks())
      sums = t.elementwise({own, maximum}, sums, [](TileBuilder &s, ValueRange v) -> Value {
        return math::Exp2Op::create(s.b, s.loc, s.sub(v[0], v[1]));
      });
    SmallVector<Value> done = a.forPages(
        {sums, t.filled({a.rows(), a.valueDim()}, 0.0)}, [&](Value page, ValueRange state, bool masked) -> SmallVector<Value> {
          auto [weights, total] = a.weights(a.scores(page, masked), maximum, state[0], masked);
          return {total, a.accumulate(state[1], weights, page, masked)};
        });
    return {done[1], done[0]};
  });
}

} // namespace tilewright::tw
