// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of the gathers: the ids at one place of their first dimension a chunk.
#include "ir/interfaces/KernelBuilder.h"
#include "ir/interfaces/TileBuilder.h"
#include "ir/tw/PackedWeight.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tilewright::tw {

/// The id at `place` as an index into a table of `tableRows` rows. What checks ids runs before kernels; one that is
/// outside of a static table all the same reads the nearest row, not memory of others.
static Value idAt(TileBuilder &t, Value ids, ValueRange place, int64_t tableRows) {
  Value id = t.toIndex(tensor::ExtractOp::create(t.b, t.loc, ids, place));
  return ShapedType::isDynamic(tableRows) ? id : t.max(t.min(id, t.constant(tableRows - 1)), t.constant(0));
}

/// Calls `body` at each place of `extents`, one loop a dimension, behind those of `place`.
static Value forPlaces(TileBuilder &t, ArrayRef<int64_t> extents, SmallVector<Value> place, Value state,
                       llvm::function_ref<Value(ValueRange, Value)> body) {
  if (extents.empty())
    return body(place, state);
  return t.loop(t.constant(0), t.constant(extents.front()), state, [&](Value i, ValueRange inner) {
    SmallVector<Value> next = place;
    next.push_back(i);
    return SmallVector<Value>{forPlaces(t, extents.drop_front(), next, inner[0], body)};
  })[0];
}

LogicalResult GatherOp::buildKernel(KernelBuilder &kernel) {
  RankedTensorType type = getType(), from = getTable().getType();
  if (!isa<FloatType>(from.getElementType()))
    return emitOpError("has no kernel form for a table of ") << from << " that is no weight of the model";
  if (from.getRank() > 1 && llvm::is_contained(from.getShape().drop_front(), ShapedType::kDynamic))
    return emitOpError("has no kernel form for a table of type ") << from << ", wanted static rows";
  if (llvm::is_contained(type.getShape().drop_front(), ShapedType::kDynamic))
    return emitOpError("has no kernel form for a result of type ")
           << type << ", wanted static dimensions behind the first";
  TileBuilder t(kernel.builder(), kernel.loc());
  Value table = kernel.tensor(getTable()), ids = kernel.tensor(getIds()), destination = kernel.destination(0);
  if (!table || !ids || !destination)
    return failure();
  if (llvm::is_contained(type.getShape(), 0)) { // nothing to copy
    kernel.setChunks(0);
    kernel.finish(0, destination);
    return success();
  }
  int64_t batch = getBatchDims(), places = getIds().getType().getRank();
  if (from.getDimSize(batch) == 0)
    return emitOpError("gathers from a table of type ") << from << ", which has no rows";
  // One row: all of the table's dimensions behind that of rows, or a single number.
  SmallVector<int64_t> row(from.getShape().drop_front(batch + 1));
  SmallVector<int64_t> fromSizes(batch + 1, 1), toSizes(places, 1);
  llvm::append_range(fromSizes, row);
  llvm::append_range(toSizes, row);
  if (row.empty())
    row.push_back(1);
  OpFoldResult zero = t.b.getIndexAttr(0);
  auto copyRow = [&](ValueRange place, Value to) -> Value {
    SmallVector<OpFoldResult> at(place.take_front(batch)), into(place);
    at.push_back(idAt(t, ids, place, from.getDimSize(batch)));
    at.resize(fromSizes.size(), zero);
    into.resize(toSizes.size(), zero);
    Value copy = t.elementwise(t.slice(table, at, fromSizes, row), t.slice(to, into, toSizes, row),
                               [&](TileBuilder &s, ValueRange a) -> Value {
                                 return a[0].getType() == type.getElementType() ? a[0] : s.toF32(a[0]);
                               });
    return t.insert(copy, to, into, toSizes);
  };
  ValueRange done = kernel.forChunks(destination, [&](Value first, ValueRange state) -> SmallVector<Value> {
    return {forPlaces(t, type.getShape().slice(1, places - 1), {first}, state[0], copyRow)};
  });
  kernel.setRowChunks(getResult(), 1, 1);
  kernel.finish(0, done[0]);
  return success();
}

LogicalResult PackedGatherOp::buildKernel(KernelBuilder &kernel) {
  auto storage = cast<StorageType>(getElement());
  LayoutDescriptor layout = storage.getLayout();
  if (layout.blockElements % kPackedStep != 0)
    return emitOpError("has a table of ") << getElement() << " with blocks of " << layout.blockElements
                                          << " elements, wanted a multiple of " << kPackedStep;
  TileBuilder t(kernel.builder(), kernel.loc());
  Value table = kernel.tensor(getTable()), ids = kernel.tensor(getIds()), destination = kernel.destination(0);
  if (!table || !ids || !destination)
    return failure();
  Value rowsPerGroup = t.constant(layout.rowsPerGroup);
  OpFoldResult zero = t.b.getIndexAttr(0);
  ValueRange done = kernel.forChunks(destination, [&](Value row, ValueRange state) -> SmallVector<Value> {
    Value id = idAt(t, ids, row, getTable().getType().getDimSize(0) * layout.rowsPerGroup);
    Value group = t.div(id, rowsPerGroup), lane = t.rem(id, rowsPerGroup);
    auto copyStep = [&](Value step, Value destination, int64_t count) -> Value {
      Value decoded = storage.emitLoadF32(t.b, t.loc, table, group, step); // [32, 16]
      OpFoldResult column = t.mul(step, t.constant(kPackedStep));
      Value from = t.slice(decoded, {zero, lane}, {count, 1}, {count});
      Value to = t.slice(destination, {row, column}, {1, count}, {count});
      Value copy = t.elementwise(from, to, [](TileBuilder &, ValueRange a) { return a[0]; });
      return t.insert(copy, destination, {row, column}, {1, count});
    };
    int64_t steps = getType().getDimSize(1) / kPackedStep, rest = getType().getDimSize(1) % kPackedStep;
    SmallVector<Value> copied = t.loop(t.constant(0), t.constant(steps), state, [&](Value step, ValueRange inner) {
      return SmallVector<Value>{copyStep(step, inner[0], kPackedStep)};
    });
    if (rest)
      copied[0] = copyStep(t.constant(steps), copied[0], rest);
    return copied;
  });
  kernel.setRowChunks(getResult(), 1, 1);
  kernel.finish(0, done[0]);
  return success();
}

} // namespace tilewright::tw
