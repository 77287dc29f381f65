// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel of flash_attention.attention: one sweep over the pages of keys, with a running maximum m, a running sum l and
// an unnormalised accumulator for each row (Dao et al., 2022; the rescaling form of Milakov and Gimelshein, 2018).
#include "plugins/flash_attention/FlashAttention.h"

#include "ir/tw/PagedAttention.h"

#include "mlir/Dialect/Math/IR/Math.h"

namespace tilewright::flash_attention {

using namespace mlir;

/// One page: what m, l and the accumulator become.
static SmallVector<Value> visitPage(tw::PagedAttention &a, Value page, ValueRange state, bool masked) {
  TileBuilder &t = a.t;
  Value maximum = state[0], sums = state[1], acc = state[2];
  Value scores = a.scores(page, masked);
  Value largest = a.rowMaximum(scores);
  auto larger = [](TileBuilder &s, Value x, Value y) { return s.select(s.compare(arith::CmpFPredicate::OGT, x, y), x, y); };
  // The factor before the new maximum: the old one is dead by then, and is updated in place.
  Value factor = t.elementwise({maximum, largest}, t.alloc({a.rows()}, t.b.getF32Type()), [&](TileBuilder &s, ValueRange v) -> Value {
    return math::Exp2Op::create(s.b, s.loc, s.sub(v[0], larger(s, v[0], v[1])));
  });
  maximum = t.elementwise(largest, maximum, [&](TileBuilder &s, ValueRange v) { return larger(s, v[0], v[1]); });
  sums = t.elementwise(factor, sums, [](TileBuilder &s, ValueRange v) { return s.mul(v[0], v[1]); });
  auto [weights, total] = a.weights(scores, maximum, sums, masked);
  AffineMap elements = t.map(2, {t.d(0), t.d(1)}), perRow = t.map(2, {t.d(0), t.zero()});
  acc = t.generic(t.reshape(factor, {a.rows(), 1}), acc, {perRow, elements}, "pp",
                  [](TileBuilder &s, ValueRange v) { return s.mul(v[0], v[1]); });
  return {maximum, total, a.accumulate(acc, weights, page, masked)};
}

/// Rows whose scores, queries and sums an item keeps: more than a core's cache serves well.
static constexpr int64_t kMostRows = 128;

LogicalResult AttentionOp::buildKernel(KernelBuilder &kernel) {
  if (!getState())
    return emitOpError("has no kernel form without a state: wanted the ragged form");
  tw::PagedAttentionSpec spec{getOperation(),         getQuery(), getState(), getSinks(), getScale().convertToDouble(),
                              getCausal() == "end", std::nullopt, 0.0, kMostRows};
  if (getWindow())
    spec.window = *getWindow();
  if (getSoftcap())
    spec.softcap = getSoftcap()->convertToDouble();
  FailureOr<tw::PagedAttention> attention = tw::PagedAttention::create(spec, kernel);
  if (failed(attention))
    return failure();
  return attention->build([](tw::PagedAttention &a) -> std::pair<Value, Value> {
    auto [maximum, sums] = a.initial();
    Value acc = a.t.filled({a.rows(), a.valueDim()}, 0.0);
    SmallVector<Value> done = a.forPages({maximum, sums, acc}, [&](Value page, ValueRange state, bool masked) {
      return visitPage(a, page, state, masked);
    });
    return {done[2], done[1]};
  });
}

} // namespace tilewright::flash_attention
