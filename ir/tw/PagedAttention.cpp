// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/tw/PagedAttention.h"

#include "ir/interfaces/Tiling.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <numbers>

using namespace mlir;

namespace tilewright::tw {

/// Columns of values that are transposed at once where they stand in the keys' pages.
static constexpr int64_t kTransposedColumns = 64;

FailureOr<PagedAttention> PagedAttention::create(const PagedAttentionSpec &spec, KernelBuilder &kernel) {
  auto type = cast<RankedTensorType>(spec.query.getType());
  ArrayRef<RankedTensorType> buffers = cast<StateType>(spec.state.getType()).getBuffers();
  if (type.getRank() != 3 || type.isDynamicDim(1) || type.isDynamicDim(2) || !type.getElementType().isF32())
    return spec.op->emitOpError("has no kernel form for a query of type ") << type << ", wanted f32 [rows, heads, dim]";
  for (RankedTensorType buffer : buffers)
    if (buffer.getRank() != 3 || buffer.isDynamicDim(1) || buffer.isDynamicDim(2) || !buffer.getElementType().isF32())
      return spec.op->emitOpError("has no kernel form for a state buffer of type ")
             << buffer << ", wanted f32 [tokens, heads, dim]";

  PagedAttention a(spec, kernel);
  for (std::optional<int64_t> *reach : {&a.spec.window, &a.spec.radius, &a.spec.chunk})
    if (*reach) // places are i32: no further, so that sums with them do not overflow
      *reach = std::min<int64_t>(**reach, INT32_MAX);
  a.heads = type.getDimSize(1);
  a.dim = type.getDimSize(2);
  a.headsKv = buffers[0].getDimSize(1);
  auto result = cast<RankedTensorType>(spec.op->getResult(0).getType());
  a.dimV = result.isDynamicDim(2) ? buffers.back().getDimSize(2) : result.getDimSize(2);
  a.valuesAreKeys = buffers.size() == 1;
  // Of each row an item holds the query, the accumulator and the scores with a page.
  int64_t most =
      std::clamp<int64_t>(spec.mostRows * (2 * 128 + kPageTokens) / (a.dim + a.dimV + kPageTokens), 1, spec.mostRows);
  a.group = largestDivisor(a.heads / a.headsKv, most);
  a.parts = a.heads / a.headsKv / a.group;
  a.queryTile = kernel.shapeClass().queryTile;
  a.piece = std::clamp<int64_t>(most / a.group, 1, a.queryTile);
  return a;
}

LogicalResult PagedAttention::build(llvm::function_ref<std::pair<Value, Value>(PagedAttention &)> item) {
  query = kernel.tensor(spec.query);
  if (!query)
    return failure();
  if (spec.sinks && !(sinks = kernel.tensor(spec.sinks)))
    return failure();
  paired = isPairedPool(kernel.statePool(spec.state, 0));
  keys = t.tensorOf(kernel.statePool(spec.state, 0), /*writable=*/false);
  if (!valuesAreKeys)
    valuesPool = t.tensorOf(kernel.statePool(spec.state, 1), /*writable=*/false);
  if (spec.bias && !(biasTable = kernel.tensor(spec.bias)))
    return failure();
  const bool ofSource = cast<StateType>(spec.state.getType()).isSource();
  tiles = kernel.table(StepTable::Tiles, ofSource);
  pages = kernel.table(StepTable::Pages, ofSource);
  Value destination = kernel.destination(0);
  if (!destination)
    return failure();
  ValueRange done = kernel.forChunks(destination, [&](Value chunk, ValueRange state) -> SmallVector<Value> {
    loadItem(chunk);
    auto run = [&](Value destination) {
      loadQuery();
      auto [acc, sums] = item(*this);
      return storeItem(acc, sums, destination);
    };
    if (piece == queryTile)
      return {run(state[0])};
    Value first = firstRow, all = tileRows, start = position;
    return t.loop(t.constant(0), t.ceilDiv(all, piece), state,
                  [&](Value index, ValueRange inner) -> SmallVector<Value> {
                    Value done = t.mul(index, t.constant(piece));
                    firstRow = t.add(first, done);
                    position = t.add(start, done);
                    tileRows = t.min(t.constant(piece), t.sub(all, done));
                    return {run(inner[0])};
                  });
  });
  kernel.setChunks(KernelBuilder::Count::Tiles, 1, headsKv * parts);
  kernel.finish(0, done[0]);
  return success();
}

void PagedAttention::loadItem(Value chunk) {
  Value perTile = t.constant(headsKv * parts);
  Value tile = t.div(chunk, perTile), part = t.rem(chunk, perTile);
  head = t.div(part, t.constant(parts));
  firstHead = t.mul(part, t.constant(group));
  auto field = [&](int64_t i) {
    return t.toIndex(memref::LoadOp::create(t.b, t.loc, tiles, ValueRange{tile, t.constant(i)}));
  };
  firstRow = field(0);
  tileRows = field(1);
  position = field(2);
  kvLen = field(3);
  firstPage = field(4);
  if (spec.bias)
    loadBias();
}

void PagedAttention::loadBias() {
  int64_t distances = shapeOf(biasTable)[1];
  OpFoldResult zero = t.b.getIndexAttr(0);
  AffineMap elements = t.map(2, {t.d(0), t.d(1)}), perHead = t.map(2, {t.d(0), t.zero()});
  nearBias = t.alloc({group, distances + 2 * kPageTokens}, t.b.getF32Type());
  auto put = [&](int64_t from, int64_t columns, AffineMap map, int64_t to, int64_t width) {
    Value part = t.slice(biasTable, {firstHead, t.b.getIndexAttr(from)}, {group, columns});
    SmallVector<OpFoldResult> at = {zero, t.b.getIndexAttr(to)};
    Value scaled =
        t.generic(part, t.slice(nearBias, at, {group, width}), {map, elements}, "pp",
                  [](TileBuilder &s, ValueRange a) { return s.mul(s.toF32(a[0]), s.f32(std::numbers::log2e)); });
    nearBias = t.insert(scaled, nearBias, at, {group, width});
  };
  put(0, 1, perHead, 0, kPageTokens);
  put(0, distances, elements, kPageTokens, distances);
  put(distances - 1, 1, perHead, kPageTokens + distances, kPageTokens);
}

Value PagedAttention::biased(Value scores, Value page) {
  int64_t distances = shapeOf(biasTable)[1];
  OpFoldResult zero = t.b.getIndexAttr(0);
  Value firstKey = t.mul(page, t.constant(kPageTokens));
  return t.loop(t.constant(0), t.constant(piece), scores, [&](Value row, ValueRange state) -> SmallVector<Value> {
    // Column of the first key's distance; a page that is as far away lies in the ends.
    Value distance = t.sub(firstKey, t.add(position, row));
    Value column = t.add(distance, t.constant(distances / 2 + kPageTokens));
    column = t.min(t.max(column, t.constant(0)), t.constant(distances + kPageTokens));
    SmallVector<OpFoldResult> at = {t.mul(row, t.constant(group)), zero};
    SmallVector<int64_t> sizes = {group, kPageTokens};
    Value sum = t.elementwise(t.slice(nearBias, {zero, column}, sizes), t.slice(state[0], at, sizes),
                              [](TileBuilder &s, ValueRange a) { return s.add(a[1], a[0]); });
    return {t.insert(sum, state[0], at, sizes)};
  })[0];
}

void PagedAttention::loadQuery() {
  // The tile's rows one by one: the rows behind them belong to others.
  OpFoldResult zero = t.b.getIndexAttr(0);
  double scale = spec.softcap > 0.0 ? spec.scale : spec.scale * std::numbers::log2e;
  int64_t width = paired ? llvm::alignTo(dim, 2) : dim;
  q = t.loop(t.constant(0), tileRows, t.filled({piece, group, width}, 0.0),
             [&](Value row, ValueRange state) -> SmallVector<Value> {
               Value from = t.slice(query, {t.add(firstRow, row), firstHead, zero}, {1, group, dim}, {group, dim});
               Value to = t.slice(state[0], {row, zero, zero}, {1, group, dim}, {group, dim});
               Value scaled =
                   t.elementwise(from, to, [&](TileBuilder &s, ValueRange a) { return s.mul(a[0], s.f32(scale)); });
               return {t.insert(scaled, state[0], {row, zero, zero}, {1, group, dim})};
             })[0];
  q = t.reshape(q, {rows(), width});
  if (paired)
    q = pairsOf(q);
}

Value PagedAttention::pairsOf(Value rows) {
  ArrayRef<int64_t> shape = shapeOf(rows);
  Type bf16 = t.b.getBF16Type();
  Value narrow = t.elementwise(rows, t.alloc(shape, bf16), [&](TileBuilder &s, ValueRange a) -> Value {
    return arith::TruncFOp::create(s.b, s.loc, bf16, a[0]);
  });
  return t.reshape(narrow, {shape[0], shape[1] / 2, 2});
}

Value PagedAttention::product(Value left, Value right, Value acc) {
  AffineExpr m = t.d(0), n = t.d(1), k = t.d(2), half = t.d(3);
  auto body = [](TileBuilder &s, ValueRange a) { return s.add(a[2], s.mul(s.toF32(a[0]), s.toF32(a[1]))); };
  if (paired)
    return t.generic({left, right}, acc, {t.map(4, {m, k, half}), t.map(4, {k, n, half}), t.map(4, {m, n})}, "pprr",
                     body);
  return t.generic({left, right}, acc, {t.map(3, {m, k}), t.map(3, {k, n}), t.map(3, {m, n})}, "ppr", body);
}

Value PagedAttention::storeItem(Value acc, Value sums, Value destination) {
  OpFoldResult zero = t.b.getIndexAttr(0);
  return t.loop(t.constant(0), tileRows, destination, [&](Value row, ValueRange state) -> SmallVector<Value> {
    Value at = t.mul(row, t.constant(group));
    Value weighted = t.slice(acc, {at, zero}, {group, dimV});
    Value sum = t.reshape(t.slice(sums, {at}, {group}), {group, 1});
    SmallVector<OpFoldResult> offsets = {t.add(firstRow, row), firstHead, zero};
    Value to = t.slice(state[0], offsets, {1, group, dimV}, {group, dimV});
    AffineMap elements = t.map(2, {t.d(0), t.d(1)}), perRow = t.map(2, {t.d(0), t.zero()});
    Value normal = t.generic({weighted, sum}, to, {elements, perRow, elements}, "pp", [](TileBuilder &s, ValueRange a) {
      // A row without a key has sum 0 and gives 0; NaN stays NaN.
      Value none = s.compare(arith::CmpFPredicate::OEQ, a[1], s.f32(0.0));
      return s.div(a[0], s.select(none, s.f32(1.0), a[1]));
    });
    return {t.insert(normal, state[0], offsets, {1, group, dimV})};
  })[0];
}

Value PagedAttention::pageNumber(Value page) {
  return t.toIndex(memref::LoadOp::create(t.b, t.loc, pages, t.add(firstPage, page)));
}

Value PagedAttention::scores(Value page, bool masked) {
  OpFoldResult zero = t.b.getIndexAttr(0);
  int64_t pairs = (dim + 1) / 2;
  Value number = pageNumber(page);
  Value k =
      paired ? t.slice(keys, {number, head, zero, zero, zero}, {1, 1, pairs, kPageTokens, 2}, {pairs, kPageTokens, 2})
             : t.slice(keys, {number, head, zero, zero}, {1, 1, dim, kPageTokens}, {dim, kPageTokens});
  Value s = product(q, k, t.filled({rows(), kPageTokens}, 0.0));
  if (spec.softcap > 0.0)
    s = t.elementwise({}, s, [&](TileBuilder &b, ValueRange a) {
      Value capped = math::TanhOp::create(b.b, b.loc, b.mul(a[0], b.f32(1.0 / spec.softcap)));
      return b.mul(capped, b.f32(spec.softcap * std::numbers::log2e));
    });
  if (spec.bias)
    s = biased(s, page);
  if (!masked)
    return s;
  Value firstKey = t.mul(page, t.constant(kPageTokens));
  return t.elementwise({}, s, [&](TileBuilder &b, ValueRange a) {
    Value key = b.add(firstKey, b.index(1));
    Value visible = b.compare(arith::CmpIPredicate::slt, key, kvLen);
    if (spec.causal || spec.window || spec.radius || spec.chunk) {
      Value row = b.index(0);
      Value own = b.add(position, group == 1 ? row : b.div(row, b.constant(group)));
      auto both = [&](Value other) { visible = arith::AndIOp::create(b.b, b.loc, visible, other); };
      if (spec.causal || spec.radius)
        both(b.compare(arith::CmpIPredicate::sle, key, spec.radius ? b.add(own, b.constant(*spec.radius)) : own));
      if (spec.chunk) {
        Value begin = chunkBegin(b, own);
        both(b.compare(arith::CmpIPredicate::sge, key, begin));
        if (!spec.causal)
          both(b.compare(arith::CmpIPredicate::slt, key, b.add(begin, b.constant(*spec.chunk))));
      }
      if (spec.window)
        both(b.compare(arith::CmpIPredicate::sgt, b.add(key, b.constant(*spec.window)), own));
      if (spec.radius)
        both(b.compare(arith::CmpIPredicate::sge, b.add(key, b.constant(*spec.radius)), own));
    }
    return b.select(visible, a[0], b.f32(kMasked));
  });
}

Value PagedAttention::values(Value page, bool masked) {
  OpFoldResult zero = t.b.getIndexAttr(0);
  constexpr int64_t pairs = kPageTokens / 2;
  Value number = pageNumber(page);
  Value v = paired ? t.slice(valuesPool, {number, head, zero, zero, zero}, {1, 1, pairs, dimV, 2}, {pairs, dimV, 2})
                   : t.slice(valuesPool, {number, head, zero, zero}, {1, 1, kPageTokens, dimV}, {kPageTokens, dimV});
  if (!masked)
    return v;
  // A slot that no key has filled may hold anything, and 0 * NaN is NaN.
  Value firstKey = t.mul(page, t.constant(kPageTokens));
  if (!paired)
    return t.elementwise(v, t.alloc({kPageTokens, dimV}, t.b.getF32Type()), [&](TileBuilder &b, ValueRange a) {
      Value filled = b.compare(arith::CmpIPredicate::slt, b.add(firstKey, b.index(0)), kvLen);
      return b.select(filled, a[0], b.f32(0.0));
    });
  return t.elementwise(v, t.alloc({pairs, dimV, 2}, t.b.getBF16Type()), [&](TileBuilder &b, ValueRange a) -> Value {
    Value key = b.add(firstKey, b.add(b.mul(b.index(0), b.constant(2)), b.index(2)));
    return bitsWhere(b, b.compare(arith::CmpIPredicate::slt, key, kvLen), a[0]);
  });
}

Value PagedAttention::bitsWhere(TileBuilder &b, Value filled, Value number) {
  Type i16 = b.b.getI16Type();
  Value bits = b.select(filled, arith::BitcastOp::create(b.b, b.loc, i16, number), b.integer(i16, 0));
  return arith::BitcastOp::create(b.b, b.loc, b.b.getBF16Type(), bits);
}

Value PagedAttention::valuesInKeys(Value page, Value first, int64_t width, bool masked) {
  OpFoldResult zero = t.b.getIndexAttr(0);
  Value number = pageNumber(page), firstKey = t.mul(page, t.constant(kPageTokens));
  if (!paired) {
    Value part = t.slice(keys, {number, head, first, zero}, {1, 1, width, kPageTokens}, {width, kPageTokens});
    return t.generic(part, t.alloc({kPageTokens, width}, t.b.getF32Type()),
                     {t.map(2, {t.d(1), t.d(0)}), t.map(2, {t.d(0), t.d(1)})}, "pp",
                     [&](TileBuilder &b, ValueRange a) -> Value {
                       if (!masked)
                         return a[0];
                       Value filled = b.compare(arith::CmpIPredicate::slt, b.add(firstKey, b.index(0)), kvLen);
                       return b.select(filled, a[0], b.f32(0.0));
                     });
  }
  // Keys are pairs of columns [width / 2, 64, 2], values pairs of tokens [32, width, 2].
  int64_t pairs = (width + 1) / 2;
  Value part = t.slice(keys, {number, head, t.div(first, t.constant(2)), zero, zero}, {1, 1, pairs, kPageTokens, 2},
                       {pairs, kPageTokens, 2});
  part = t.reshape(part, {pairs, kPageTokens / 2, 2, 2}); // pair of columns, pair of tokens, token, column
  Value turned = t.generic(part, t.alloc({kPageTokens / 2, pairs, 2, 2}, t.b.getBF16Type()),
                           {t.map(4, {t.d(1), t.d(0), t.d(3), t.d(2)}), t.b.getMultiDimIdentityMap(4)}, "pppp",
                           [&](TileBuilder &b, ValueRange a) -> Value {
                             if (!masked)
                               return a[0];
                             Value key = b.add(firstKey, b.add(b.mul(b.index(0), b.constant(2)), b.index(3)));
                             return bitsWhere(b, b.compare(arith::CmpIPredicate::slt, key, kvLen), a[0]);
                           });
  turned = t.reshape(turned, {kPageTokens / 2, 2 * pairs, 2});
  if (2 * pairs == width)
    return turned;
  return t.slice(turned, {zero, zero, zero}, {kPageTokens / 2, width, 2});
}

Value PagedAttention::rowMaximum(Value scores) {
  return t.generic(
      scores, t.filled({rows()}, kMasked), {t.map(2, {t.d(0), t.d(1)}), t.map(2, {t.d(0)})}, "pr",
      [](TileBuilder &s, ValueRange a) -> Value { return arith::MaxNumFOp::create(s.b, s.loc, a[0], a[1]); });
}

Value PagedAttention::weight(TileBuilder &s, Value score, Value maximum, bool masked) {
  Value weight = math::Exp2Op::create(s.b, s.loc, s.sub(score, maximum));
  if (!masked)
    return weight;
  return s.select(s.compare(arith::CmpFPredicate::OLE, score, s.f32(kMasked)), s.f32(0.0), weight);
}

std::pair<Value, Value> PagedAttention::weights(Value scores, Value maximum, Value sums, bool masked) {
  AffineMap elements = t.map(2, {t.d(0), t.d(1)}), perRow = t.map(2, {t.d(0)});
  SmallVector<Value> both = t.generic(ValueRange(maximum), ValueRange{scores, sums}, {perRow, elements, perRow}, "pr",
                                      TileBuilder::Bodies([&](TileBuilder &s, ValueRange a) -> SmallVector<Value> {
                                        Value w = weight(s, a[1], a[0], masked);
                                        return {w, s.add(a[2], w)};
                                      }));
  return {both[0], both[1]};
}

Value PagedAttention::accumulate(Value acc, Value weights, Value page, bool masked) {
  if (paired)
    weights = pairsOf(weights);
  if (!valuesAreKeys)
    return product(weights, values(page, masked), acc);
  // Columns of an odd number of them are one block: pairs are not cut.
  int64_t pair = paired ? 2 : 1;
  int64_t width = dimV % pair ? dimV : largestDivisor(dimV, kTransposedColumns, pair);
  return t.loop(t.constant(0), t.constant(dimV / width), acc, [&](Value block, ValueRange state) -> SmallVector<Value> {
    Value first = t.mul(block, t.constant(width));
    SmallVector<OpFoldResult> at = {t.b.getIndexAttr(0), first};
    SmallVector<int64_t> sizes = {rows(), width};
    Value columns = product(weights, valuesInKeys(page, first, width, masked), t.slice(state[0], at, sizes));
    return {t.insert(columns, state[0], at, sizes)};
  })[0];
}

std::pair<Value, Value> PagedAttention::initial() {
  if (!sinks)
    return {t.filled({rows()}, kMasked), t.filled({rows()}, 0.0)};
  Value own = t.slice(sinks, {firstHead}, group);
  AffineMap perHead = t.map(2, {t.d(1)}), elements = t.map(2, {t.d(0), t.d(1)});
  Value maximum =
      t.generic(own, t.alloc({piece, group}, t.b.getF32Type()), {perHead, elements}, "pp",
                [](TileBuilder &s, ValueRange a) { return s.mul(s.toF32(a[0]), s.f32(std::numbers::log2e)); });
  return {t.reshape(maximum, rows()), t.filled({rows()}, 1.0)};
}

Value PagedAttention::chunkBegin(TileBuilder &b, Value place) {
  Value chunk = b.constant(*spec.chunk);
  return b.mul(b.div(place, chunk), chunk);
}

Value PagedAttention::firstVisible(Value place) {
  Value first;
  auto atLeast = [&](Value key) { first = first ? t.max(first, key) : key; };
  if (spec.window)
    atLeast(t.max(t.sub(t.add(place, t.constant(1)), t.constant(*spec.window)), t.constant(0)));
  if (spec.radius)
    atLeast(t.max(t.sub(place, t.constant(*spec.radius)), t.constant(0)));
  if (spec.chunk)
    atLeast(chunkBegin(t, place));
  return first;
}

Value PagedAttention::endVisible(Value place) {
  Value next = t.add(place, t.constant(1));
  if (spec.causal)
    return t.min(kvLen, next);
  Value end = spec.radius ? t.min(kvLen, t.add(next, t.constant(*spec.radius))) : kvLen;
  return spec.chunk ? t.min(end, t.add(chunkBegin(t, place), t.constant(*spec.chunk))) : end;
}

SmallVector<Value> PagedAttention::forPages(ValueRange inits,
                                            llvm::function_ref<SmallVector<Value>(Value, ValueRange, bool)> body) {
  Value zero = t.constant(0), pageKeys = t.constant(kPageTokens);
  Value last = t.sub(t.add(position, tileRows), t.constant(1)); // the last row's place
  Value end = t.ceilDiv(endVisible(last), kPageTokens);
  Value full = t.div(endVisible(position), pageKeys); // the first row's last whole page
  auto loop = [&](Value low, Value high, ValueRange carried, bool masked) {
    return t.loop(low, high, carried, [&](Value page, ValueRange state) { return body(page, state, masked); });
  };
  SmallVector<Value> carried(inits);
  Value low = zero;
  if (Value begin = firstVisible(position)) {
    // The first row's keys begin in page `begin / 64`; from page `low` on, every row's have begun.
    low = t.min(t.ceilDiv(firstVisible(last), kPageTokens), end);
    carried = loop(t.div(begin, pageKeys), low, carried, true);
  }
  carried = loop(low, full, carried, false);
  return loop(t.max(full, low), end, carried, true);
}

} // namespace tilewright::tw
