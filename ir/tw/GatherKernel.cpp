// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of the gathers: one row a chunk.
#include "ir/interfaces/KernelBuilder.h"
#include "ir/interfaces/TileBuilder.h"
#include "ir/tw/Tw.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tilewright::tw {

/// Row `row` of the ids, as an index.
static Value idOfRow(TileBuilder &t, Value ids, Value row) {
  return t.toIndex(tensor::ExtractOp::create(t.b, t.loc, ids, row));
}

LogicalResult GatherOp::buildKernel(KernelBuilder &kernel) {
  RankedTensorType type = getType(), from = getTable().getType();
  if (type.getElementType() != from.getElementType() || !isa<FloatType>(from.getElementType()))
    return emitOpError("has no kernel form for a table of ") << from << ", wanted the result's element type";
  TileBuilder t(kernel.builder(), kernel.loc());
  Value table = kernel.tensor(getTable()), ids = kernel.tensor(getIds()), destination = kernel.destination(0);
  if (!table || !ids || !destination)
    return failure();
  SmallVector<int64_t> sizes(type.getShape());
  sizes[0] = 1;
  SmallVector<OpFoldResult> offsets(type.getRank(), t.b.getIndexAttr(0));
  ValueRange done = kernel.forChunks(destination, [&](Value row, ValueRange state) -> SmallVector<Value> {
    SmallVector<OpFoldResult> at = offsets, to = offsets;
    at[0] = idOfRow(t, ids, row);
    to[0] = row;
    Value copy = t.elementwise(t.slice(table, at, sizes), t.slice(state[0], to, sizes),
                               [](TileBuilder &, ValueRange a) { return a[0]; });
    return {t.insert(copy, state[0], to, sizes)};
  });
  kernel.setRowChunks(getResult(), 1, 1);
  kernel.finish(0, done[0]);
  return success();
}

LogicalResult PackedGatherOp::buildKernel(KernelBuilder &kernel) {
  auto storage = cast<StorageType>(getElement());
  LayoutDescriptor layout = storage.getLayout();
  constexpr int64_t kStep = 32;
  if (layout.blockElements != kStep)
    return emitOpError("has a table of ") << getElement() << " with blocks of " << layout.blockElements
                                          << " elements, wanted " << kStep;
  TileBuilder t(kernel.builder(), kernel.loc());
  Value table = kernel.tensor(getTable()), ids = kernel.tensor(getIds()), destination = kernel.destination(0);
  if (!table || !ids || !destination)
    return failure();
  Value rowsPerGroup = t.constant(layout.rowsPerGroup);
  OpFoldResult zero = t.b.getIndexAttr(0);
  ValueRange done = kernel.forChunks(destination, [&](Value row, ValueRange state) -> SmallVector<Value> {
    Value id = idOfRow(t, ids, row);
    Value group = t.div(id, rowsPerGroup), lane = t.rem(id, rowsPerGroup);
    return t.loop(t.constant(0), t.constant(getType().getDimSize(1) / kStep), state,
                  [&](Value block, ValueRange inner) -> SmallVector<Value> {
                    Value decoded = storage.emitLoadF32(t.b, t.loc, table, group, block); // [32, 16]
                    OpFoldResult column = t.mul(block, t.constant(kStep));
                    Value from = t.slice(decoded, {zero, lane}, {kStep, 1}, {kStep});
                    Value to = t.slice(inner[0], {row, column}, {1, kStep}, {kStep});
                    Value copy = t.elementwise(from, to, [](TileBuilder &, ValueRange a) { return a[0]; });
                    return {t.insert(copy, inner[0], {row, column}, {1, kStep})};
                  });
  });
  kernel.setRowChunks(getResult(), 1, 1);
  kernel.finish(0, done[0]);
  return success();
}

} // namespace tilewright::tw
