// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/interfaces/Tiling.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

#include <numeric>

using namespace mlir;

namespace tilewright {

namespace {

bool isConstant(OpFoldResult value, int64_t wanted) { return isConstantIntValue(value, wanted); }

/// Extent of dimension `dim`, a constant where it is static. Dynamic result dimensions are unknown (null).
OpFoldResult operandExtent(OpBuilder &b, Location loc, Value operand, int64_t dim) {
  return tensor::getMixedSize(b, loc, operand, dim);
}

/// `value` / factor.
OpFoldResult divided(OpBuilder &b, Location loc, OpFoldResult value, int64_t factor, bool roundUp) {
  if (factor == 1)
    return value;
  AffineExpr d = b.getAffineDimExpr(0);
  return affine::makeComposedFoldedAffineApply(b, loc, roundUp ? d.ceilDiv(factor) : d.floorDiv(factor), {value});
}

OpFoldResult multiplied(OpBuilder &b, Location loc, OpFoldResult value, int64_t factor) {
  if (factor == 1)
    return value;
  return affine::makeComposedFoldedAffineApply(b, loc, b.getAffineDimExpr(0) * factor, {value});
}

/// The range of a dimension that a range of its loop covers; the last step may be partial unless `full`.
void dimOfLoop(OpBuilder &b, Location loc, LoopDim dim, int64_t staticExtent, OpFoldResult loopOffset,
               OpFoldResult loopSize, bool full, OpFoldResult &offset, OpFoldResult &size) {
  offset = multiplied(b, loc, loopOffset, dim.factor);
  size = multiplied(b, loc, loopSize, dim.factor);
  if (full || dim.factor == 1 || ShapedType::isDynamic(staticExtent) || staticExtent % dim.factor == 0)
    return;
  // min(size, extent - offset)
  AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1);
  AffineMap map = AffineMap::get(2, 0, {d0, b.getAffineConstantExpr(staticExtent) - d1}, b.getContext());
  size = affine::makeComposedFoldedAffineMin(b, loc, map, {size, offset});
}

/// The range of a loop that a range of a dimension needs.
LogicalResult loopOfDim(OpBuilder &b, Location loc, LoopDim dim, int64_t staticExtent, OpFoldResult offset,
                        OpFoldResult size, OpFoldResult &loopOffset, OpFoldResult &loopSize) {
  if (!isMultipleOf(offset, dim.factor))
    return failure();
  std::optional<int64_t> at = getConstantIntValue(offset), length = getConstantIntValue(size);
  bool reachesEnd = at && length && !ShapedType::isDynamic(staticExtent) && *at + *length == staticExtent;
  if (!reachesEnd && !isMultipleOf(size, dim.factor))
    return failure();
  loopOffset = divided(b, loc, offset, dim.factor, false);
  loopSize = divided(b, loc, size, dim.factor, true);
  return success();
}

/// Whether a tile takes all of a dimension that is never cut.
bool takesAll(int64_t staticExtent, OpFoldResult offset, OpFoldResult size) {
  return isConstant(offset, 0) && !ShapedType::isDynamic(staticExtent) && isConstant(size, staticExtent);
}

/// Narrows `loopOffsets`/`loopSizes` to the range that a tile of one value needs; `known` marks loops set already.
LogicalResult loopsOfTile(OpBuilder &b, Location loc, RankedTensorType type, const LoopDims &dims,
                          ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
                          SmallVectorImpl<OpFoldResult> &loopOffsets, SmallVectorImpl<OpFoldResult> &loopSizes,
                          SmallVectorImpl<bool> &known) {
  if (!type || dims.size() != offsets.size())
    return failure();
  for (auto [d, dim] : llvm::enumerate(dims)) {
    int64_t extent = type.getDimSize(d);
    if (dim.loop == LoopDim::kWhole) {
      if (!takesAll(extent, offsets[d], sizes[d]))
        return failure();
      continue;
    }
    OpFoldResult offset, size;
    if (failed(loopOfDim(b, loc, dim, extent, offsets[d], sizes[d], offset, size)))
      return failure();
    if (known[dim.loop] && (!isEqualConstantIntOrValue(offset, loopOffsets[dim.loop]) ||
                            !isEqualConstantIntOrValue(size, loopSizes[dim.loop])))
      return failure();
    loopOffsets[dim.loop] = offset;
    loopSizes[dim.loop] = size;
    known[dim.loop] = true;
  }
  return success();
}

/// The whole domain, as the start of narrowing.
void wholeDomain(Operation *op, const LoopMap &map, OpBuilder &b, SmallVectorImpl<OpFoldResult> &offsets,
                 SmallVectorImpl<OpFoldResult> &sizes) {
  offsets.clear();
  sizes.clear();
  for (Range range : loopDomain(op, map, b)) {
    offsets.push_back(range.offset);
    sizes.push_back(range.size);
  }
}

/// Offsets and sizes of the slice of a value of `type` for a tile of the loops; `extent(d)` gives a whole dimension.
void sliceOfLoops(OpBuilder &b, Location loc, RankedTensorType type, const LoopDims &dims,
                  ArrayRef<OpFoldResult> loopOffsets, ArrayRef<OpFoldResult> loopSizes, bool full,
                  llvm::function_ref<OpFoldResult(int64_t)> extent, SmallVectorImpl<OpFoldResult> &offsets,
                  SmallVectorImpl<OpFoldResult> &sizes) {
  offsets.clear();
  sizes.clear();
  for (auto [d, dim] : llvm::enumerate(dims)) {
    OpFoldResult offset = b.getIndexAttr(0), size;
    if (dim.loop == LoopDim::kWhole)
      size = extent(d);
    else
      dimOfLoop(b, loc, dim, type.getDimSize(d), loopOffsets[dim.loop], loopSizes[dim.loop], full, offset, size);
    offsets.push_back(offset);
    sizes.push_back(size);
  }
}

int64_t knownDivisor(OpFoldResult value);

/// The largest number known to divide every result of an affine map, given what is known of its operands.
int64_t divisorOfMap(AffineMap map, ValueRange operands) {
  SmallVector<AffineExpr> dims, symbols;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    bool isDim = i < map.getNumDims();
    AffineExpr e =
        isDim ? getAffineDimExpr(i, map.getContext()) : getAffineSymbolExpr(i - map.getNumDims(), map.getContext());
    int64_t divisor = knownDivisor(OpFoldResult(operand));
    (isDim ? dims : symbols).push_back(divisor ? e * divisor : e);
  }
  int64_t divisor = 0;
  for (AffineExpr expr : map.getResults())
    divisor = std::gcd(
        divisor, simplifyAffineExpr(expr.replaceDimsAndSymbols(dims, symbols), map.getNumDims(), map.getNumSymbols())
                     .getLargestKnownDivisor());
  return divisor;
}

/// The largest number known to divide `value`; 0 for the number 0, which everything divides.
int64_t knownDivisor(OpFoldResult value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return std::abs(*constant);
  auto v = cast<Value>(value);
  if (auto argument = dyn_cast<BlockArgument>(v)) {
    auto loop = dyn_cast_or_null<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
    if (!loop)
      return 1;
    std::optional<SmallVector<Value>> ivs = loop.getLoopInductionVars();
    std::optional<SmallVector<OpFoldResult>> lows = loop.getLoopLowerBounds(), steps = loop.getLoopSteps();
    if (!ivs || !lows || !steps)
      return 1;
    for (auto [iv, low, step] : llvm::zip_equal(*ivs, *lows, *steps))
      if (iv == v)
        return std::gcd(knownDivisor(low), knownDivisor(step));
    return 1;
  }
  Operation *op = v.getDefiningOp();
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return divisorOfMap(apply.getAffineMap(), apply.getMapOperands());
  if (auto min = dyn_cast<affine::AffineMinOp>(op))
    return divisorOfMap(min.getMap(), min.getOperands());
  if (auto add = dyn_cast<arith::AddIOp>(op))
    return std::gcd(knownDivisor(add.getLhs()), knownDivisor(add.getRhs()));
  if (auto sub = dyn_cast<arith::SubIOp>(op))
    return std::gcd(knownDivisor(sub.getLhs()), knownDivisor(sub.getRhs()));
  if (auto mul = dyn_cast<arith::MulIOp>(op)) {
    int64_t product;
    if (llvm::MulOverflow(knownDivisor(mul.getLhs()), knownDivisor(mul.getRhs()), product))
      return 1;
    return product;
  }
  return 1;
}

} // namespace

LoopDims leadingLoops(int64_t rank, unsigned count) {
  LoopDims dims(rank);
  for (unsigned d = 0; d < count && d < rank; ++d)
    dims[d] = LoopDim::along(d);
  return dims;
}

LoopMap elementwiseLoopMap(Operation *op) {
  LoopMap map;
  map.loops = cast<RankedTensorType>(op->getResult(0).getType()).getRank();
  auto dimsOf = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getRank() == map.loops ? leadingLoops(map.loops, map.loops) : LoopDims();
  };
  for (Type type : op->getOperandTypes())
    map.operands.push_back(dimsOf(type));
  for (Type type : op->getResultTypes())
    map.results.push_back(dimsOf(type));
  return map;
}

SmallVector<utils::IteratorType> loopIteratorTypes(const FailureOr<LoopMap> &map) {
  if (failed(map))
    return {};
  return SmallVector<utils::IteratorType>(map->loops, utils::IteratorType::parallel);
}

SmallVector<Range> loopDomain(Operation *op, const FailureOr<LoopMap> &map, OpBuilder &b) {
  if (failed(map))
    return {};
  Location loc = op->getLoc();
  SmallVector<OpFoldResult> extents(map->loops);
  // First operands with factor 1, then static results, then operands with any factor.
  for (auto [i, dims] : llvm::enumerate(map->operands))
    for (auto [d, dim] : llvm::enumerate(dims))
      if (dim.loop >= 0 && dim.factor == 1 && !extents[dim.loop])
        extents[dim.loop] = operandExtent(b, loc, op->getOperand(i), d);
  for (auto [i, dims] : llvm::enumerate(map->results))
    for (auto [d, dim] : llvm::enumerate(dims)) {
      int64_t extent = cast<RankedTensorType>(op->getResult(i).getType()).getDimSize(d);
      if (dim.loop >= 0 && !extents[dim.loop] && !ShapedType::isDynamic(extent))
        extents[dim.loop] = b.getIndexAttr(llvm::divideCeilSigned(extent, dim.factor));
    }
  for (auto [i, dims] : llvm::enumerate(map->operands))
    for (auto [d, dim] : llvm::enumerate(dims))
      if (dim.loop >= 0 && !extents[dim.loop])
        extents[dim.loop] = divided(b, loc, operandExtent(b, loc, op->getOperand(i), d), dim.factor, true);

  SmallVector<Range> domain;
  for (OpFoldResult extent : extents)
    domain.push_back(Range{b.getIndexAttr(0), extent ? extent : b.getIndexAttr(1), b.getIndexAttr(1)});
  return domain;
}

/// `full`: no step of the tile is partial.
static FailureOr<TilingResult> tileSteps(Operation *op, const FailureOr<LoopMap> &map, OpBuilder &b,
                                         ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes, bool full) {
  if (failed(map) || offsets.size() != map->loops || sizes.size() != map->loops)
    return failure();
  Location loc = op->getLoc();
  TilingResult tiled;
  SmallVector<Value> operands;
  SmallVector<OpFoldResult> at, size;
  for (auto [operand, dims] : llvm::zip_equal(op->getOperands(), map->operands)) {
    bool cut = llvm::any_of(dims, [](LoopDim dim) { return dim.loop != LoopDim::kWhole; });
    if (!cut) {
      operands.push_back(operand);
      continue;
    }
    sliceOfLoops(
        b, loc, cast<RankedTensorType>(operand.getType()), dims, offsets, sizes, full,
        [&](int64_t d) { return operandExtent(b, loc, operand, d); }, at, size);
    SmallVector<OpFoldResult> strides(at.size(), b.getIndexAttr(1));
    auto slice = tensor::ExtractSliceOp::create(b, loc, operand, at, size, strides);
    operands.push_back(slice);
    tiled.generatedSlices.push_back(slice);
  }
  SmallVector<Type> types;
  for (auto [result, dims] : llvm::zip_equal(op->getResults(), map->results)) {
    auto type = cast<RankedTensorType>(result.getType());
    sliceOfLoops(
        b, loc, type, dims, offsets, sizes, full,
        [&](int64_t d) -> OpFoldResult { return b.getIndexAttr(type.getDimSize(d)); }, at, size);
    SmallVector<int64_t> shape;
    for (OpFoldResult extent : size)
      shape.push_back(getConstantIntValue(extent).value_or(ShapedType::kDynamic));
    types.push_back(type.clone(shape));
  }
  Operation *clone = mlir::clone(b, op, types, operands);
  tiled.tiledOps.push_back(clone);
  llvm::append_range(tiled.tiledValues, clone->getResults());
  return tiled;
}

FailureOr<TilingResult> tileByLoops(Operation *op, const FailureOr<LoopMap> &map, OpBuilder &b,
                                    ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes) {
  return tileSteps(op, map, b, offsets, sizes, /*full=*/false);
}

LogicalResult resultTileOfLoops(Operation *op, const FailureOr<LoopMap> &map, OpBuilder &b, unsigned number,
                                ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
                                SmallVectorImpl<OpFoldResult> &resultOffsets,
                                SmallVectorImpl<OpFoldResult> &resultSizes) {
  if (failed(map) || number >= map->results.size())
    return failure();
  auto type = cast<RankedTensorType>(op->getResult(number).getType());
  // A whole dimension of dynamic extent has no size here: the result itself does not exist yet.
  for (auto [d, dim] : llvm::enumerate(map->results[number]))
    if (dim.loop == LoopDim::kWhole && type.isDynamicDim(d))
      return failure();
  sliceOfLoops(
      b, op->getLoc(), type, map->results[number], offsets, sizes, /*full=*/false,
      [&](int64_t d) -> OpFoldResult { return b.getIndexAttr(type.getDimSize(d)); }, resultOffsets, resultSizes);
  return success();
}

LogicalResult loopsOfResultTile(Operation *op, const FailureOr<LoopMap> &map, OpBuilder &b, unsigned number,
                                ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
                                SmallVectorImpl<OpFoldResult> &loopOffsets, SmallVectorImpl<OpFoldResult> &loopSizes) {
  if (failed(map) || number >= map->results.size())
    return failure();
  wholeDomain(op, *map, b, loopOffsets, loopSizes);
  SmallVector<bool> known(map->loops, false);
  return loopsOfTile(b, op->getLoc(), cast<RankedTensorType>(op->getResult(number).getType()), map->results[number],
                     offsets, sizes, loopOffsets, loopSizes, known);
}

LogicalResult loopsOfOperandTiles(Operation *op, const FailureOr<LoopMap> &map, OpBuilder &b,
                                  ArrayRef<unsigned> numbers, ArrayRef<SmallVector<OpFoldResult>> allOffsets,
                                  ArrayRef<SmallVector<OpFoldResult>> allSizes,
                                  SmallVectorImpl<OpFoldResult> &loopOffsets,
                                  SmallVectorImpl<OpFoldResult> &loopSizes) {
  if (failed(map))
    return failure();
  wholeDomain(op, *map, b, loopOffsets, loopSizes);
  SmallVector<bool> known(map->loops, false);
  for (auto [number, offsets, sizes] : llvm::zip_equal(numbers, allOffsets, allSizes)) {
    if (number >= map->operands.size() ||
        failed(loopsOfTile(b, op->getLoc(), dyn_cast<RankedTensorType>(op->getOperand(number).getType()),
                           map->operands[number], offsets, sizes, loopOffsets, loopSizes, known)))
      return failure();
  }
  return success();
}

FailureOr<TilingResult> tileOfResult(Operation *op, const FailureOr<LoopMap> &map, OpBuilder &b, unsigned number,
                                     ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> loopOffsets, loopSizes;
  if (failed(loopsOfResultTile(op, map, b, number, offsets, sizes, loopOffsets, loopSizes)))
    return failure();
  // A tile lies inside the result: where its size is a multiple of a dimension's factor, no step is partial.
  bool full = llvm::all_of(llvm::zip_equal(map->results[number], sizes), [](auto dimAndSize) {
    auto [dim, size] = dimAndSize;
    return dim.factor == 1 || isMultipleOf(size, dim.factor);
  });
  FailureOr<TilingResult> tiled = tileSteps(op, map, b, loopOffsets, loopSizes, full);
  if (failed(tiled))
    return failure();
  tiled->tiledValues = {tiled->tiledValues[number]};
  return tiled;
}

FailureOr<TilingResult> tileOfOperands(Operation *op, const FailureOr<LoopMap> &map, OpBuilder &b,
                                       ArrayRef<unsigned> numbers, ArrayRef<SmallVector<OpFoldResult>> allOffsets,
                                       ArrayRef<SmallVector<OpFoldResult>> allSizes) {
  SmallVector<OpFoldResult> loopOffsets, loopSizes;
  if (failed(loopsOfOperandTiles(op, map, b, numbers, allOffsets, allSizes, loopOffsets, loopSizes)))
    return failure();
  return tileByLoops(op, map, b, loopOffsets, loopSizes);
}

int64_t largestDivisor(int64_t extent, int64_t limit, int64_t lanes) {
  int64_t any = 1;
  for (int64_t d = std::min(extent, limit); d >= 1; --d) {
    if (extent % d)
      continue;
    if (d % lanes == 0)
      return d;
    any = std::max(any, d);
  }
  return any;
}

bool isMultipleOf(OpFoldResult value, int64_t factor) { return knownDivisor(value) % factor == 0; }

} // namespace tilewright
