// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of tw.group_rows and of the grouped linear maps.
#include "ir/interfaces/KernelBuilder.h"
#include "ir/tw/LinearTile.h"
#include "ir/tw/PackedWeight.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/bit.h"

using namespace mlir;

namespace tilewright::tw {

namespace {

/// Columns that are computed at once, and bytes of weights of a chunk, which stay in a core's cache while row tiles
/// pass.
constexpr int64_t kColumns = 16, kChunkBytes = 128 * 1024;
/// Most rows of a tile.
constexpr int64_t kRows = 16;

/// Element `at` of a table of i32, as an index.
Value entry(TileBuilder &t, Value table, Value at) {
  return t.toIndex(tensor::ExtractOp::create(t.b, t.loc, table, at));
}

/// `table` with element `at` replaced by an index.
Value withEntry(TileBuilder &t, Value table, Value at, Value value) {
  Value number = arith::IndexCastOp::create(t.b, t.loc, t.b.getI32Type(), value);
  Value one = t.elementwise({}, t.slice(table, OpFoldResult(at), 1), [&](TileBuilder &, ValueRange) { return number; });
  return t.insert(one, table, OpFoldResult(at), 1);
}

Value within(TileBuilder &t, Value value, Value last) { return t.max(t.min(value, last), t.constant(0)); }

} // namespace

/// One chunk: the sort is serial, and small beside the linear maps that it is made for.
LogicalResult GroupRowsOp::buildKernel(KernelBuilder &kernel) {
  TileBuilder t(kernel.builder(), kernel.loc());
  int64_t groups = getGroups();
  Value ids = kernel.tensor(getIds());
  SmallVector<Value> results = {kernel.destination(0), kernel.destination(1), kernel.destination(2)};
  if (!ids || llvm::is_contained(results, Value()))
    return failure();
  Value zero = t.constant(0), one = t.constant(1), lastGroup = t.constant(groups - 1);
  bool isEmpty = getIds().getType().getDimSize(0) == 0;
  Value all = kernel.rows(getIds()), filled = kernel.filledRows(getIds());
  auto groupOf = [&](Value row) { return within(t, entry(t, ids, row), lastGroup); };
  auto originOf = [&](Value row) { return getPerRow() == 1 ? row : t.div(row, t.constant(getPerRow())); };

  ValueRange done = kernel.forChunks(results, [&](Value, ValueRange state) -> SmallVector<Value> {
    Value rows = state[0], places = state[1], offsets = state[2];
    offsets = t.loop(zero, t.constant(groups + 1), offsets,
                     [&](Value g, ValueRange inner) { return SmallVector<Value>{withEntry(t, inner[0], g, zero)}; })[0];
    if (isEmpty)
      return {rows, places, offsets};
    // offsets[g + 1] = rows of group g, then of all groups up to it.
    offsets = t.loop(zero, filled, offsets, [&](Value row, ValueRange inner) -> SmallVector<Value> {
      Value next = t.add(groupOf(row), one);
      return {withEntry(t, inner[0], next, t.add(entry(t, inner[0], next), one))};
    })[0];
    offsets = t.loop(zero, t.constant(groups), offsets, [&](Value g, ValueRange inner) -> SmallVector<Value> {
      Value next = t.add(g, one);
      return {withEntry(t, inner[0], next, t.add(entry(t, inner[0], g), entry(t, inner[0], next)))};
    })[0];
    // The next free place of each group.
    Value free = t.loop(zero, t.constant(groups), t.alloc(groups, t.b.getI32Type()), [&](Value g, ValueRange inner) {
      return SmallVector<Value>{withEntry(t, inner[0], g, entry(t, offsets, g))};
    })[0];
    SmallVector<Value> sorted =
        t.loop(zero, filled, {rows, places, free}, [&](Value row, ValueRange inner) -> SmallVector<Value> {
          Value group = groupOf(row), place = entry(t, inner[2], group);
          return {withEntry(t, inner[0], place, originOf(row)), withEntry(t, inner[1], row, place),
                  withEntry(t, inner[2], group, t.add(place, one))};
        });
    sorted = t.loop(filled, all, {sorted[0], sorted[1]}, [&](Value row, ValueRange inner) -> SmallVector<Value> {
      return {withEntry(t, inner[0], row, originOf(row)), withEntry(t, inner[1], row, row)};
    });
    return {sorted[0], sorted[1], offsets};
  });
  kernel.setRowChunks(getOffsets(), groups + 1, 1);
  for (auto [i, value] : llvm::enumerate(SmallVector<Value>(done)))
    kernel.finish(i, value);
  return success();
}

namespace {

/// The kernel of a grouped linear map: a chunk is some columns of one group. Its rows are found in `offsets` at run
/// time, and a tile of them is that of `tw.linear` or `tw.packed_linear` on slices of the operands.
class GroupedLinear {
public:
  /// The linear map of `rows` rows from `row` on by `columns` rows from `column` on of group `group`'s weight.
  using Tile = llvm::function_ref<FailureOr<Value>(TileBuilder &t, Value row, int64_t rows, Value group, Value column,
                                                   int64_t columns)>;

  GroupedLinear(Operation *op, KernelBuilder &kernel, Tile tile)
      : kernel(kernel), t(kernel.builder(), kernel.loc()), tile(tile),
        type(cast<RankedTensorType>(op->getResult(0).getType())) {}

  /// `weightBytes`: of one group's weight.
  LogicalResult build(Value input, Value offsets, int64_t weightBytes);

private:
  Value groupRows(Value group, Value begin, Value end, Value destination);
  /// Rows [low, high) of the tile of `rows` rows from `row` on, for columns [column, + columns).
  Value rowTile(Value group, Value row, int64_t rows, Value low, Value high, Value destination);
  Value store(Value y, Value row, Value low, Value high, Value column, Value destination);
  /// The chunk's columns, 16 at a time, and the last few.
  Value forColumns(Value destination, llvm::function_ref<Value(Value column, int64_t columns, Value destination)> body);

  KernelBuilder &kernel;
  TileBuilder t;
  Tile tile;
  RankedTensorType type;
  int64_t mostRows = 1;
  int64_t units = 0, tail = 0, perChunk = 1, columnChunks = 1; ///< columns in 16s, and those behind them
  Value firstUnit, endUnit, tailRounds;                        ///< of the chunk
  Value allRows;
  bool isBroken = false;
};

Value GroupedLinear::forColumns(Value destination, llvm::function_ref<Value(Value, int64_t, Value)> body) {
  if (units > 0)
    destination = t.loop(firstUnit, endUnit, destination, [&](Value unit, ValueRange state) {
      return SmallVector<Value>{body(t.mul(unit, t.constant(kColumns)), kColumns, state[0])};
    })[0];
  if (tail > 0)
    destination = t.loop(t.constant(0), tailRounds, destination, [&](Value, ValueRange state) {
      return SmallVector<Value>{body(t.constant(units * kColumns), tail, state[0])};
    })[0];
  return destination;
}

Value GroupedLinear::store(Value y, Value row, Value low, Value high, Value column, Value destination) {
  int64_t columns = shapeOf(y)[1];
  OpFoldResult zero = t.b.getIndexAttr(0);
  return t.loop(low, high, destination, [&](Value at, ValueRange state) -> SmallVector<Value> {
    Value from = t.slice(y, {t.sub(at, row), zero}, {1, columns});
    Value copy = t.elementwise(from, t.slice(state[0], {at, column}, {1, columns}),
                               [](TileBuilder &, ValueRange a) { return a[0]; });
    return {t.insert(copy, state[0], {at, column}, {1, columns})};
  })[0];
}

Value GroupedLinear::rowTile(Value group, Value row, int64_t rows, Value low, Value high, Value destination) {
  return forColumns(destination, [&](Value column, int64_t columns, Value inner) -> Value {
    FailureOr<Value> y = tile(t, row, rows, group, column, columns);
    isBroken |= failed(y);
    return isBroken ? inner : store(*y, row, low, high, column, inner);
  });
}

Value GroupedLinear::groupRows(Value group, Value begin, Value end, Value destination) {
  // Whole tiles, and the rest in small ones: few rows are computed in vain, and a weight is read few times.
  int64_t few = std::max<int64_t>(1, mostRows / 4);
  Value rest = begin;
  if (mostRows > few) {
    Value tiles = t.div(t.sub(end, begin), t.constant(mostRows));
    destination = t.loop(t.constant(0), tiles, destination, [&](Value i, ValueRange state) -> SmallVector<Value> {
      Value row = t.add(begin, t.mul(i, t.constant(mostRows)));
      return {rowTile(group, row, mostRows, row, t.add(row, t.constant(mostRows)), state[0])};
    })[0];
    rest = t.add(begin, t.mul(tiles, t.constant(mostRows)));
  }
  Value tiles = t.ceilDiv(t.sub(end, rest), few);
  return t.loop(t.constant(0), tiles, destination, [&](Value i, ValueRange state) -> SmallVector<Value> {
    Value low = t.add(rest, t.mul(i, t.constant(few))), high = t.min(t.add(low, t.constant(few)), end);
    // A tile may not reach behind the input; its other rows are computed and not stored.
    Value row = t.min(low, t.sub(allRows, t.constant(few)));
    return {rowTile(group, row, few, low, high, state[0])};
  })[0];
}

LogicalResult GroupedLinear::build(Value input, Value offsets, int64_t weightBytes) {
  int64_t columns = type.getDimSize(1), groups = cast<RankedTensorType>(offsets.getType()).getDimSize(0) - 1;
  Value table = kernel.tensor(offsets), destination = kernel.destination(0);
  if (!table || !destination)
    return failure();
  if (type.getDimSize(0) == 0 || columns == 0) {
    kernel.setChunks(0);
    kernel.finish(0, destination);
    return success();
  }
  // At least as many rows are there.
  mostRows = llvm::bit_floor<uint64_t>(
      std::min(kRows, type.isDynamicDim(0) ? kernel.shapeClass().rowMultiple : type.getDimSize(0)));
  allRows = kernel.rows(input);
  units = columns / kColumns;
  tail = columns % kColumns;
  int64_t unitBytes = std::max<int64_t>(1, weightBytes * kColumns / columns);
  perChunk = std::clamp<int64_t>(kChunkBytes / unitBytes, 1, std::max<int64_t>(1, units));
  columnChunks = std::max<int64_t>(1, llvm::divideCeil(units, perChunk));

  ValueRange done = kernel.forChunks(destination, [&](Value chunk, ValueRange state) -> SmallVector<Value> {
    Value group = t.div(chunk, t.constant(columnChunks)), part = t.rem(chunk, t.constant(columnChunks));
    firstUnit = t.mul(part, t.constant(perChunk));
    endUnit = t.min(t.add(firstUnit, t.constant(perChunk)), t.constant(units));
    Value isLast = t.compare(arith::CmpIPredicate::eq, part, t.constant(columnChunks - 1));
    tailRounds = t.select(isLast, t.constant(1), t.constant(0));
    Value begin = within(t, entry(t, table, group), allRows);
    Value end = t.max(begin, within(t, entry(t, table, t.add(group, t.constant(1))), allRows));
    Value written = groupRows(group, begin, end, state[0]);
    // Rows behind the last group.
    Value isLastGroup = t.compare(arith::CmpIPredicate::eq, group, t.constant(groups - 1));
    return t.loop(t.select(isLastGroup, end, allRows), allRows, written,
                  [&](Value row, ValueRange rest) -> SmallVector<Value> {
                    return {forColumns(rest[0], [&](Value column, int64_t count, Value inner) -> Value {
                      Value zero = arith::ConstantOp::create(t.b, t.loc, t.b.getZeroAttr(type.getElementType()));
                      Value none = t.elementwise({}, t.slice(inner, {row, column}, {1, count}),
                                                 [&](TileBuilder &, ValueRange) { return zero; });
                      return t.insert(none, inner, {row, column}, {1, count});
                    })};
                  });
  });
  kernel.setRowChunks(offsets, groups + 1, groups * columnChunks);
  kernel.finish(0, done[0]);
  return failure(isBroken);
}

/// Row `group` of a bias [groups, out], from `column` on; null without one.
Value biasOf(TileBuilder &t, Value bias, Value group, Value column, int64_t columns) {
  return bias ? t.slice(bias, {group, column}, {1, columns}, columns) : Value();
}

} // namespace

LogicalResult GroupedLinearOp::buildKernel(KernelBuilder &kernel) {
  RankedTensorType weightType = getWeight().getType();
  if (!isa<FloatType>(weightType.getElementType()))
    return emitOpError("has no kernel form for a weight of type ") << weightType << " that is no weight of the model";
  int64_t depth = getIn();
  Value input = kernel.tensor(getInput()), weight = kernel.tensor(getWeight());
  Value bias = getBias() ? kernel.tensor(getBias()) : Value();
  if (!input || !weight || (getBias() && !bias))
    return failure();
  auto tile = [&](TileBuilder &t, Value row, int64_t rows, Value group, Value column, int64_t columns) {
    OpFoldResult zero = t.b.getIndexAttr(0);
    RankedTensorType type = getType().clone({rows, columns});
    Value own = biasOf(t, bias, group, column, columns), x, w;
    if (depth == 0) { // nothing has no place in a slice
      x = t.empty({rows, 0}, type.getElementType());
      w = t.empty({columns, 0}, type.getElementType());
      return FailureOr<Value>(linearTile(t, x, w, own, type));
    }
    x = t.slice(input, {row, zero}, {rows, depth});
    w = getInOut() ? t.slice(weight, {group, zero, column}, {1, depth, columns}, {depth, columns})
                   : t.slice(weight, {group, column, zero}, {1, columns, depth}, {columns, depth});
    return FailureOr<Value>(linearTile(t, x, w, own, type, getInOut()));
  };
  int64_t bytes = weightType.getNumElements() / weightType.getDimSize(0) * weightType.getElementTypeBitWidth() / 8;
  return GroupedLinear(*this, kernel, tile).build(getInput(), getOffsets(), bytes);
}

LogicalResult PackedGroupedLinearOp::buildKernel(KernelBuilder &kernel) {
  RankedTensorType weightType = getWeight().getType();
  int64_t groupCount = getOffsets().getType().getDimSize(0) - 1, perGroup = weightType.getDimSize(0) / groupCount;
  Value input = kernel.tensor(getInput()), weight = kernel.tensor(getWeight());
  SmallVector<Value> optional; // scales, sums, bias
  for (Value operand : {getScales(), getSums(), getBias()}) {
    optional.push_back(operand ? kernel.tensor(operand) : Value());
    if (operand && !optional.back())
      return failure();
  }
  if (!input || !weight)
    return failure();
  auto tile = [&](TileBuilder &t, Value row, int64_t rows, Value group, Value column, int64_t columns) {
    OpFoldResult zero = t.b.getIndexAttr(0);
    auto rowsOf = [&](Value value) { return value ? t.slice(value, {row, zero}, {rows, shapeOf(value)[1]}) : Value(); };
    Value first = t.add(t.mul(group, t.constant(perGroup)), t.div(column, t.constant(kPackedGroupRows)));
    Value w = t.slice(weight, {first, zero, zero},
                      {columns / kPackedGroupRows, weightType.getDimSize(1), weightType.getDimSize(2)});
    // The linear map's own tile, which is lowered at once.
    auto linear = PackedLinearOp::create(t.b, t.loc, getType().clone({rows, columns}), rowsOf(input),
                                         rowsOf(optional[0]), rowsOf(optional[1]), w,
                                         biasOf(t, optional[2], group, column, columns), getElementAttr());
    FailureOr<SmallVector<Value>> values = linear.lowerTile(t.b);
    linear.erase();
    return failed(values) ? FailureOr<Value>(failure()) : values->front();
  };
  return GroupedLinear(*this, kernel, tile).build(getInput(), getOffsets(), weightType.getNumElements() / groupCount);
}

} // namespace tilewright::tw
