// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/cpu/Blocks.h"

#include "backends/cpu/SplitBlockLoops.h"
#include "ir/interfaces/Tiling.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tilewright {

static bool uses(AffineMap map, unsigned dim) { return map.isFunctionOfDim(dim); }

static unsigned lastDim(AffineMap map, unsigned fromEnd = 0) {
  return cast<AffineDimExpr>(map.getResult(map.getNumResults() - 1 - fromEnd)).getPosition();
}

std::optional<ContractionDims> matchContraction(ArrayRef<AffineMap> maps, ArrayRef<utils::IteratorType> iterators,
                                                ArrayRef<int64_t> extents, ArrayRef<Type> types) {
  for (AffineMap map : maps)
    if (!map.isProjectedPermutation() || map.getNumResults() == 0)
      return std::nullopt;
  AffineMap acc = maps[2];
  ContractionDims dims;
  dims.vector = lastDim(acc);
  dims.swapped = uses(maps[0], dims.vector);
  AffineMap left = maps[dims.swapped ? 1 : 0], right = maps[dims.swapped ? 0 : 1];
  if (uses(left, dims.vector) || !uses(right, dims.vector))
    return std::nullopt;

  bool bytes = types[0].isInteger(8) && types[1].isInteger(8) && types[2].isInteger(32);
  bool halves = types[0].isBF16() && types[1].isBF16() && types[2].isF32();
  if (lastDim(right) == dims.vector) {
    if (!types[2].isF32())
      return std::nullopt;
    dims.form = ContractionForm::Plain;
  } else {
    if (!bytes && !halves)
      return std::nullopt;
    dims.form = bytes ? ContractionForm::I8x4 : ContractionForm::Bf16x2;
    dims.packed = lastDim(right);
    bool packedBoth = lastDim(left) == static_cast<unsigned>(dims.packed) && right.getNumResults() > 1 &&
                      lastDim(right, 1) == dims.vector && iterators[dims.packed] == utils::IteratorType::reduction;
    if (!packedBoth || extents[dims.packed] != (bytes ? 4 : 2))
      return std::nullopt;
  }
  for (unsigned dim = 0; dim < iterators.size(); ++dim) {
    bool inLeft = uses(left, dim), inRight = uses(right, dim);
    if (iterators[dim] == utils::IteratorType::reduction) {
      if (!inLeft || !inRight || uses(acc, dim))
        return std::nullopt;
      if (static_cast<int>(dim) != dims.packed)
        dims.k.push_back(dim);
      continue;
    }
    if (!uses(acc, dim) || (!inLeft && !inRight))
      return std::nullopt;
    if (dim == dims.vector)
      continue;
    (inLeft && inRight ? dims.batch : inLeft ? dims.m : dims.n).push_back(dim);
  }
  if (dims.k.empty() && dims.packed < 0)
    return std::nullopt;
  return dims;
}

/// The block argument behind an optional widening, or null.
static BlockArgument widened(Value value) {
  if (Operation *op = value.getDefiningOp(); op && isa<arith::ExtSIOp, arith::ExtUIOp, arith::ExtFOp>(op))
    value = op->getOperand(0);
  return dyn_cast<BlockArgument>(value);
}

std::optional<ContractionDims> matchContraction(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0)
    return std::nullopt;
  Block *body = op.getBlock();
  Operation *add = body->getTerminator()->getOperand(0).getDefiningOp();
  if (!add || !isa<arith::AddFOp, arith::AddIOp>(add))
    return std::nullopt;
  Value acc = body->getArgument(2);
  Value product = add->getOperand(0) == acc ? add->getOperand(1) : add->getOperand(0);
  if (add->getOperand(0) != acc && add->getOperand(1) != acc)
    return std::nullopt;
  Operation *mul = product.getDefiningOp();
  if (!mul || !isa<arith::MulFOp, arith::MulIOp>(mul))
    return std::nullopt;
  BlockArgument a = widened(mul->getOperand(0)), b = widened(mul->getOperand(1));
  if (!a || !b || a == b || a.getArgNumber() > 1 || b.getArgNumber() > 1)
    return std::nullopt;
  SmallVector<Type> types;
  for (OpOperand &operand : op->getOpOperands())
    types.push_back(getElementTypeOrSelf(operand.get().getType()));
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  std::optional<ContractionDims> dims =
      matchContraction(op.getIndexingMapsArray(), op.getIteratorTypesArray(), extents, types);
  // Byte products are for one signed and one unsigned operand, on whole registers; others are plain reductions.
  bool isUnsigned[] = {isa_and_nonnull<arith::ExtUIOp>(mul->getOperand(0).getDefiningOp()),
                       isa_and_nonnull<arith::ExtUIOp>(mul->getOperand(1).getDefiningOp())};
  if (dims && dims->form == ContractionForm::I8x4 &&
      (isUnsigned[0] == isUnsigned[1] || extents[dims->vector] % 16 != 0))
    return std::nullopt;
  return dims;
}

ContractionBlock chooseContractionBlock(linalg::LinalgOp op, const ContractionDims &dims, const CpuLevel &level) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  int64_t lanes = level.f32Lanes();
  bool wide = level.vectorRegisters >= 32;
  // Accumulators beside the operands of a step; a block of bytes also has its f32 accumulators.
  int64_t accumulators = dims.form == ContractionForm::I8x4 ? 8 : wide ? 16 : 12;
  int64_t rows = dims.form == ContractionForm::I8x4 ? byteProductRows(level) : wide ? 8 : 6;

  ContractionBlock block;
  block.accumulator.assign(extents.size(), 0);
  block.reduction.assign(extents.size(), 0);
  for (unsigned dim : dims.batch)
    block.accumulator[dim] = 1;
  for (unsigned dim : dims.m)
    block.accumulator[dim] = 1;
  for (unsigned dim : dims.n)
    block.accumulator[dim] = 1;
  int64_t used = 1;
  if (!dims.m.empty()) {
    used = largestDivisor(extents[dims.m.back()], rows);
    block.accumulator[dims.m.back()] = used;
  }
  int64_t vector = largestDivisor(extents[dims.vector], std::max<int64_t>(1, accumulators / used) * lanes, lanes);
  block.accumulator[dims.vector] = vector;
  used *= llvm::divideCeil(vector, lanes);
  if (!dims.n.empty() && used < accumulators) {
    int64_t outer = largestDivisor(extents[dims.n.back()], accumulators / used);
    block.accumulator[dims.n.back()] = outer;
    used *= outer;
  }
  for (unsigned dim : dims.k)
    block.reduction[dim] = 1;
  if (!dims.k.empty()) {
    // Enough steps in one round of the loop to hide its overhead.
    int64_t steps = dims.form == ContractionForm::I8x4 ? 8 : std::max<int64_t>(1, accumulators / used);
    block.reduction[dims.k.back()] = largestDivisor(extents[dims.k.back()], steps);
  }
  // A loop of one round is no loop.
  for (unsigned dim = 0; dim < extents.size(); ++dim) {
    if (block.accumulator[dim] == extents[dim])
      block.accumulator[dim] = 0;
    if (block.reduction[dim] == extents[dim])
      block.reduction[dim] = 0;
  }
  return block;
}

RowBlock chooseRowBlock(linalg::LinalgOp op, const CpuLevel &level) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  RowBlock block;
  block.sizes.assign(extents.size(), 0);
  int64_t bytes = 1;
  for (Value operand : op->getOperands())
    if (Type type = getElementTypeOrSelf(operand.getType()); type.isIntOrFloat())
      bytes = std::max<int64_t>(bytes, llvm::divideCeil(type.getIntOrFloatBitWidth(), 8));
  // Positions in the tile are numbers of 8 bytes.
  if (!op.getBlock()->getOps<linalg::IndexOp>().empty())
    bytes = std::max<int64_t>(bytes, 8);
  int64_t total = bytes;
  for (int64_t extent : extents)
    total *= extent;
  if (extents.empty() || total <= kWholeBytes)
    return block;

  // Rows of at most eight registers; outer loops one at a time unless a row is narrower than a register.
  int64_t budget = level.vectorBytes * 8 / bytes;
  int64_t lanes = std::max<int64_t>(1, level.vectorBytes / bytes);
  auto iterators = op.getIteratorTypesArray();
  int64_t taken = 1;
  for (int64_t dim = extents.size() - 1; dim >= 0; --dim) {
    bool innermost = dim == static_cast<int64_t>(extents.size()) - 1;
    bool reduction = iterators[dim] == utils::IteratorType::reduction;
    int64_t size = 1;
    if (innermost)
      size = largestDivisor(extents[dim], budget, lanes);
    else if (!reduction && taken < lanes)
      size = largestDivisor(extents[dim], budget / taken);
    taken *= size;
    if (innermost && reduction) {
      if (size != extents[dim])
        block.partial = size;
      continue;
    }
    block.sizes[dim] = size == extents[dim] ? 0 : size;
  }
  return block;
}

} // namespace tilewright
