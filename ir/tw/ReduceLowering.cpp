// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel form of tw.reduce: sums, maxima and minima in f32 or wider.
#include "ir/interfaces/TileBuilder.h"
#include "ir/tw/Build.h"
#include "ir/tw/Tw.h"

#include <limits>

using namespace mlir;

namespace tilewright::tw {

FailureOr<LoopMap> ReduceOp::getLoopMap() {
  LoopMap map;
  LoopDims input;
  for (int64_t d = 0; d < getInput().getType().getRank(); ++d)
    input.push_back(llvm::is_contained(getDims(), d) ? LoopDim::whole() : LoopDim::along(map.loops++));
  map.operands = {input};
  map.results = {leadingLoops(map.loops, map.loops)};
  return map;
}

static Value combine(TileBuilder &s, StringRef kind, Value x, Value y) {
  if (kind == "max")
    return arith::MaximumFOp::create(s.b, s.loc, x, y);
  if (kind == "min")
    return arith::MinimumFOp::create(s.b, s.loc, x, y);
  return s.add(x, y);
}

FailureOr<SmallVector<Value>> ReduceOp::lowerTile(OpBuilder &builder) {
  RankedTensorType from = getInput().getType(), to = getType();
  if (!from.hasStaticShape() || !to.hasStaticShape())
    return emitOpError("has no kernel form for a tile of type ") << from << ", wanted a static shape";
  TileBuilder t(builder, getLoc());
  auto element = cast<FloatType>(to.getElementType());
  FloatType wide = wideFloat(element);
  StringRef kind = getKind();

  // A result of rank 0 is one of shape [1] here, of an input with one more dimension.
  Value input = getInput();
  SmallVector<int64_t> shape(from.getShape()), kept(to.getShape());
  SmallVector<int64_t> dims(getDims());
  if (kept.empty()) {
    kept = {1};
    shape.insert(shape.begin(), 1);
    for (int64_t &dim : dims)
      ++dim;
    input = t.reshape(input, shape);
  }
  int64_t count = 1;
  std::string iterators(shape.size(), 'p');
  SmallVector<AffineExpr> out;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!llvm::is_contained(dims, static_cast<int64_t>(d))) {
      out.push_back(t.d(d));
      continue;
    }
    count *= shape[d];
    iterators[d] = 'r';
  }
  const double infinity = std::numeric_limits<double>::infinity();
  double start = kind == "max" ? -infinity : kind == "min" ? infinity : 0.0;
  Value result = t.filled(kept, arith::ConstantOp::create(builder, getLoc(), builder.getFloatAttr(wide, start)));
  auto widened = [&](TileBuilder &s, Value v) { return element == wide ? v : s.toF32(v); };
  if (count > 0)
    result =
        t.generic(input, result, {builder.getMultiDimIdentityMap(shape.size()), t.map(shape.size(), out)}, iterators,
                  [&](TileBuilder &s, ValueRange a) { return combine(s, kind, a[1], widened(s, a[0])); });
  if (kind == "mean" || element != wide)
    result = t.elementwise(result, t.empty(kept, element), [&](TileBuilder &s, ValueRange a) -> Value {
      Value y = a[0];
      if (kind == "mean")
        y = s.div(y, arith::ConstantOp::create(s.b, s.loc, s.b.getFloatAttr(wide, static_cast<double>(count))));
      return element == wide ? y : arith::TruncFOp::create(s.b, s.loc, element, y).getResult();
    });
  return SmallVector<Value>{t.reshape(result, to.getShape())};
}

} // namespace tilewright::tw
