// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel of tw.attention from core words alone, for when no plugin fuses it: two sweeps over the keys, one for the
// maximum of each row, one for the weights.
#include "ir/tw/DenseAttention.h"
#include "ir/tw/PagedAttention.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tilewright::tw {

/// Rows at a time: each of the loops over keys has its own buffers.
static constexpr int64_t kMostRows = 48;

/// The first sweep: the larger of `init` and each row's largest score.
template <typename Attention> static Value sweepMaximum(Attention &a, Value init) {
  return a.forPages(init, [&](Value page, ValueRange state, bool masked) -> SmallVector<Value> {
    Value largest = a.rowMaximum(a.scores(page, masked));
    return {a.t.elementwise(largest, state[0], [](TileBuilder &s, ValueRange v) {
      return s.select(s.compare(arith::CmpFPredicate::OGT, v[0], v[1]), v[0], v[1]);
    })};
  })[0];
}

/// The second: sums of weights and unnormalised output.
template <typename Attention> static std::pair<Value, Value> sweepWeights(Attention &a, Value maximum, Value sums) {
  SmallVector<Value> done = a.forPages({sums, a.filled({a.rows(), a.valueDim()}, 0.0)},
                                       [&](Value page, ValueRange state, bool masked) -> SmallVector<Value> {
                                         auto [weights, total] =
                                             a.weights(a.scores(page, masked), maximum, state[0], masked);
                                         return {total, a.accumulate(state[1], weights, page, masked)};
                                       });
  return {done[0], done[1]};
}

static LogicalResult buildDense(AttentionOp op, KernelBuilder &kernel) {
  FailureOr<DenseAttention> attention = DenseAttention::create(DenseAttentionSpec::of(op, kMostRows), kernel);
  if (failed(attention))
    return failure();
  return attention->build([](DenseAttention &a) -> DenseAttention::Block {
    auto [largest, zeros] = a.initial();
    Value maximum = sweepMaximum(a, largest);
    auto [sums, acc] = sweepWeights(a, maximum, zeros);
    return {maximum, sums, acc};
  });
}

LogicalResult AttentionOp::buildKernel(KernelBuilder &kernel) {
  if (!isRagged())
    return buildDense(*this, kernel);
  FailureOr<PagedAttention> attention = PagedAttention::create(PagedAttentionSpec::of(*this, kMostRows), kernel);
  if (failed(attention))
    return failure();
  return attention->build([](PagedAttention &a) -> std::pair<Value, Value> {
    Value maximum = sweepMaximum(a, a.initial().first);
    auto [own, sums] = a.initial();
    if (a.hasSinks())
      sums = a.t.elementwise({own, maximum}, sums, [](TileBuilder &s, ValueRange v) -> Value {
        return math::Exp2Op::create(s.b, s.loc, s.sub(v[0], v[1]));
      });
    auto [total, acc] = sweepWeights(a, maximum, sums);
    return {acc, total};
  });
}

} // namespace tilewright::tw
