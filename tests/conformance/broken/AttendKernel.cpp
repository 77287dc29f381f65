// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// broken.attend: its kernel takes every slot of a page for a key, whatever the length of the sequence.
#include "tests/conformance/broken/Broken.h"

#include "ir/tw/PagedAttention.h"

namespace tilewright::broken {

using namespace mlir;

FailureOr<SmallVector<Value>> AttendOp::lowerToReference(OpBuilder &builder) {
  auto attention = tw::AttentionOp::create(builder, getLoc(), getType(), getQuery(), Value(), Value(), 1.0);
  attention.getStateMutable().assign(getState());
  attention.getRowStartMutable().assign(getRowStart());
  attention.getKvLenMutable().assign(getKvLen());
  attention.getPositionsMutable().assign(getPositions());
  return SmallVector<Value>{attention.getResult()};
}

NumericsBound AttendOp::getNumericsBound(StringRef) { return {0.0, 1e-4}; }

LogicalResult AttendOp::buildKernel(KernelBuilder &kernel) {
  constexpr int64_t kMostRows = 128;
  tw::PagedAttentionSpec spec{getOperation(),   getQuery(),   getState(), Value(),  1.0,
                              /*causal=*/false, std::nullopt, 0.0,        kMostRows};
  FailureOr<tw::PagedAttention> attention = tw::PagedAttention::create(spec, kernel);
  if (failed(attention))
    return failure();
  return attention->build([](tw::PagedAttention &a) -> std::pair<Value, Value> {
    Value maximum = a.t.filled({a.rows()}, 0.0); // the scores of the sample are small
    SmallVector<Value> done = a.forPages({a.t.filled({a.rows()}, 0.0), a.t.filled({a.rows(), a.valueDim()}, 0.0)},
                                         [&](Value page, ValueRange state, bool) -> SmallVector<Value> {
                                           auto [weights, total] =
                                               a.weights(a.scores(page, false), maximum, state[0], false);
                                           return {total, a.accumulate(state[1], weights, page, false)};
                                         });
    return {done[1], done[0]};
  });
}

} // namespace tilewright::broken
