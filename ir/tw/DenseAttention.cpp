// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/tw/DenseAttention.h"

#include "ir/interfaces/Tiling.h"
#include "ir/tw/Build.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

#include <limits>
#include <numbers>

using namespace mlir;

namespace tilewright::tw {

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

FailureOr<DenseAttention> DenseAttention::create(const DenseAttentionSpec &spec, KernelBuilder &kernel) {
  for (Value operand : spec.op->getOperands())
    if (auto type = dyn_cast<RankedTensorType>(operand.getType()); !type || !type.hasStaticShape())
      return spec.op->emitOpError("has no kernel form for an operand of type ")
             << operand.getType() << ", wanted a static shape";
  DenseAttention a(spec, kernel);
  auto type = cast<RankedTensorType>(spec.query.getType());
  a.wide = wideFloat(type.getElementType());
  const bool headsFirst = spec.layout == "bhtd", packed = spec.layout == "bt3hd";
  ArrayRef<int64_t> q = type.getShape(), k = q, v = q;
  if (!packed) {
    k = cast<RankedTensorType>(spec.key.getType()).getShape();
    v = cast<RankedTensorType>(spec.value.getType()).getShape();
  }
  const unsigned headDim = headsFirst ? 1 : packed ? 3 : 2, rowDim = headsFirst ? 2 : 1;
  a.batches = q[0];
  a.heads = q[headDim];
  a.headsKv = k[headDim];
  a.queries = q[rowDim];
  a.allKeys = k[rowDim];
  a.dim = q.back();
  a.dimV = v.back();
  a.group = a.heads / a.headsKv;
  if (a.dim == 0 || a.dimV == 0)
    return spec.op->emitOpError("has no kernel form for heads of ") << a.dim << " and " << a.dimV << " elements";
  a.chooseTiles();
  return a;
}

void DenseAttention::chooseTiles() {
  // Buffers of a block stay below the stack's cap: turned keys, then queries, output, and scores.
  constexpr int64_t kBytes = 160 * 1024, kKeyBytes = 64 * 1024;
  const int64_t bytes = wide.getWidth() / 8, lanes = 16;
  width = std::clamp<int64_t>(kKeyBytes / (bytes * dim) / lanes * lanes, lanes, 64);
  const int64_t perRow = bytes * (dim + dimV + 2 * width);
  const int64_t most = std::clamp<int64_t>((kBytes - bytes * dim * width) / perRow, 1, spec.mostRows);
  piece = std::clamp<int64_t>(most / group, 1, std::max<int64_t>(queries, 1));
  if (piece > 8)
    piece = piece / 8 * 8;
  blocks = llvm::divideCeil(queries, piece);
  keys = std::min(width, allKeys);
  width = isTransposed() ? std::min<int64_t>(width, llvm::alignTo(std::max<int64_t>(keys, 1), lanes)) : keys;
  tiles = keys ? llvm::divideCeil(allKeys, keys) : 0;
}

bool DenseAttention::hasIntervals() const {
  return spec.causal != "none" || spec.window || spec.radius || spec.chunk || spec.kvStart || spec.kvEnd ||
         spec.cuSeqlensQ || spec.parts > 1;
}

LogicalResult DenseAttention::build(llvm::function_ref<Block(DenseAttention &)> item) {
  SmallVector<Value> results = {spec.result};
  for (Value further : {spec.lse, spec.weights})
    if (further)
      results.push_back(further);
  SmallVector<Value> destinations;
  for (unsigned i = 0; i < results.size(); ++i)
    destinations.push_back(kernel.destination(i));
  for (auto [operand, argument] : {std::pair(spec.query, &query),
                                   {spec.key, &key},
                                   {spec.value, &value},
                                   {spec.mask, &mask},
                                   {spec.bias, &bias},
                                   {spec.sinks, &sinks},
                                   {spec.kvStart, &kvStart},
                                   {spec.kvEnd, &kvEnd},
                                   {spec.prefixLen, &prefixLen},
                                   {spec.cuSeqlensQ, &cuSeqlensQ},
                                   {spec.cuSeqlensKv, &cuSeqlensKv}})
    if (operand)
      *argument = kernel.tensor(operand);
  const int64_t chunks = spec.parts * batches * headsKv * blocks;
  kernel.setChunks(chunks);
  if (chunks == 0) {
    for (auto [i, destination] : llvm::enumerate(destinations))
      kernel.finish(i, destination);
    return success();
  }
  ValueRange done = kernel.forChunks(destinations, [&](Value number, ValueRange state) {
    loadChunk(number);
    return store(item(*this), state);
  });
  for (auto [i, destination] : llvm::enumerate(done))
    kernel.finish(i, destination);
  return success();
}

//===- Values of a chunk
//--------------------------------------------------------------------------------------------===//

void DenseAttention::loadChunk(Value number) {
  Value block = t.rem(number, t.constant(blocks));
  Value outer = t.div(number, t.constant(blocks));
  headKv = t.rem(outer, t.constant(headsKv));
  outer = t.div(outer, t.constant(headsKv));
  batch = t.rem(outer, t.constant(batches));
  part = t.div(outer, t.constant(batches));
  head = t.mul(headKv, t.constant(group));
  Value own = t.mul(block, t.constant(piece));
  firstRow = queries % piece ? t.min(own, t.constant(queries - piece)) : own;
  skipped = t.sub(own, firstRow);
  loadQuery();
  if (hasIntervals() || spec.prefixLen || spec.score)
    loadIntervals();
}

void DenseAttention::loadQuery() {
  SmallVector<int64_t> shape = {group, piece, dim};
  AffineMap all = t.b.getMultiDimIdentityMap(3), map = all;
  Value from;
  if (spec.layout == "bhtd") {
    from = t.slice(query, {batch, head, firstRow, at(0)}, {1, group, piece, dim}, shape);
  } else {
    map = t.map(3, {t.d(1), t.d(0), t.d(2)});
    SmallVector<int64_t> rowsFirst = {piece, group, dim};
    from = spec.layout == "bthd"
               ? t.slice(query, {batch, firstRow, head, at(0)}, {1, piece, group, dim}, rowsFirst)
               : t.slice(query, {batch, firstRow, at(0), head, at(0)}, {1, piece, 1, group, dim}, rowsFirst);
  }
  q = t.generic(from, t.alloc(shape, wide), {map, all}, "ppp",
                [&](TileBuilder &s, ValueRange a) { return s.mul(widened(s, a[0]), number(s, spec.scale)); });
  q = t.reshape(q, {rows(), dim});
}

SmallVector<Value> DenseAttention::loadSegments() {
  Type i32 = t.b.getI32Type();
  auto fixed = [&](int64_t n) { return t.integer(i32, n); };
  AffineMap row = t.map(1, {t.d(0)}), one = t.map(1, {t.zero()});
  auto rowNumber = [&](TileBuilder &s) -> Value {
    return arith::IndexCastOp::create(s.b, s.loc, i32, s.add(s.index(0), firstRow));
  };
  SmallVector<Value> outs; // start, keys, position, prefix
  for (int i = 0; i < 4; ++i)
    outs.push_back(spec.cuSeqlensQ ? t.filled({piece}, fixed(0)) : t.alloc({piece}, i32));
  const int64_t offset = spec.offset.value_or(0);
  if (!spec.cuSeqlensQ) {
    SmallVector<Value> ins;
    SmallVector<AffineMap> maps;
    if (prefixLen) {
      ins.push_back(t.slice(prefixLen, {batch}, {1}));
      maps.push_back(one);
    }
    maps.append(4, row);
    const int64_t shift = spec.causal == "end" ? allKeys - queries : offset;
    return t.generic(ins, outs, maps, "p", TileBuilder::Bodies([&](TileBuilder &s, ValueRange a) -> SmallVector<Value> {
                       return {s.integer(i32, 0), s.integer(i32, allKeys), s.add(rowNumber(s), s.integer(i32, shift)),
                               prefixLen ? a[0] : s.integer(i32, 0)};
                     }));
  }
  const int64_t segments = shapeOf(cuSeqlensQ)[0] - 1;
  SmallVector<AffineMap> maps(prefixLen ? 5 : 4, one);
  maps.append(4, row);
  return t.loop(t.constant(0), t.constant(segments), outs, [&](Value segment, ValueRange state) {
    Value next = t.add(segment, t.constant(1));
    SmallVector<Value> ins = {t.slice(cuSeqlensQ, {segment}, {1}), t.slice(cuSeqlensQ, {next}, {1}),
                              t.slice(cuSeqlensKv, {segment}, {1}), t.slice(cuSeqlensKv, {next}, {1})};
    if (prefixLen)
      ins.push_back(t.slice(prefixLen, {segment}, {1}));
    return t.generic(
        ins, state, maps, "p", TileBuilder::Bodies([&](TileBuilder &s, ValueRange a) -> SmallVector<Value> {
          Value number = rowNumber(s);
          Value inside = arith::AndIOp::create(s.b, s.loc, s.compare(arith::CmpIPredicate::sge, number, a[0]),
                                               s.compare(arith::CmpIPredicate::slt, number, a[1]));
          Value count = s.sub(a[3], a[2]), position = s.sub(number, a[0]);
          if (spec.causal == "end")
            position = s.add(position, s.sub(count, s.sub(a[1], a[0])));
          else
            position = s.add(position, s.integer(i32, offset));
          ValueRange old = a.take_back(4);
          return {s.select(inside, a[2], old[0]), s.select(inside, count, old[1]), s.select(inside, position, old[2]),
                  s.select(inside, prefixLen ? a[4] : s.integer(i32, 0), old[3])};
        }));
  });
}

void DenseAttention::loadIntervals() {
  SmallVector<Value> segments = loadSegments();
  starts = segments[0];
  positions = segments[2];
  if (!hasIntervals() && !spec.prefixLen)
    return;
  Type i32 = t.b.getI32Type();
  AffineMap row = t.map(1, {t.d(0)}), one = t.map(1, {t.zero()});
  SmallVector<Value> ins = segments;
  SmallVector<AffineMap> maps(4, row);
  for (Value bound : {kvStart, kvEnd})
    if (bound) {
      ins.push_back(t.slice(bound, {batch}, {1}));
      maps.push_back(one);
    }
  SmallVector<Value> outs; // from, to, those of the prefix
  for (int i = 0; i < (spec.prefixLen ? 4 : 2); ++i)
    outs.push_back(t.alloc({piece}, i32));
  maps.append(outs.size(), row);
  // Larger distances than there are rows and keys mean the same as none.
  const int64_t far = std::min<int64_t>(queries + allKeys + 1 + std::abs(spec.offset.value_or(0)), 1 << 30);
  const int64_t partKeys = llvm::divideCeil(allKeys, spec.parts);
  Value partLow =
      spec.parts > 1 ? arith::IndexCastOp::create(t.b, t.loc, i32, t.mul(part, t.constant(partKeys))) : Value();
  SmallVector<Value> bounds =
      t.generic(ins, outs, maps, "p", TileBuilder::Bodies([&](TileBuilder &s, ValueRange a) -> SmallVector<Value> {
                  auto fixed = [&](int64_t n) { return s.integer(i32, n); };
                  Value start = a[0], count = a[1], p = a[2], prefix = a[3];
                  Value from = fixed(0), to = count; // in the segment
                  Value next = s.add(p, fixed(1));
                  if (spec.causal != "none")
                    to = s.min(to, next);
                  if (spec.window)
                    from = s.max(from, s.sub(next, fixed(std::min(*spec.window, far))));
                  if (spec.radius) {
                    Value r = fixed(std::min(*spec.radius, far));
                    from = s.max(from, s.sub(p, r));
                    to = s.min(to, s.add(next, r));
                  }
                  if (spec.chunk) {
                    Value c = fixed(std::min(*spec.chunk, far));
                    Value first = s.mul(arith::FloorDivSIOp::create(s.b, s.loc, p, c), c);
                    from = s.max(from, first);
                    to = s.min(to, s.add(first, c));
                  }
                  Value end = s.add(start, count);
                  from = s.max(s.add(start, from), start);
                  to = s.min(s.add(start, to), end);
                  unsigned bound = 4;
                  Value least = fixed(0), most = fixed(allKeys);
                  if (kvStart)
                    least = s.max(least, a[bound++]);
                  if (kvEnd)
                    most = s.min(most, a[bound]);
                  if (partLow) {
                    least = s.max(least, partLow);
                    most = s.min(most, s.add(partLow, fixed(partKeys)));
                  }
                  SmallVector<Value> found = {s.max(from, least), s.min(to, most)};
                  if (spec.prefixLen) {
                    // The keys of the prefix begin where the segment does, or where kv_start says.
                    Value prefixEnd = s.min(s.add(start, s.max(s.min(prefix, count), fixed(0))), end);
                    found.append({s.max(start, least), s.min(prefixEnd, most)});
                  }
                  return found;
                }));
  lows = bounds[0];
  highs = bounds[1];
  low = extreme(lows, false);
  allLow = extreme(lows, true);
  high = extreme(highs, true);
  allHigh = extreme(highs, false);
  if (!spec.prefixLen)
    return;
  prefixStarts = bounds[2];
  prefixEnds = bounds[3];
  prefixLow = extreme(prefixStarts, false);
  prefixHigh = extreme(prefixEnds, true);
}

Value DenseAttention::extreme(Value numbers, bool largest) {
  Type i32 = t.b.getI32Type();
  Value row = t.reshape(numbers, {1, piece});
  Value init = t.filled({1}, t.integer(i32, largest ? 0 : allKeys));
  Value found =
      t.generic(row, init, {t.map(2, {t.d(0), t.d(1)}), t.map(2, {t.d(0)})}, "pr",
                [&](TileBuilder &s, ValueRange a) { return largest ? s.max(a[0], a[1]) : s.min(a[0], a[1]); });
  Value scalar = tensor::ExtractOp::create(t.b, t.loc, found, ValueRange{t.constant(0)});
  // Within [0, S], whatever the lengths say.
  return t.max(t.min(t.toIndex(scalar), t.constant(allKeys)), t.constant(0));
}

//===- Scores
//-------------------------------------------------------------------------------------------------------===//

Value DenseAttention::number(TileBuilder &s, double value) {
  return arith::ConstantOp::create(s.b, s.loc, s.b.getFloatAttr(wide, value));
}

Value DenseAttention::widened(TileBuilder &s, Value v) {
  if (v.getType() == wide)
    return v;
  return wide.isF32() ? s.toF32(v) : arith::ExtFOp::create(s.b, s.loc, wide, v).getResult();
}

Value DenseAttention::narrowed(TileBuilder &s, Value v, Type type) {
  unsigned from = v.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
  if (from == to)
    return v;
  return from > to ? arith::TruncFOp::create(s.b, s.loc, type, v).getResult()
                   : arith::ExtFOp::create(s.b, s.loc, type, v).getResult();
}

Value DenseAttention::filled(ArrayRef<int64_t> shape, double value) { return t.filled(shape, number(t, value)); }

Value DenseAttention::firstKey(Value tile) {
  Value first = t.mul(tile, t.constant(keys));
  return allKeys % keys ? t.min(first, t.constant(allKeys - keys)) : first;
}

Value DenseAttention::keyRows(Value whole, int64_t which, Value first, int64_t count, int64_t depth, bool isColumn) {
  SmallVector<int64_t> shape = {count};
  if (!isColumn)
    shape.push_back(depth);
  if (spec.layout == "bhtd")
    return t.slice(whole, {batch, headKv, first, at(0)}, {1, 1, count, depth}, shape);
  if (spec.layout == "bthd")
    return t.slice(whole, {batch, first, headKv, at(0)}, {1, count, 1, depth}, shape);
  return t.slice(query, {batch, first, at(which), headKv, at(0)}, {1, count, 1, 1, depth}, shape);
}

Value DenseAttention::products(Value tile) {
  AffineExpr m = t.d(0), n = t.d(1), d = t.d(2);
  auto body = [&](TileBuilder &s, ValueRange a) { return s.add(a[2], s.mul(a[0], widened(s, a[1]))); };
  Value out = filled({rows(), width}, 0.0);
  if (!isTransposed() && dim == 1) {
    // No sum: a reduction over one element is a product of a column and a row.
    Value row = keyRows(key, 1, firstKey(tile), keys, dim, /*isColumn=*/true);
    return t.generic({t.reshape(q, {rows()}), row}, out, {perRow(), t.map(2, {t.d(1)}), elements()}, "pp",
                     [&](TileBuilder &s, ValueRange a) { return s.mul(a[0], widened(s, a[1])); });
  }
  Value k = keyRows(key, 1, firstKey(tile), keys, dim);
  if (!isTransposed())
    return t.generic({q, k}, out, {t.map(3, {m, d}), t.map(3, {n, d}), t.map(3, {m, n})}, "ppr", body);
  Value turned = width == keys ? t.alloc({dim, width}, wide) : filled({dim, width}, 0.0);
  Value to = width == keys ? turned : t.slice(turned, {at(0), at(0)}, {dim, keys});
  Value copy = t.generic(k, to, {t.map(2, {t.d(1), t.d(0)}), elements()}, "pp",
                         [&](TileBuilder &s, ValueRange a) { return widened(s, a[0]); });
  turned = width == keys ? copy : t.insert(copy, turned, {at(0), at(0)}, {dim, keys});
  return t.generic({q, turned}, out, {t.map(3, {m, d}), t.map(3, {d, n}), t.map(3, {m, n})}, "ppr", body);
}

std::pair<Value, AffineMap> DenseAttention::scorePart(Value whole, Value tile) {
  ArrayRef<int64_t> shape = shapeOf(whole);
  const OpFoldResult from[4] = {batch, head, firstRow, firstKey(tile)};
  const int64_t sizes[4] = {1, group, piece, keys};
  SmallVector<OpFoldResult> offsets;
  SmallVector<int64_t> extents, own; // all dimensions, and those that the tile goes along
  SmallVector<AffineExpr> dims;
  for (size_t i = 0; i < shape.size(); ++i) {
    size_t which = 4 - shape.size() + i;
    if (shape.size() == 3 && i == 0)
      which = 0;
    const bool repeats = shape[i] == 1 && which != 3;
    offsets.push_back(repeats ? at(0) : from[which]);
    extents.push_back(repeats ? 1 : sizes[which]);
    if (repeats || which == 0)
      continue;
    own.push_back(sizes[which]);
    dims.push_back(t.d(which - 1));
  }
  return {t.slice(whole, offsets, extents, own), t.map(3, dims)};
}

Value DenseAttention::runScoreRegion(TileBuilder &s, Value score, Value position, Value keyNumber) {
  Type i32 = s.b.getI32Type();
  auto asI32 = [&](Value index) -> Value { return arith::IndexCastOp::create(s.b, s.loc, i32, index); };
  mlir::Block &block = spec.score->front();
  IRMapping mapping;
  Value values[] = {narrowed(s, score, s.b.getF32Type()), asI32(batch), asI32(s.add(head, s.index(0))), position,
                    keyNumber};
  mapping.map(block.getArguments(), ArrayRef<Value>(values));
  for (Operation &op : block.without_terminator())
    s.b.clone(op, mapping);
  return narrowed(s, mapping.lookup(block.getTerminator()->getOperand(0)), wide);
}

Value DenseAttention::adjusted(Value scores, Value tile) {
  if (spec.softcap == 0.0 && !spec.score && !bias && !mask)
    return scores;
  // In columns that are keys; those behind them are hidden.
  Value part = width == keys ? scores : t.slice(scores, {at(0), at(0)}, {rows(), keys});
  SmallVector<int64_t> shape = {group, piece, keys};
  Value whole = width == keys ? t.reshape(part, shape)
                              : t.slice(t.reshape(scores, {group, piece, width}), {at(0), at(0), at(0)}, shape);
  SmallVector<Value> ins;
  SmallVector<AffineMap> maps;
  for (Value operand : {bias, mask})
    if (operand) {
      auto [slice, map] = scorePart(operand, tile);
      ins.push_back(slice);
      maps.push_back(map);
    }
  if (spec.score) {
    ins.append({positions, starts});
    maps.append(2, t.map(3, {t.d(1)}));
  }
  maps.push_back(t.b.getMultiDimIdentityMap(3));
  Value first = firstKey(tile);
  Value done = t.generic(ins, whole, maps, "ppp", [&](TileBuilder &s, ValueRange a) -> Value {
    Value score = a.back();
    if (spec.softcap != 0.0) {
      Value tanh = math::TanhOp::create(s.b, s.loc, s.mul(score, number(s, 1.0 / spec.softcap)));
      score = s.mul(tanh, number(s, spec.softcap));
    }
    if (spec.score) {
      Value j = arith::IndexCastOp::create(s.b, s.loc, s.b.getI32Type(), s.add(first, s.index(2)));
      ValueRange rest = a.drop_front((bias ? 1 : 0) + (mask ? 1 : 0));
      score = runScoreRegion(s, score, rest[0], s.sub(j, rest[1]));
    }
    if (bias)
      score = s.add(score, widened(s, a[0]));
    if (!mask)
      return score;
    Value given = a[bias ? 1 : 0], visible = given;
    if (auto type = dyn_cast<FloatType>(given.getType()))
      visible = s.compare(arith::CmpFPredicate::UNE, given,
                          arith::ConstantOp::create(s.b, s.loc, s.b.getFloatAttr(type, 0.0)));
    else if (!given.getType().isInteger(1))
      visible = s.compare(arith::CmpIPredicate::ne, given, s.integer(given.getType(), 0));
    return s.select(visible, score, number(s, -kInfinity));
  });
  if (width == keys)
    return t.reshape(done, {rows(), width});
  return t.reshape(t.insert(done, t.reshape(scores, {group, piece, width}), {at(0), at(0), at(0)}, shape),
                   {rows(), width});
}

/// What `then` makes of `state` if the condition holds, else what `otherwise` makes of it.
static Value choose(TileBuilder &t, Value condition, Value state, llvm::function_ref<Value(Value)> then,
                    llvm::function_ref<Value(Value)> otherwise) {
  auto branch = scf::IfOp::create(t.b, t.loc, state.getType(), condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(t.b);
  t.b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(t.b, t.loc, then(state));
  t.b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(t.b, t.loc, otherwise(state));
  return branch.getResult(0);
}

Value DenseAttention::hideByIntervals(Value scores, Value tile) {
  const bool repeats = allKeys % keys != 0, pads = width != keys;
  if (!lows && !repeats && !pads)
    return scores;
  Value first = firstKey(tile), nominal = t.mul(tile, t.constant(keys)), last = t.add(first, t.constant(keys));
  Value hides = arith::ConstantOp::create(t.b, t.loc, t.b.getBoolAttr(pads));
  auto either = [&](Value condition) { hides = arith::OrIOp::create(t.b, t.loc, hides, condition); };
  if (repeats && hideRepeats)
    either(t.compare(arith::CmpIPredicate::slt, first, nominal));
  if (lows) {
    either(t.compare(arith::CmpIPredicate::slt, first, allLow));
    either(t.compare(arith::CmpIPredicate::sgt, last, allHigh));
  }
  auto hide = [&](Value state) {
    SmallVector<int64_t> shape = {group, piece, width};
    SmallVector<Value> ins;
    if (lows)
      ins = {lows, highs};
    if (prefixEnds)
      ins.append({prefixStarts, prefixEnds});
    SmallVector<AffineMap> maps(ins.size(), t.map(3, {t.d(1)}));
    maps.push_back(t.b.getMultiDimIdentityMap(3));
    Value done = t.generic(ins, t.reshape(state, shape), maps, "ppp", [&](TileBuilder &s, ValueRange a) -> Value {
      using P = arith::CmpIPredicate;
      Type i32 = s.b.getI32Type();
      auto both = [&](Value x, Value y) -> Value { return arith::AndIOp::create(s.b, s.loc, x, y); };
      auto asI32 = [&](Value index) -> Value { return arith::IndexCastOp::create(s.b, s.loc, i32, index); };
      Value j = asI32(s.add(first, s.index(2)));
      Value visible;
      if (lows)
        visible = both(s.compare(P::sge, j, a[0]), s.compare(P::slt, j, a[1]));
      if (prefixEnds)
        visible =
            arith::OrIOp::create(s.b, s.loc, visible, both(s.compare(P::sge, j, a[2]), s.compare(P::slt, j, a[3])));
      auto also = [&](Value condition) { visible = visible ? both(visible, condition) : condition; };
      if (repeats && hideRepeats)
        also(s.compare(P::sge, j, asI32(nominal)));
      if (pads)
        also(s.compare(P::slt, j, s.integer(i32, allKeys)));
      return visible ? s.select(visible, a.back(), number(s, -kInfinity)) : a.back();
    });
    return t.reshape(done, {rows(), width});
  };
  return choose(t, hides, scores, hide, [](Value state) { return state; });
}

Value DenseAttention::scores(Value tile, bool) { return hideByIntervals(adjusted(products(tile), tile), tile); }

Value DenseAttention::rowMaximum(Value scores) {
  return t.generic(
      scores, filled({rows()}, -kInfinity), {elements(), perRow()}, "pr",
      [](TileBuilder &s, ValueRange a) -> Value { return arith::MaxNumFOp::create(s.b, s.loc, a[0], a[1]); });
}

//===- Weights and values
//-------------------------------------------------------------------------------------------===//

Value DenseAttention::weight(TileBuilder &s, Value score, Value maximum, bool) {
  Value hidden = s.compare(arith::CmpFPredicate::OEQ, score, number(s, -kInfinity));
  Value exponent = s.mul(s.sub(score, maximum), number(s, std::numbers::log2e));
  return s.select(hidden, number(s, 0.0), math::Exp2Op::create(s.b, s.loc, exponent));
}

std::pair<Value, Value> DenseAttention::weights(Value scores, Value maximum, Value sums, bool masked) {
  SmallVector<Value> both =
      t.generic(ValueRange(maximum), ValueRange{scores, sums}, {perRow(), elements(), perRow()}, "pr",
                TileBuilder::Bodies([&](TileBuilder &s, ValueRange a) -> SmallVector<Value> {
                  Value w = weight(s, a[1], a[0], masked);
                  return {w, s.add(a[2], w)};
                }));
  return {both[0], both[1]};
}

std::pair<Value, Value> DenseAttention::initial() { return {filled({rows()}, -kInfinity), filled({rows()}, 0.0)}; }

Value DenseAttention::hasNonFinite(Value values) {
  Type i32 = t.b.getI32Type();
  Value found = t.generic(values, t.filled({1}, t.integer(i32, 0)), {t.map(3, {t.d(1), t.d(2)}), t.map(3, {t.d(0)})},
                          "prr", [&](TileBuilder &s, ValueRange a) -> Value {
                            Value v = widened(s, a[0]);
                            Value bad = s.compare(arith::CmpFPredicate::UNE, s.sub(v, v), number(s, 0.0));
                            return arith::OrIOp::create(s.b, s.loc, a[1], arith::ExtUIOp::create(s.b, s.loc, i32, bad));
                          });
  Value scalar = tensor::ExtractOp::create(t.b, t.loc, found, ValueRange{t.constant(0)});
  return t.compare(arith::CmpIPredicate::ne, scalar, t.integer(i32, 0));
}

Value DenseAttention::accumulate(Value acc, Value weights, Value tile, bool) {
  Value v = keyRows(value, 2, firstKey(tile), keys, dimV);
  Value w = width == keys ? weights : t.slice(weights, {at(0), at(0)}, {rows(), keys});
  AffineExpr m = t.d(0), n = t.d(1), k = t.d(2);
  auto product = [&](Value state) {
    return t.generic({w, v}, state, {t.map(3, {m, k}), t.map(3, {k, n}), t.map(3, {m, n})}, "ppr",
                     [&](TileBuilder &s, ValueRange a) { return s.add(a[2], s.mul(a[0], widened(s, a[1]))); });
  };
  const bool hides = lows || mask || bias || spec.score || allKeys % keys != 0;
  // The value of a hidden key does not count, whatever it is; 0 * NaN would.
  auto carefully = [&](Value state) {
    return t.loop(t.constant(0), t.constant(keys), state, [&](Value j, ValueRange inner) -> SmallVector<Value> {
      Value column = t.slice(w, {at(0), j}, {rows(), 1}), row = t.slice(v, {j, at(0)}, {1, dimV});
      return {t.generic({column, row}, inner[0],
                        {t.map(2, {t.d(0), t.zero()}), t.map(2, {t.zero(), t.d(1)}), elements()}, "pp",
                        [&](TileBuilder &s, ValueRange a) {
                          Value none = s.compare(arith::CmpFPredicate::OEQ, a[0], number(s, 0.0));
                          return s.select(none, a[2], s.add(a[2], s.mul(a[0], widened(s, a[1]))));
                        })};
    })[0];
  };
  // A product that one block of registers does whole has no loop that would carry its sums.
  if (keys == 1 || (rows() <= 8 && dimV <= 32 && keys <= 16))
    return carefully(acc);
  if (!hides)
    return product(acc);
  return choose(t, hasNonFinite(v), acc, carefully, product);
}

SmallVector<Value> DenseAttention::forPages(ValueRange inits,
                                            llvm::function_ref<SmallVector<Value>(Value, ValueRange, bool)> body) {
  if (tiles == 0)
    return SmallVector<Value>(inits);
  if (tiles == 1) // no loop: without visible keys it adds nothing
    return body(t.constant(0), inits, true);
  Value first = t.constant(0), end = t.constant(tiles);
  if (lows) {
    Value from = low, to = high;
    if (prefixEnds) {
      from = t.min(from, prefixLow);
      to = t.max(to, prefixHigh);
    }
    first = t.div(from, t.constant(keys));
    end = t.ceilDiv(to, keys);
  }
  return t.loop(first, end, inits, [&](Value tile, ValueRange state) { return body(tile, state, true); });
}

//===- Results
//------------------------------------------------------------------------------------------------------===//

SmallVector<Value> DenseAttention::forOwnRows(ValueRange inits, TileBuilder::LoopBody body) {
  return t.loop(skipped, t.constant(piece), inits, body);
}

std::pair<Value, Value> DenseAttention::normaliser(const Block &block) {
  if (!sinks)
    return {Value(), block.sums};
  Value own = t.slice(sinks, {head}, {group});
  SmallVector<int64_t> shape = {group, piece};
  AffineMap all = elements(), perHead = perRow();
  Value maximum = t.reshape(block.maximum, shape), sums = t.reshape(block.sums, shape);
  SmallVector<Value> both =
      t.generic({own, maximum, sums}, {t.alloc(shape, wide), t.alloc(shape, wide)}, {perHead, all, all, all, all}, "pp",
                TileBuilder::Bodies([&](TileBuilder &s, ValueRange a) -> SmallVector<Value> {
                  Value sink = widened(s, a[0]);
                  Value most = s.select(s.compare(arith::CmpFPredicate::OGT, sink, a[1]), sink, a[1]);
                  Value factor = weight(s, a[1], most, true);
                  return {factor, s.add(s.mul(a[2], factor), weight(s, sink, most, true))};
                }));
  return {t.reshape(both[0], {rows()}), t.reshape(both[1], {rows()})};
}

SmallVector<Value> DenseAttention::store(const Block &block, ValueRange destinations) {
  auto [factor, denominator] = normaliser(block);
  SmallVector<Value> carried(destinations.take_front(spec.lse ? 2 : 1));
  // [G, piece, ...]
  auto perHead = [&](Value value, int64_t depth) { return t.reshape(value, {group, piece, depth}); };
  Value acc = perHead(block.acc, dimV), sums = perHead(denominator, 1);
  Value factors = factor ? perHead(factor, 1) : Value();
  Value own = perHead(block.sums, 1), maximum = perHead(block.maximum, 1);
  SmallVector<Value> done = forOwnRows(carried, [&](Value r, ValueRange state) {
    Value row = t.add(firstRow, r);
    auto partOf = [&](Value value, int64_t depth) {
      return t.slice(value, {at(0), r, at(0)}, {group, 1, depth}, {group, depth});
    };
    SmallVector<OpFoldResult> offsets;
    SmallVector<int64_t> sizes;
    if (spec.parts > 1) {
      offsets.push_back(part);
      sizes.push_back(1);
    }
    SmallVector<OpFoldResult> lseOffsets = offsets;
    SmallVector<int64_t> lseSizes = sizes;
    lseOffsets.append({batch, head, row});
    lseSizes.append({1, group, 1});
    if (spec.layout == "bhtd") {
      offsets.append({batch, head, row, at(0)});
      sizes.append({1, group, 1, dimV});
    } else {
      offsets.append({batch, row, head, at(0)});
      sizes.append({1, 1, group, dimV});
    }
    SmallVector<Value> ins = {partOf(acc, dimV), partOf(sums, 1)};
    AffineMap scalar = t.map(2, {t.d(0), t.zero()});
    SmallVector<AffineMap> maps = {elements(), scalar};
    if (factors) {
      ins.push_back(partOf(factors, 1));
      maps.push_back(scalar);
    }
    maps.push_back(elements());
    Value to = t.slice(state[0], offsets, sizes, {group, dimV});
    Type type = cast<RankedTensorType>(to.getType()).getElementType();
    Value normal = t.generic(ins, to, maps, "pp", [&](TileBuilder &s, ValueRange a) -> Value {
      // A row without a key has sum 0 and gives 0; NaN stays NaN.
      Value none = s.compare(arith::CmpFPredicate::OEQ, a[1], number(s, 0.0));
      Value y = factors ? s.mul(a[0], a[2]) : a[0];
      return narrowed(s, s.div(y, s.select(none, number(s, 1.0), a[1])), type);
    });
    SmallVector<Value> next = {t.insert(normal, state[0], offsets, sizes)};
    if (spec.lse) {
      Value lseTo = t.slice(state[1], lseOffsets, lseSizes, {group, 1});
      Type lseType = cast<RankedTensorType>(lseTo.getType()).getElementType();
      Value logarithm = t.elementwise({partOf(maximum, 1), partOf(own, 1)}, lseTo, [&](TileBuilder &s, ValueRange a) {
        Value none = s.compare(arith::CmpFPredicate::OEQ, a[1], number(s, 0.0));
        Value sum = s.add(a[0], math::LogOp::create(s.b, s.loc, a[1]));
        return narrowed(s, s.select(none, number(s, -kInfinity), sum), lseType);
      });
      next.push_back(t.insert(logarithm, state[1], lseOffsets, lseSizes));
    }
    return next;
  });
  if (spec.weights)
    done.push_back(storeWeights(block.maximum, factor, denominator, destinations.back()));
  return done;
}

Value DenseAttention::storeWeights(Value maximum, Value factor, Value sums, Value destination) {
  if (tiles == 0)
    return destination;
  // Repeated keys are written twice, each time the same.
  hideRepeats = false;
  Value done =
      t.loop(t.constant(0), t.constant(tiles), destination, [&](Value tile, ValueRange state) -> SmallVector<Value> {
        SmallVector<Value> ins = {maximum, sums};
        if (factor)
          ins.push_back(factor);
        SmallVector<AffineMap> maps(ins.size(), perRow());
        maps.push_back(elements());
        Value weights = t.generic(ins, scores(tile, true), maps, "pp", [&](TileBuilder &s, ValueRange a) -> Value {
          Value none = s.compare(arith::CmpFPredicate::OEQ, a[1], number(s, 0.0));
          Value w = weight(s, a.back(), a[0], true);
          return s.div(factor ? s.mul(w, a[2]) : w, s.select(none, number(s, 1.0), a[1]));
        });
        Value whole = t.reshape(weights, {group, piece, width});
        return forOwnRows(state, [&](Value r, ValueRange inner) -> SmallVector<Value> {
          Value from = t.slice(whole, {at(0), r, at(0)}, {group, 1, keys}, {group, keys});
          SmallVector<OpFoldResult> offsets = {batch, head, t.add(firstRow, r), firstKey(tile)};
          SmallVector<int64_t> sizes = {1, group, 1, keys};
          Value to = t.slice(inner[0], offsets, sizes, {group, keys});
          Type type = cast<RankedTensorType>(to.getType()).getElementType();
          Value copy = t.elementwise(from, to, [&](TileBuilder &s, ValueRange a) { return narrowed(s, a[0], type); });
          return {t.insert(copy, inner[0], offsets, sizes)};
        });
      })[0];
  hideRepeats = true;
  return done;
}

} // namespace tilewright::tw
