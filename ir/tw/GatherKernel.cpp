// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of the gathers: one row a chunk.
#include "ir/interfaces/KernelBuilder.h"
#include "ir/interfaces/TileBuilder.h"
#include "ir/tw/Tw.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tilewright::tw {

/// Row `row` of the ids, as an index into a table of `tableRows` rows. What checks ids runs before kernels; one that is
/// outside of a static table all the same reads the nearest row, not memory of others.
static Value idOfRow(TileBuilder &t, Value ids, Value row, int64_t tableRows) {
  Value id = t.toIndex(tensor::ExtractOp::create(t.b, t.loc, ids, row));
  return ShapedType::isDynamic(tableRows) ? id : t.max(t.min(id, t.constant(tableRows - 1)), t.constant(0));
}

LogicalResult GatherOp::buildKernel(KernelBuilder &kernel) {
  RankedTensorType type = getType(), from = getTable().getType();
  if (!isa<FloatType>(from.getElementType()))
    return emitOpError("has no kernel form for a table of ") << from << " that is no weight of the model";
  TileBuilder t(kernel.builder(), kernel.loc());
  Value table = kernel.tensor(getTable()), ids = kernel.tensor(getIds()), destination = kernel.destination(0);
  if (!table || !ids || !destination)
    return failure();
  SmallVector<int64_t> sizes(type.getShape());
  sizes[0] = 1;
  SmallVector<OpFoldResult> offsets(type.getRank(), t.b.getIndexAttr(0));
  if (llvm::is_contained(type.getShape(), 0)) { // nothing to copy
    kernel.setChunks(KernelBuilder::Count::PaddedRows, 1, 0);
    kernel.finish(0, destination);
    return success();
  }
  ValueRange done = kernel.forChunks(destination, [&](Value row, ValueRange state) -> SmallVector<Value> {
    SmallVector<OpFoldResult> at = offsets, to = offsets;
    at[0] = idOfRow(t, ids, row, from.getDimSize(0));
    to[0] = row;
    Value copy = t.elementwise(t.slice(table, at, sizes), t.slice(state[0], to, sizes),
                               [&](TileBuilder &s, ValueRange a) -> Value {
                                 return a[0].getType() == type.getElementType() ? a[0] : s.toF32(a[0]);
                               });
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
    Value id = idOfRow(t, ids, row, getTable().getType().getDimSize(0) * layout.rowsPerGroup);
    Value group = t.div(id, rowsPerGroup), lane = t.rem(id, rowsPerGroup);
    auto copyBlock = [&](Value block, Value destination, int64_t count) -> Value {
      Value decoded = storage.emitLoadF32(t.b, t.loc, table, group, block); // [32, 16]
      OpFoldResult column = t.mul(block, t.constant(kStep));
      Value from = t.slice(decoded, {zero, lane}, {count, 1}, {count});
      Value to = t.slice(destination, {row, column}, {1, count}, {count});
      Value copy = t.elementwise(from, to, [](TileBuilder &, ValueRange a) { return a[0]; });
      return t.insert(copy, destination, {row, column}, {1, count});
    };
    int64_t blocks = getType().getDimSize(1) / kStep, rest = getType().getDimSize(1) % kStep;
    SmallVector<Value> copied = t.loop(t.constant(0), t.constant(blocks), state, [&](Value block, ValueRange inner) {
      return SmallVector<Value>{copyBlock(block, inner[0], kStep)};
    });
    if (rest)
      copied[0] = copyBlock(t.constant(blocks), copied[0], rest);
    return copied;
  });
  kernel.setRowChunks(getResult(), 1, 1);
  kernel.finish(0, done[0]);
  return success();
}

} // namespace tilewright::tw
