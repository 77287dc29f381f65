// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel of tw.append: one row a chunk, written to its slot of its page.
#include "ir/interfaces/KernelBuilder.h"
#include "ir/interfaces/TileBuilder.h"
#include "ir/tw/Tw.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace tilewright::tw {

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
  Value slots = kernel.table(StepTable::RowSlots);
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
        Value written = t.loop(t.constant(0), t.constant(shape[1]), pool, [&](Value head, ValueRange carried) -> SmallVector<Value> {
          SmallVector<OpFoldResult> at = {page, head, zero, zero};
          SmallVector<int64_t> sizes = {1, 1, 1, 1};
          bool transposed = isTransposedBuffer(i);
          at[transposed ? 3 : 2] = slot;
          sizes[transposed ? 2 : 3] = shape[2];
          Value from = t.slice(rows[i], {row, head, zero}, {1, 1, shape[2]}, shape[2]);
          Value to = t.slice(carried[0], at, sizes, shape[2]);
          Value copy = t.elementwise(from, to, [](TileBuilder &, ValueRange a) { return a[0]; });
          return {t.insert(copy, carried[0], at, sizes)};
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
