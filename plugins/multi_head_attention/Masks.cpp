// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/multi_head_attention/Masks.h"

#include "ir/tw/Build.h"

#include "mlir/IR/Matchers.h"

#include <cmath>

namespace tilewright::multi_head_attention {

using namespace mlir;

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Element (i_0, i_1, ...) of a tensor is the sum of factors[k] * i_k, plus offset.
struct IndexForm {
  SmallVector<double> factors;
  double offset = 0;
};

/// For each dimension of `to`, which dimension of `from` it is; -1 for one of size 1 that is new. None where dimensions
/// are joined or split.
std::optional<SmallVector<int64_t>> unitReshape(RankedTensorType from, RankedTensorType to) {
  SmallVector<int64_t> source;
  int64_t f = 0, rank = from.getRank();
  for (int64_t size : to.getShape()) {
    while (f < rank && from.getDimSize(f) == 1 && size != 1)
      ++f;
    if (f < rank && from.getDimSize(f) == size)
      source.push_back(f++);
    else if (size == 1)
      source.push_back(-1);
    else
      return std::nullopt;
  }
  while (f < rank && from.getDimSize(f) == 1)
    ++f;
  if (f != rank)
    return std::nullopt;
  return source;
}

std::optional<IndexForm> indexForm(Value value, int depth = 0) {
  const int64_t rank = typeOf(value).getRank();
  if (depth > 24) // chains in models are short
    return std::nullopt;
  if (std::optional<double> number = tw::splatConstant(value))
    return IndexForm{SmallVector<double>(rank, 0.0), *number};
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto iota = dyn_cast<tw::IotaOp>(op)) {
    IndexForm form{SmallVector<double>(rank, 0.0), 0};
    form.factors[iota.getDim()] = 1;
    return form;
  }
  if (isa<tw::AddOp, tw::SubOp>(op)) {
    auto a = indexForm(op->getOperand(0), depth + 1), b = indexForm(op->getOperand(1), depth + 1);
    if (!a || !b)
      return std::nullopt;
    const double sign = isa<tw::AddOp>(op) ? 1 : -1;
    for (auto [x, y] : llvm::zip_equal(a->factors, b->factors))
      x += sign * y;
    a->offset += sign * b->offset;
    return a;
  }
  if (isa<tw::MulOp, tw::NegOp>(op)) {
    double factor = -1;
    Value of = op->getOperand(0);
    if (isa<tw::MulOp>(op)) {
      std::optional<double> right = tw::splatConstant(op->getOperand(1)), left = tw::splatConstant(of);
      if (!right && !left)
        return std::nullopt;
      of = right ? of : op->getOperand(1);
      factor = right ? *right : *left;
    }
    auto form = indexForm(of, depth + 1);
    if (!form)
      return std::nullopt;
    for (double &x : form->factors)
      x *= factor;
    form->offset *= factor;
    return form;
  }
  // Layout: which dimension of the operand each of the result's is.
  SmallVector<int64_t> source(rank, -1);
  double shift = 0;
  int64_t shiftedDim = -1;
  if (isa<tw::CastOp>(op)) {
    if (typeOf(op->getOperand(0)).getElementType().isInteger(1))
      return std::nullopt;
    std::iota(source.begin(), source.end(), 0);
  } else if (auto broadcast = dyn_cast<tw::BroadcastOp>(op)) {
    for (auto [k, d] : llvm::enumerate(broadcast.getDims()))
      source[d] = k;
  } else if (auto transpose = dyn_cast<tw::TransposeOp>(op)) {
    source.assign(transpose.getPerm().begin(), transpose.getPerm().end());
  } else if (auto slice = dyn_cast<tw::SliceOp>(op)) {
    std::iota(source.begin(), source.end(), 0);
    shift = slice.getStart();
    shiftedDim = slice.getDim();
  } else if (auto reshape = dyn_cast<tw::ReshapeOp>(op)) {
    auto mapped = unitReshape(typeOf(op->getOperand(0)), typeOf(value));
    if (!mapped)
      return std::nullopt;
    source = *mapped;
  } else {
    return std::nullopt;
  }
  auto inner = indexForm(op->getOperand(0), depth + 1);
  if (!inner)
    return std::nullopt;
  IndexForm form{SmallVector<double>(rank, 0.0), inner->offset};
  for (auto [d, from] : llvm::enumerate(source))
    if (from >= 0)
      form.factors[d] = inner->factors[from];
  if (shiftedDim >= 0)
    form.offset += shift * inner->factors[shiftedDim];
  return form;
}

/// The last two dimensions of a constant [1, ..., 1, T, S], or of a slice of one, as numbers.
struct Matrix {
  int64_t rows = 0, columns = 0;
  std::vector<double> at;
};

std::optional<Matrix> constantMatrix(Value value) {
  RankedTensorType type = typeOf(value);
  constexpr int64_t most = 1 << 24; // numbers worth looking at one by one; larger masks stay what they are
  Operation *op = value.getDefiningOp();
  if (!op || type.getRank() < 2 || !type.hasStaticShape() || type.getNumElements() > most)
    return std::nullopt;
  for (int64_t size : type.getShape().drop_back(2))
    if (size != 1 && !isa<tw::BroadcastOp>(op))
      return std::nullopt;
  if (isa<tw::CastOp>(op))
    return constantMatrix(op->getOperand(0));
  if (isa<tw::BroadcastOp>(op)) {
    Value inner = withoutLeadingBroadcast(value);
    return inner == value ? std::nullopt : constantMatrix(inner);
  }
  if (isa<tw::ReshapeOp>(op)) {
    ArrayRef<int64_t> from = typeOf(op->getOperand(0)).getShape(), to = type.getShape();
    if (from.size() < 2 || from.take_back(2) != to.take_back(2))
      return std::nullopt;
    return constantMatrix(op->getOperand(0));
  }
  if (auto slice = dyn_cast<tw::SliceOp>(op)) {
    const int64_t dim = int64_t(slice.getDim()) - (type.getRank() - 2);
    auto whole = constantMatrix(slice.getInput());
    if (!whole || dim < 0)
      return std::nullopt;
    Matrix part{type.getDimSize(type.getRank() - 2), type.getDimSize(type.getRank() - 1), {}};
    const int64_t row = dim == 0 ? slice.getStart() : 0, column = dim == 1 ? slice.getStart() : 0;
    for (int64_t i = 0; i < part.rows; ++i)
      for (int64_t j = 0; j < part.columns; ++j)
        part.at.push_back(whole->at[(row + i) * whole->columns + column + j]);
    return part;
  }
  DenseElementsAttr dense;
  if (!matchPattern(value, m_Constant(&dense)))
    return std::nullopt;
  Matrix matrix{type.getDimSize(type.getRank() - 2), type.getDimSize(type.getRank() - 1), {}};
  if (isa<FloatType>(type.getElementType()))
    for (const APFloat &x : dense.getValues<APFloat>())
      matrix.at.push_back(x.convertToDouble());
  else if (type.getElementType().isInteger(1))
    for (bool x : dense.getValues<bool>())
      matrix.at.push_back(x);
  else
    for (const APInt &x : dense.getValues<APInt>())
      matrix.at.push_back(static_cast<double>(x.getSExtValue()));
  return matrix;
}

/// The band where `holds` is true, if these places are one.
std::optional<Band> bandOfMatrix(const Matrix &matrix, llvm::function_ref<bool(double)> holds) {
  Band found{Band::unbounded, -Band::unbounded};
  bool all = true;
  for (int64_t i = 0; i < matrix.rows; ++i)
    for (int64_t j = 0; j < matrix.columns; ++j) {
      if (!holds(matrix.at[i * matrix.columns + j])) {
        all = false;
        continue;
      }
      found.low = std::min(found.low, j - i);
      found.high = std::max(found.high, j - i);
    }
  if (all)
    return Band();
  auto fits = [&](const Band &band) {
    for (int64_t i = 0; i < matrix.rows; ++i)
      for (int64_t j = 0; j < matrix.columns; ++j)
        if (holds(matrix.at[i * matrix.columns + j]) != (band.low <= j - i && j - i <= band.high))
          return false;
    return true;
  };
  for (Band band : {Band{-Band::unbounded, found.high}, Band{found.low, Band::unbounded}, found})
    if (fits(band))
      return band;
  return std::nullopt;
}

/// Where `form <kind> 0`: forms that depend on j - i alone, i and j the last two indices.
std::optional<Band> bandOfForm(const IndexForm &form, StringRef kind) {
  const size_t rank = form.factors.size();
  if (rank < 2)
    return std::nullopt;
  for (double factor : ArrayRef<double>(form.factors).drop_back(2))
    if (factor != 0)
      return std::nullopt;
  const double unit = form.factors[rank - 1];
  if (unit == 0 || form.factors[rank - 2] != -unit)
    return std::nullopt;
  // unit * (j - i) + offset <kind> 0, so j - i <kind'> limit.
  const double limit = -form.offset / unit;
  if (!std::isfinite(limit) || std::abs(limit) > 1e15)
    return std::nullopt;
  if (unit < 0)
    kind = kind == "lt" ? "gt" : kind == "le" ? "ge" : kind == "gt" ? "lt" : kind == "ge" ? "le" : kind;
  Band band;
  if (kind == "le" || kind == "eq")
    band.high = std::floor(limit);
  else if (kind == "lt")
    band.high = std::ceil(limit) - 1;
  if (kind == "ge" || kind == "eq")
    band.low = std::ceil(limit);
  else if (kind == "gt")
    band.low = std::floor(limit) + 1;
  return kind == "ne" ? std::nullopt : std::optional(band);
}

StringRef opposite(StringRef kind) {
  return kind == "lt"   ? "ge"
         : kind == "ge" ? "lt"
         : kind == "le" ? "gt"
         : kind == "gt" ? "le"
         : kind == "eq" ? "ne"
                        : "eq";
}

bool compares(double a, StringRef kind, double b) {
  return kind == "lt"   ? a < b
         : kind == "le" ? a <= b
         : kind == "gt" ? a > b
         : kind == "ge" ? a >= b
         : kind == "eq" ? a == b
                        : a != b;
}

std::optional<Band> both(std::optional<Band> a, std::optional<Band> b) {
  if (!a || !b)
    return std::nullopt;
  a->intersect(*b);
  return a;
}

std::optional<Band> bandOfCompare(tw::CompareOp compare, bool wanted) {
  Value lhs = compare.getLhs(), rhs = compare.getRhs();
  StringRef kind = wanted ? compare.getKind() : opposite(compare.getKind());
  if (std::optional<double> number = tw::splatConstant(rhs)) {
    // A condition as a number: 0 or 1.
    if (auto cast = lhs.getDefiningOp<tw::CastOp>(); cast && typeOf(cast.getInput()).getElementType().isInteger(1)) {
      const bool ofFalse = compares(0, kind, *number), ofTrue = compares(1, kind, *number);
      return ofFalse == ofTrue ? std::nullopt : bandOf(cast.getInput(), ofTrue);
    }
    if (auto matrix = constantMatrix(lhs))
      return bandOfMatrix(*matrix, [&](double x) { return compares(x, kind, *number); });
  }
  auto left = indexForm(lhs), right = indexForm(rhs);
  if (!left || !right)
    return std::nullopt;
  for (auto [x, y] : llvm::zip_equal(left->factors, right->factors))
    x -= y;
  left->offset -= right->offset;
  return bandOfForm(*left, kind);
}

} // namespace

Value withoutLeadingBroadcast(Value value) {
  while (auto broadcast = value.getDefiningOp<tw::BroadcastOp>()) {
    ArrayRef<int64_t> dims = broadcast.getDims();
    int64_t rank = broadcast.getType().getRank(), count = dims.size();
    for (int64_t i = 0; i < count; ++i)
      if (dims[i] != rank - count + i)
        return value;
    if (count < 2)
      return value;
    value = broadcast.getInput();
  }
  return value;
}

std::optional<Band> bandOf(Value condition, bool wanted) {
  RankedTensorType type = typeOf(condition);
  const int64_t rank = type.getRank();
  Operation *op = condition.getDefiningOp();
  if (!op || rank < 2)
    return std::nullopt;
  if (auto compare = dyn_cast<tw::CompareOp>(op))
    return bandOfCompare(compare, wanted);
  if (auto matrix = constantMatrix(condition))
    return bandOfMatrix(*matrix, [&](double x) { return (x != 0) == wanted; });
  if (auto select = dyn_cast<tw::SelectOp>(op)) {
    // c and a, c and not b, not c, ...: what each side demands where it is taken.
    std::optional<double> a = tw::splatConstant(select.getOnTrue()), b = tw::splatConstant(select.getOnFalse());
    Value c = select.getCondition();
    if (a && b)
      return (*a != 0) == (*b != 0) ? std::nullopt : bandOf(c, (*a != 0) == wanted);
    if (b && (*b != 0) != wanted) // only where c holds
      return both(bandOf(c, true), bandOf(select.getOnTrue(), wanted));
    if (a && (*a != 0) != wanted)
      return both(bandOf(c, false), bandOf(select.getOnFalse(), wanted));
    return std::nullopt;
  }
  if (isa<tw::BroadcastOp>(op)) {
    Value inner = withoutLeadingBroadcast(condition);
    return inner == condition ? std::nullopt : bandOf(inner, wanted);
  }
  if (isa<tw::ReshapeOp>(op)) {
    auto source = unitReshape(typeOf(op->getOperand(0)), type);
    const int64_t from = typeOf(op->getOperand(0)).getRank();
    if (!source || from < 2 || (*source)[rank - 1] != from - 1 || (*source)[rank - 2] != from - 2)
      return std::nullopt;
    return bandOf(op->getOperand(0), wanted);
  }
  if (auto transpose = dyn_cast<tw::TransposeOp>(op)) {
    ArrayRef<int64_t> perm = transpose.getPerm();
    auto inner = bandOf(transpose.getInput(), wanted);
    if (inner && perm[rank - 1] == rank - 2 && perm[rank - 2] == rank - 1)
      return Band{-inner->high, -inner->low};
    return perm[rank - 1] == rank - 1 && perm[rank - 2] == rank - 2 ? inner : std::nullopt;
  }
  if (auto slice = dyn_cast<tw::SliceOp>(op)) {
    auto inner = bandOf(slice.getInput(), wanted);
    const int64_t dim = slice.getDim(), start = slice.getStart();
    const int64_t shift = dim == rank - 1 ? -start : dim == rank - 2 ? start : 0;
    if (inner && inner->low > -Band::unbounded)
      inner->low += shift;
    if (inner && inner->high < Band::unbounded)
      inner->high += shift;
    return inner;
  }
  return std::nullopt;
}

std::optional<AdditiveMask> additiveMask(Value bias, double factor) {
  bias = withoutLeadingBroadcast(bias);
  auto hides = [&](double fill) { return fill * factor <= hiddenFill; };
  if (auto cast = bias.getDefiningOp<tw::CastOp>(); cast && isa<FloatType>(typeOf(cast.getInput()).getElementType()))
    return additiveMask(cast.getInput(), factor);
  if (auto mul = bias.getDefiningOp<tw::MulOp>())
    for (auto [x, c] : {std::pair(mul.getLhs(), mul.getRhs()), std::pair(mul.getRhs(), mul.getLhs())})
      if (std::optional<double> constant = tw::splatConstant(c))
        return additiveMask(x, factor * *constant);
  if (auto select = bias.getDefiningOp<tw::SelectOp>()) {
    std::optional<double> a = tw::splatConstant(select.getOnTrue()), b = tw::splatConstant(select.getOnFalse());
    if (!a || !b || !((*a == 0 && hides(*b)) || (*b == 0 && hides(*a))))
      return std::nullopt;
    const bool visible = *a == 0;
    return AdditiveMask{select.getCondition(), visible, (visible ? *b : *a) * factor,
                        bandOf(select.getCondition(), visible)};
  }
  // (1 - visible) * fill, hidden * fill
  Value number = bias;
  bool visible = false;
  if (auto sub = bias.getDefiningOp<tw::SubOp>(); sub && tw::splatConstant(sub.getLhs()) == 1.0)
    number = withoutLeadingBroadcast(sub.getRhs()), visible = true;
  if (auto cast = number.getDefiningOp<tw::CastOp>();
      cast && typeOf(cast.getInput()).getElementType().isInteger(1) && hides(1))
    return AdditiveMask{cast.getInput(), visible, factor, bandOf(cast.getInput(), visible)};
  if (auto matrix = constantMatrix(bias)) {
    double fill = 0;
    for (double x : matrix->at) {
      if (x != 0 && fill == 0)
        fill = x;
      if (x != 0 && x != fill)
        return std::nullopt;
    }
    if (fill == 0 || !hides(fill))
      return std::nullopt;
    auto band = bandOfMatrix(*matrix, [](double x) { return x == 0; });
    return band ? std::optional(AdditiveMask{{}, true, fill * factor, band}) : std::nullopt;
  }
  return std::nullopt;
}

} // namespace tilewright::multi_head_attention
