// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel of latent_attention.absorb: one head of a tile of rows a chunk. A core op's products would want the rows of
// each head together, which stand H * columns apart.
#include "plugins/latent_attention/LatentAttention.h"

#include "ir/interfaces/KernelBuilder.h"
#include "ir/interfaces/TileBuilder.h"
#include "ir/interfaces/Tiling.h"

namespace tilewright::latent_attention {

using namespace mlir;

namespace {

/// Columns of the up-projection that are transposed at once.
constexpr int64_t kColumns = 64;

/// acc[M, O] + x[M, I] w, where w is [I, O], or [O, I] `transposed`.
Value product(TileBuilder &t, Value x, Value w, Value acc, bool transposed) {
  AffineExpr m = t.d(0), o = t.d(1), i = t.d(2);
  AffineMap right = transposed ? t.map(3, {o, i}) : t.map(3, {i, o});
  return t.generic({x, w}, acc, {t.map(3, {m, i}), right, t.map(3, {m, o})}, "ppr",
                   [](TileBuilder &s, ValueRange a) { return s.add(a[2], s.mul(s.toF32(a[0]), s.toF32(a[1]))); });
}

} // namespace

LogicalResult AbsorbOp::buildKernel(KernelBuilder &kernel) {
  RankedTensorType from = getInput().getType(), type = getType(), up = getWeight().getType();
  Type f32 = kernel.builder().getF32Type();
  if (from.getElementType() != f32 || type.getElementType() != f32 || up.getElementTypeBitWidth() > 32)
    return emitOpError("has no kernel form for ") << from << " and " << up << ", wanted f32 rows";
  TileBuilder t(kernel.builder(), kernel.loc());
  Value input = kernel.tensor(getInput()), weight = kernel.tensor(getWeight()), destination = kernel.destination(0);
  if (!input || !weight || !destination)
    return failure();
  const bool isKey = getPart() == "key";
  const int64_t heads = type.getDimSize(1), block = up.getDimSize(0) / heads, rank = up.getDimSize(1);
  const int64_t in = from.getDimSize(2), out = type.getDimSize(2), narrow = isKey ? in : out;
  int64_t rows = kernel.shapeClass().rowMultiple;
  if (!type.isDynamicDim(0))
    rows = largestDivisor(type.getDimSize(0), rows);
  OpFoldResult zero = t.b.getIndexAttr(0);

  ValueRange done = kernel.forChunks(destination, [&](Value chunk, ValueRange state) -> SmallVector<Value> {
    Value head = t.rem(chunk, t.constant(heads));
    Value row = t.mul(t.div(chunk, t.constant(heads)), t.constant(rows));
    Value first = t.add(t.mul(head, t.constant(block)), t.constant(isKey ? 0 : block - narrow));
    auto rowsOf = [&](Value tensor, OpFoldResult column, int64_t columns) {
      return t.slice(tensor, {row, head, column}, {rows, 1, columns}, {rows, columns});
    };
    Value acc = t.filled({rows, out}, 0.0);
    if (isKey) {
      acc = product(t, rowsOf(input, zero, in), t.slice(weight, {first, zero}, {narrow, rank}), acc, false);
    } else if (rows == 1) { // each number of the weight is used once: read as it stands
      acc = product(t, rowsOf(input, zero, in), t.slice(weight, {first, zero}, {narrow, rank}), acc, true);
    } else {
      int64_t columns = largestDivisor(rank, kColumns);
      acc = t.loop(t.constant(0), t.constant(rank / columns), acc,
                   [&](Value index, ValueRange carried) -> SmallVector<Value> {
                     Value column = t.mul(index, t.constant(columns));
                     Value part = t.slice(weight, {first, column}, {narrow, columns});
                     Value turned = t.generic(part, t.alloc({columns, narrow}, f32),
                                              {t.map(2, {t.d(1), t.d(0)}), t.map(2, {t.d(0), t.d(1)})}, "pp",
                                              [](TileBuilder &s, ValueRange a) { return s.toF32(a[0]); });
                     return {product(t, rowsOf(input, column, columns), turned, carried[0], false)};
                   })[0];
    }
    SmallVector<OpFoldResult> at = {row, head, zero};
    SmallVector<int64_t> sizes = {rows, 1, out}, shape = {rows, out};
    Value copy =
        t.elementwise(acc, t.slice(state[0], at, sizes, shape), [](TileBuilder &, ValueRange a) { return a[0]; });
    return {t.insert(copy, state[0], at, sizes)};
  });
  kernel.setRowChunks(getResult(), rows, heads);
  kernel.finish(0, done[0]);
  return success();
}

} // namespace tilewright::latent_attention
