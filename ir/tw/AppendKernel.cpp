// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel of tw.append: one row a chunk, written to its slot of its page. Rows of different chunks share no byte, also
// where two tokens stand in a pair.
#include "ir/interfaces/KernelBuilder.h"
#include "ir/interfaces/TileBuilder.h"
#include "ir/tw/Tw.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace tilewright::tw {

namespace {

/// Writes `from` [dim], a token's part for one head, to its slot of `pool` and returns what the pool has become.
Value writeToken(TileBuilder &t, Value from, Value pool, Value page, Value head, Value slot, bool transposed,
                 bool paired) {
  int64_t dim = shapeOf(from)[0];
  OpFoldResult zero = t.b.getIndexAttr(0);
  // [pages, heads, dim, 64] or [pages, heads, 64, dim]
  SmallVector<OpFoldResult> at = {page, head, zero, zero};
  SmallVector<int64_t> sizes = {1, 1, 1, 1}, shape = {dim};
  at[transposed ? 3 : 2] = slot;
  sizes[transposed ? 2 : 3] = dim;
  if (paired && transposed) { // [pages, heads, ceil(dim / 2), 64, 2]: the token's numbers are pairs
    shape = {(dim + 1) / 2, 2};
    sizes[2] = shape[0];
    at.push_back(zero);
    sizes.push_back(2);
    if (dim % 2) {
      Value padded = t.filled(dim + 1, 0.0);
      Value copy =
          t.elementwise(from, t.slice(padded, {zero}, {dim}), [](TileBuilder &, ValueRange a) { return a[0]; });
      from = t.insert(copy, padded, {zero}, {dim});
    }
    from = t.reshape(from, shape);
  } else if (paired) { // [pages, heads, 32, dim, 2]: the token is one half of its pair
    at[2] = t.div(slot, t.constant(2));
    at.push_back(t.rem(slot, t.constant(2)));
    sizes.push_back(1);
  }
  Value copy = t.elementwise(from, t.slice(pool, at, sizes, shape), [&](TileBuilder &s, ValueRange a) -> Value {
    return paired ? arith::TruncFOp::create(s.b, s.loc, s.b.getBF16Type(), a[0]).getResult() : a[0];
  });
  return t.insert(copy, pool, at, sizes);
}

} // namespace

LogicalResult AppendOp::buildKernel(KernelBuilder &kernel) {
  TileBuilder t(kernel.builder(), kernel.loc());
  for (RankedTensorType buffer : getState().getType().getBuffers())
    if (buffer.getRank() != 3 || buffer.isDynamicDim(1) || buffer.isDynamicDim(2))
      return emitOpError("has no kernel form for a buffer of type ") << buffer << ", wanted [tokens, heads, dim]";
  SmallVector<Value> rows, pools, pages;
  for (auto [i, value] : llvm::enumerate(getValues())) {
    rows.push_back(kernel.tensor(value));
    if (!rows.back())
      return failure();
    pools.push_back(kernel.statePool(getState(), i));
    pages.push_back(t.tensorOf(pools.back(), /*writable=*/true));
  }
  Value slots = kernel.table(StepTable::RowSlots, getState().getType().isSource());
  OpFoldResult zero = t.b.getIndexAttr(0);

  ValueRange done = kernel.forChunks(pages, [&](Value row, ValueRange state) -> SmallVector<Value> {
    Value page = t.toIndex(memref::LoadOp::create(t.b, t.loc, slots, ValueRange{row, t.constant(0)}));
    Value slot = t.toIndex(memref::LoadOp::create(t.b, t.loc, slots, ValueRange{row, t.constant(1)}));
    // A padding row has page -1: no round.
    Value real = t.compare(arith::CmpIPredicate::sge, page, t.constant(0));
    Value rounds = t.select(real, t.constant(1), t.constant(0));
    return t.loop(t.constant(0), rounds, state, [&](Value, ValueRange inner) -> SmallVector<Value> {
      SmallVector<Value> next;
      for (auto [i, pool] : llvm::enumerate(inner)) {
        ArrayRef<int64_t> shape = shapeOf(rows[i]); // [N, heads, dim]
        Value written = t.loop(
            t.constant(0), t.constant(shape[1]), pool, [&](Value head, ValueRange carried) -> SmallVector<Value> {
              Value from = t.slice(rows[i], {row, head, zero}, {1, 1, shape[2]}, shape[2]);
              return {writeToken(t, from, carried[0], page, head, slot, isTransposedBuffer(i), isPairedPool(pools[i]))};
            })[0];
        next.push_back(written);
      }
      return next;
    });
  });
  SmallVector<Value> results(done);
  for (auto [pool, result] : llvm::zip_equal(pools, results))
    t.store(result, pool);
  kernel.setChunks(KernelBuilder::Count::PaddedRows, 1, 1);
  return success();
}

} // namespace tilewright::tw
