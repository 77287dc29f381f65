// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/cpu/ContractSteps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace tilewright {

/// `value` without its widening; `isUnsigned` says which one it had.
static Value narrow(Value value, bool &isUnsigned) {
  Operation *op = value.getDefiningOp();
  if (op && isa<arith::ExtSIOp, arith::ExtUIOp, arith::ExtFOp>(op)) {
    isUnsigned = isa<arith::ExtUIOp>(op);
    return op->getOperand(0);
  }
  return value;
}

std::optional<ContractOperands> analyzeContract(vector::ContractionOp op) {
  auto accType = dyn_cast<VectorType>(op.getAccType());
  if (!accType || op.getKind() != vector::CombiningKind::ADD)
    return std::nullopt;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<utils::IteratorType> iterators;
  for (Attribute attr : op.getIteratorTypes())
    iterators.push_back(cast<vector::IteratorTypeAttr>(attr).getValue() == vector::IteratorType::reduction
                            ? utils::IteratorType::reduction
                            : utils::IteratorType::parallel);
  SmallVector<int64_t> extents;
  op.getIterationBounds(extents);
  bool lhsUnsigned = false, rhsUnsigned = false;
  Value lhs = narrow(op.getLhs(), lhsUnsigned), rhs = narrow(op.getRhs(), rhsUnsigned);
  SmallVector<Type> types{getElementTypeOrSelf(lhs.getType()), getElementTypeOrSelf(rhs.getType()),
                          accType.getElementType()};
  std::optional<ContractionDims> dims = matchContraction(maps, iterators, extents, types);
  if (!dims)
    return std::nullopt;
  ContractOperands operands;
  operands.dims = *dims;
  if (dims->form == ContractionForm::Plain) {
    lhs = op.getLhs();
    rhs = op.getRhs();
  }
  operands.left = dims->swapped ? rhs : lhs;
  operands.right = dims->swapped ? lhs : rhs;
  operands.leftUnsigned = dims->swapped ? rhsUnsigned : lhsUnsigned;
  operands.rightUnsigned = dims->swapped ? lhsUnsigned : rhsUnsigned;
  operands.leftMap = maps[dims->swapped ? 1 : 0];
  operands.rightMap = maps[dims->swapped ? 0 : 1];
  operands.accMap = maps[2];
  operands.rowLanes = extents[dims->vector];
  return operands;
}

/// Indices of a map's results, without the last `drop` ones, at the point `at` of the iteration space.
static SmallVector<int64_t> indexAt(AffineMap map, ArrayRef<int64_t> at, unsigned drop) {
  SmallVector<int64_t> index;
  for (unsigned i = 0; i + drop < map.getNumResults(); ++i)
    index.push_back(at[cast<AffineDimExpr>(map.getResult(i)).getPosition()]);
  return index;
}

Value expandContract(PatternRewriter &rewriter, vector::ContractionOp op, const ContractOperands &operands,
                     ContractStep step) {
  Location loc = op.getLoc();
  SmallVector<int64_t> extents;
  op.getIterationBounds(extents);
  const ContractionDims &dims = operands.dims;
  bool packed = dims.packed >= 0;

  SmallVector<unsigned> order(dims.k);
  order.append(dims.batch);
  order.append(dims.n);
  order.append(dims.m);
  SmallVector<int64_t> at(extents.size(), 0);
  llvm::MapVector<SmallVector<int64_t>, Value> rows;
  while (true) {
    SmallVector<int64_t> accIndex = indexAt(operands.accMap, at, 1);
    Value &row = rows[accIndex];
    if (!row)
      row =
          accIndex.empty() ? op.getAcc() : vector::ExtractOp::create(rewriter, loc, op.getAcc(), accIndex).getResult();
    row = step(row, indexAt(operands.leftMap, at, packed ? 1 : 0), indexAt(operands.rightMap, at, packed ? 2 : 1));
    // Next point, last of `order` fastest.
    int64_t i = order.size() - 1;
    for (; i >= 0; --i) {
      if (++at[order[i]] < extents[order[i]])
        break;
      at[order[i]] = 0;
    }
    if (i < 0)
      break;
  }
  Value result = op.getAcc();
  for (auto &[index, row] : rows)
    result = index.empty() ? row : vector::InsertOp::create(rewriter, loc, row, result, index).getResult();
  return result;
}

LeftItems::LeftItems(PatternRewriter &rewriter, const ContractOperands &operands)
    : rewriter(rewriter), operands(operands) {}

Value LeftItems::get(ArrayRef<int64_t> index) {
  for (auto &[key, value] : cache)
    if (ArrayRef<int64_t>(key) == index)
      return value;
  bool packed = operands.dims.packed >= 0;
  Location loc = operands.left.getLoc();
  auto type = cast<VectorType>(operands.left.getType());
  Value item;
  auto read = operands.left.getDefiningOp<vector::TransferReadOp>();
  // Which dimension of the memory each vector dimension walks; packed items must be neighbours in memory.
  SmallVector<unsigned> walks;
  bool direct = read && isa<MemRefType>(read.getBase().getType()) &&
                read.getPermutationMap().isProjectedPermutation() && !read.hasOutOfBoundsDim() && !read.getMask();
  if (direct) {
    for (AffineExpr expr : read.getPermutationMap().getResults())
      walks.push_back(cast<AffineDimExpr>(expr).getPosition());
    direct = !packed || walks.back() == read.getPermutationMap().getNumDims() - 1;
  }
  if (direct) {
    // Loads stand where the read stood, whatever is written between it and the contraction.
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(read);
    SmallVector<Value> at(read.getIndices());
    for (auto [i, value] : llvm::enumerate(index))
      if (value)
        at[walks[i]] =
            arith::AddIOp::create(rewriter, loc, at[walks[i]], arith::ConstantIndexOp::create(rewriter, loc, value));
    if (packed)
      item = vector::LoadOp::create(rewriter, loc, VectorType::get({type.getShape().back()}, type.getElementType()),
                                    read.getBase(), at);
    else
      item = memref::LoadOp::create(rewriter, loc, read.getBase(), at);
    if (packed)
      item = vector::ExtractOp::create(
          rewriter, loc, vector::BitCastOp::create(rewriter, loc, VectorType::get({1}, rewriter.getI32Type()), item),
          0);
  } else {
    item = vector::ExtractOp::create(rewriter, loc, operands.left, index);
    if (packed)
      item = vector::ExtractOp::create(
          rewriter, loc, vector::BitCastOp::create(rewriter, loc, VectorType::get({1}, rewriter.getI32Type()), item),
          0);
  }
  // An item made at the contraction must not be reused by an earlier one; all steps of one expansion are later.
  cache.push_back({SmallVector<int64_t>(index), item});
  return item;
}

RightRows::RightRows(PatternRewriter &rewriter, Location loc, const ContractOperands &operands)
    : rewriter(rewriter), loc(loc), operands(operands) {
  auto type = cast<VectorType>(operands.right.getType());
  packed = operands.dims.packed >= 0 ? type.getShape().back() : 1;
  outer.assign(type.getShape().begin(), type.getShape().end() - (operands.dims.packed >= 0 ? 2 : 1));
  if (operands.dims.packed >= 0) {
    auto flatType = VectorType::get({type.getNumElements()}, type.getElementType());
    flat = vector::ShapeCastOp::create(rewriter, loc, flatType, operands.right);
  }
}

Value RightRows::get(ArrayRef<int64_t> index, int64_t lane, int64_t lanes) {
  if (!flat) {
    Value row =
        index.empty() ? operands.right : vector::ExtractOp::create(rewriter, loc, operands.right, index).getResult();
    if (lanes == operands.rowLanes)
      return row;
    return vector::ExtractStridedSliceOp::create(rewriter, loc, row, ArrayRef<int64_t>{lane}, ArrayRef<int64_t>{lanes},
                                                 ArrayRef<int64_t>{1});
  }
  int64_t linear = 0;
  for (auto [i, extent] : llvm::enumerate(outer))
    linear = linear * extent + index[i];
  int64_t begin = (linear * operands.rowLanes + lane) * packed;
  if (cast<VectorType>(flat.getType()).getNumElements() == lanes * packed)
    return flat;
  return vector::ExtractStridedSliceOp::create(rewriter, loc, flat, ArrayRef<int64_t>{begin},
                                               ArrayRef<int64_t>{lanes * packed}, ArrayRef<int64_t>{1});
}

Value splatItem(PatternRewriter &rewriter, Location loc, Value item, int64_t lanes, VectorType type) {
  Value splat = vector::BroadcastOp::create(rewriter, loc, VectorType::get({lanes}, rewriter.getI32Type()), item);
  return vector::BitCastOp::create(rewriter, loc, type, splat);
}

Value updateInChunks(PatternRewriter &rewriter, Location loc, Value row, int64_t lanes,
                     llvm::function_ref<Value(int64_t, Value)> update) {
  int64_t total = cast<VectorType>(row.getType()).getNumElements();
  if (total == lanes)
    return update(0, row);
  for (int64_t lane = 0; lane < total; lane += lanes) {
    Value chunk = vector::ExtractStridedSliceOp::create(rewriter, loc, row, ArrayRef<int64_t>{lane},
                                                        ArrayRef<int64_t>{lanes}, ArrayRef<int64_t>{1});
    row = vector::InsertStridedSliceOp::create(rewriter, loc, update(lane, chunk), row, ArrayRef<int64_t>{lane},
                                               ArrayRef<int64_t>{1});
  }
  return row;
}

} // namespace tilewright
