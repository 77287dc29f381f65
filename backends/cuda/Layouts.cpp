// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/cuda/Layouts.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;

namespace tilewright {

static constexpr StringLiteral kAccumulator = "accumulator", kRow = "row", kOperandB = "operand_b";

Attribute layoutSpace(MLIRContext *context, TileLayout layout) {
  switch (layout) {
  case TileLayout::Memory:
    return gpu::AddressSpaceAttr::get(context, gpu::AddressSpace::Workgroup);
  case TileLayout::Accumulator:
    return StringAttr::get(context, kAccumulator);
  case TileLayout::Row:
    return StringAttr::get(context, kRow);
  case TileLayout::OperandB:
    return StringAttr::get(context, kOperandB);
  }
  llvm_unreachable("all layouts are covered");
}

TileLayout layoutOf(Value buffer) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  auto space = type ? dyn_cast_or_null<StringAttr>(type.getMemorySpace()) : StringAttr();
  if (!space)
    return TileLayout::Memory;
  return space == kAccumulator ? TileLayout::Accumulator : space == kRow ? TileLayout::Row : TileLayout::OperandB;
}

/// The multiplicand that block argument `argument` is, through a widening that is noted.
static Value widened(Value value, Operation *&widening) {
  widening = nullptr;
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(op)) {
    widening = op;
    return op->getOperand(0);
  }
  return value;
}

std::optional<MmaForm> matchMma(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || op.hasDynamicShape() || op.getNumLoops() < 3 ||
      !isa<linalg::GenericOp>(op))
    return std::nullopt;
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  for (auto [dim, iterator] : llvm::enumerate(iterators))
    if ((iterator == utils::IteratorType::parallel) != (dim < 2))
      return std::nullopt;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  MLIRContext *context = op.getContext();
  if (maps[2] !=
      AffineMap::get(op.getNumLoops(), 0, {getAffineDimExpr(0, context), getAffineDimExpr(1, context)}, context))
    return std::nullopt;

  Block *body = op.getBlock();
  Operation *add = body->getTerminator()->getOperand(0).getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(add))
    return std::nullopt;
  unsigned other = add->getOperand(0) == body->getArgument(2) ? 1 : 0;
  Operation *mul = add->getOperand(other).getDefiningOp();
  if (add->getOperand(1 - other) != body->getArgument(2) || !isa_and_nonnull<arith::MulFOp, arith::MulIOp>(mul))
    return std::nullopt;
  Operation *widenings[2];
  auto first = dyn_cast<BlockArgument>(widened(mul->getOperand(0), widenings[0]));
  auto second = dyn_cast<BlockArgument>(widened(mul->getOperand(1), widenings[1]));
  if (!first || !second || first.getOwner() != body || second.getOwner() != body || first == second ||
      first.getArgNumber() > 1 || second.getArgNumber() > 1)
    return std::nullopt;
  if (first.getArgNumber() == 1)
    std::swap(widenings[0], widenings[1]);

  MmaForm form;
  bool rows[2], columns[2];
  for (unsigned i : {0u, 1u}) {
    rows[i] = maps[i].isFunctionOfDim(0);
    columns[i] = maps[i].isFunctionOfDim(1);
  }
  if (rows[0] == rows[1] || columns[0] == columns[1] || rows[0] == columns[0])
    return std::nullopt;
  form.lhs = rows[0] ? 0 : 1;
  form.rhs = 1 - form.lhs;
  Type result = getElementTypeOrSelf(op.getDpsInits()[0]);
  Type inputs[] = {getElementTypeOrSelf(op.getDpsInputs()[0]), getElementTypeOrSelf(op.getDpsInputs()[1])};
  if (result.isF32() && inputs[0].isF32() && inputs[1].isF32()) {
    form.kind = MmaForm::Kind::Tf32;
  } else if (result.isInteger(32) && inputs[0].isInteger(8) && inputs[1].isInteger(8) && widenings[0] && widenings[1]) {
    form.kind = MmaForm::Kind::Int8;
    form.lhsUnsigned = isa<arith::ExtUIOp>(widenings[form.lhs]);
    form.rhsUnsigned = isa<arith::ExtUIOp>(widenings[form.rhs]);
  } else {
    return std::nullopt;
  }
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  form.m = extents[0];
  form.n = extents[1];
  form.k = 1;
  for (int64_t extent : ArrayRef(extents).drop_front(2))
    form.k *= extent;
  if (form.m < 1 || form.n % 8 != 0 || form.k % form.kStep() != 0 || form.n == 0 || form.k == 0)
    return std::nullopt;
  return form;
}

Access accessOf(AffineMap map) {
  auto isDim = [&](unsigned result, unsigned dim) {
    return map.getResult(result) == getAffineDimExpr(dim, map.getContext());
  };
  if (map.getNumResults() == 2 && isDim(0, 0) && map.getNumDims() == 2 && isDim(1, 1))
    return Access::Element;
  if ((map.getNumResults() == 1 ||
       (map.getNumResults() == 2 && map.getResult(1) == getAffineConstantExpr(0, map.getContext()))) &&
      isDim(0, 0))
    return Access::RowValue;
  return Access::Other;
}

std::optional<SmallVector<Operation *>> matchCombiners(linalg::LinalgOp op) {
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  SmallVector<Operation *> found;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    if (llvm::any_of(reduced, [&](unsigned dim) { return map.isFunctionOfDim(dim); })) {
      found.push_back(nullptr);
      continue;
    }
    SmallVector<Operation *> combiners;
    unsigned number = init.getOperandNumber() - op.getNumDpsInputs();
    if (!matchReduction(op.getRegionOutputArgs(), number, combiners) || combiners.size() != 1 ||
        !arith::getNeutralElement(combiners.front()))
      return std::nullopt;
    found.push_back(combiners.front());
  }
  return found;
}

} // namespace tilewright
