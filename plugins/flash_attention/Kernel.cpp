// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel of flash_attention.attention: one sweep over the pages of keys, with a running maximum m, a running sum l
// and an unnormalised accumulator for each row (Dao et al., 2022; the rescaling form of Milakov and Gimelshein, 2018).
#include "plugins/flash_attention/FlashAttention.h"

#include "ir/tw/DenseAttention.h"
#include "ir/tw/PagedAttention.h"

namespace tilewright::flash_attention {

using namespace mlir;

/// One page or tile: what m, l and the accumulator become.
template <typename Attention> static SmallVector<Value> visit(Attention &a, Value page, ValueRange state, bool masked) {
  TileBuilder &t = a.t;
  Value maximum = state[0], sums = state[1], acc = state[2];
  Value scores = a.scores(page, masked);
  Value largest = a.rowMaximum(scores);
  auto larger = [](TileBuilder &s, Value x, Value y) {
    return s.select(s.compare(arith::CmpFPredicate::OGT, x, y), x, y);
  };
  // The factor before the new maximum: the old one is dead by then, and is updated in place.
  Value factor = t.elementwise({maximum, largest}, t.alloc({a.rows()}, a.element()), [&](TileBuilder &s, ValueRange v) {
    return a.weight(s, v[0], larger(s, v[0], v[1]), false);
  });
  maximum = t.elementwise(largest, maximum, [&](TileBuilder &s, ValueRange v) { return larger(s, v[0], v[1]); });
  sums = t.elementwise(factor, sums, [](TileBuilder &s, ValueRange v) { return s.mul(v[0], v[1]); });
  auto [weights, total] = a.weights(scores, maximum, sums, masked);
  AffineMap elements = t.map(2, {t.d(0), t.d(1)}), perRow = t.map(2, {t.d(0), t.zero()});
  acc = t.generic(t.reshape(factor, {a.rows(), 1}), acc, {perRow, elements}, "pp",
                  [](TileBuilder &s, ValueRange v) { return s.mul(v[0], v[1]); });
  return {maximum, total, a.accumulate(acc, weights, page, masked)};
}

template <typename Attention> static SmallVector<Value> sweep(Attention &a) {
  auto [maximum, sums] = a.initial();
  Value acc = a.filled({a.rows(), a.valueDim()}, 0.0);
  return a.forPages({maximum, sums, acc},
                    [&](Value page, ValueRange state, bool masked) { return visit(a, page, state, masked); });
}

/// Rows whose scores, queries and sums an item keeps: more than a core's cache serves well.
static constexpr int64_t kMostRows = 128;

static LogicalResult buildDense(const tw::DenseAttentionSpec &spec, KernelBuilder &kernel) {
  FailureOr<tw::DenseAttention> attention = tw::DenseAttention::create(spec, kernel);
  if (failed(attention))
    return failure();
  return attention->build([](tw::DenseAttention &a) -> tw::DenseAttention::Block {
    SmallVector<Value> done = sweep(a);
    return {done[0], done[1], done[2]};
  });
}

LogicalResult PartialsOp::buildKernel(KernelBuilder &kernel) {
  tw::DenseAttentionSpec spec = tw::DenseAttentionSpec::of(*this, kMostRows);
  spec.parts = getParts();
  return buildDense(spec, kernel);
}

LogicalResult AttentionOp::buildKernel(KernelBuilder &kernel) {
  if (!getState())
    return buildDense(tw::DenseAttentionSpec::of(*this, kMostRows), kernel);
  FailureOr<tw::PagedAttention> attention =
      tw::PagedAttention::create(tw::PagedAttentionSpec::of(*this, kMostRows), kernel);
  if (failed(attention))
    return failure();
  return attention->build([](tw::PagedAttention &a) -> std::pair<Value, Value> {
    SmallVector<Value> done = sweep(a);
    return {done[2], done[1]};
  });
}

} // namespace tilewright::flash_attention
