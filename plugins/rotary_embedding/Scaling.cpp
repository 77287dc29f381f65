// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rotary_embedding.factors: the kinds of scaling.
#include "plugins/rotary_embedding/Scaling.h"

#include "ir/interfaces/TileBuilder.h"
#include "ir/tw/Build.h"
#include "ir/tw/Shapes.h"
#include "plugins/rotary_embedding/RotaryEmbedding.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace tilewright::rotary_embedding {

using namespace mlir;

namespace {

double yarnScale(double factor, double mscale) { return factor <= 1 ? 1.0 : 0.1 * mscale * std::log(factor) + 1.0; }

constexpr llvm::StringLiteral kOriginal = "original_max_position_embeddings";

struct Kind {
  StringRef name;
  SmallVector<StringRef> needs;
  SmallVector<StringRef> takes = {}; ///< besides
  bool byLength = false;
};

ArrayRef<Kind> kinds() {
  static const Kind all[] = {{"default", {}},
                             {"linear", {"factor"}},
                             {"dynamic", {"factor", kOriginal}, {}, true},
                             {"yarn", {"factor", kOriginal}, {"beta_fast", "beta_slow", "truncate"}},
                             {"longrope", {"short_factor", "long_factor", kOriginal}, {}, true},
                             {"llama3", {"factor", kOriginal, "low_freq_factor", "high_freq_factor"}}};
  return all;
}

double orElse(std::optional<APFloat> value, double fallback) { return value ? value->convertToDouble() : fallback; }

/// Arithmetic on f64 tensors of any shape.
struct TensorMath {
  ImplicitLocOpBuilder &b;
  Value number(double value, Value like) { return tw::splat(b, value, like); }
  Value add(Value x, Value y) { return tw::AddOp::create(b, x, y); }
  Value sub(Value x, Value y) { return tw::SubOp::create(b, x, y); }
  Value mul(Value x, Value y) { return tw::MulOp::create(b, x, y); }
  Value div(Value x, Value y) { return tw::DivOp::create(b, x, y); }
  Value max(Value x, Value y) { return tw::MaximumOp::create(b, x, y); }
  Value ln(Value x) { return tw::LogOp::create(b, x); }
};

/// The same on single numbers, in a kernel.
struct ScalarMath {
  TileBuilder &t;
  Value number(double value, Value) {
    return arith::ConstantOp::create(t.b, t.loc, t.b.getF64FloatAttr(value)).getResult();
  }
  Value add(Value x, Value y) { return t.add(x, y); }
  Value sub(Value x, Value y) { return t.sub(x, y); }
  Value mul(Value x, Value y) { return t.mul(x, y); }
  Value div(Value x, Value y) { return t.div(x, y); }
  Value max(Value x, Value y) { return t.select(t.compare(arith::CmpFPredicate::OGT, x, y), x, y); }
  Value ln(Value x) { return math::LogOp::create(t.b, t.loc, x); }
};

/// e^x for f64 x of moderate size by products and sums alone, so that it is exact to 1e-11 wherever it is computed: a
/// power series of x / 2^10, squared ten times.
template <typename Math> Value exponential(Math m, Value x) {
  Value one = m.number(1.0, x), z = m.mul(x, m.number(std::ldexp(1.0, -10), x)), sum = one;
  for (int term = 6; term > 0; --term)
    sum = m.add(one, m.mul(sum, m.mul(z, m.number(1.0 / term, x))));
  for (int i = 0; i < 10; ++i)
    sum = m.mul(sum, sum);
  return sum;
}

/// ln(x) as exact: the error of one that may be an f32's is divided out (Halley's step).
template <typename Math> Value logarithm(Math m, Value x) {
  Value y = m.ln(x), e = exponential(m, y);
  Value step = m.div(m.sub(x, e), m.add(x, e));
  return m.add(y, m.add(step, step));
}

/// Of kind `dynamic`: ln(s) of lengths.
template <typename Math> Value logOfStretch(Math m, FactorsOp op, Value length) {
  double factor = op.getFactor()->convertToDouble(), original = double(*op.getOriginalMaxPositionEmbeddings());
  Value longest = m.max(length, m.number(original, length));
  return logarithm(m, m.sub(m.mul(longest, m.number(factor / original, length)), m.number(factor - 1, length)));
}

/// 2i / (r - 2): the power of s that the factor of pair i is.
SmallVector<double> powersOfStretch(int64_t pairs) {
  SmallVector<double> powers(pairs);
  for (int64_t i = 1; i < pairs; ++i)
    powers[i] = double(i) / double(pairs - 1);
  return powers;
}

Value constant(ImplicitLocOpBuilder &b, ArrayRef<double> values) {
  auto type = RankedTensorType::get({int64_t(values.size())}, b.getF64Type());
  return tw::ConstantOp::create(b, type, DenseElementsAttr::get(type, values));
}

} // namespace

double yarnAttentionFactor(double factor, double mscale, double mscaleAllDim) {
  if (mscale == 0.0 || mscaleAllDim == 0.0)
    return yarnScale(factor, 1.0);
  return yarnScale(factor, mscale) / yarnScale(factor, mscaleAllDim);
}

double yarnScoreFactor(double factor, double mscaleAllDim) {
  double scale = yarnScale(factor, mscaleAllDim);
  return scale * scale;
}

double longropeAttentionFactor(double factor, double originalPositions) {
  return factor <= 1 ? 1.0 : std::sqrt(1.0 + std::log(factor) / std::log(originalPositions));
}

LogicalResult FactorsOp::verify() {
  const Kind *kind = llvm::find_if(kinds(), [&](const Kind &k) { return k.name == getKind(); });
  if (kind == kinds().end()) { // (C1)
    auto names = llvm::map_range(kinds(), [](const Kind &k) { return k.name; });
    return emitOpError("has the unknown scaling kind '") << getKind() << "', wanted one of " << llvm::join(names, ", ");
  }
  static constexpr llvm::StringLiteral own[] = {"factor",           kOriginal,      "low_freq_factor",
                                                "high_freq_factor", "beta_fast",    "beta_slow",
                                                "truncate",         "short_factor", "long_factor"};
  for (StringRef name : own) { // (C2)
    bool given = static_cast<bool>((*this)->getAttr(name)), needed = llvm::is_contained(kind->needs, name);
    if (needed && !given)
      return emitOpError("of kind '") << getKind() << "' lacks the attribute " << name;
    if (given && !needed && !llvm::is_contained(kind->takes, name))
      return emitOpError("of kind '") << getKind() << "' has the attribute " << name
                                      << ", which that kind does not know";
  }
  if (kind->byLength != static_cast<bool>(getLengths())) // (C3)
    return emitOpError("of kind '") << getKind() << (kind->byLength ? "' needs" : "' takes no") << " lengths";
  double base = getBase().convertToDouble();
  int64_t dim = getRotaryDim();
  if (dim < 2 || dim % 2 != 0) // (C4)
    return emitOpError("wants an even rotary_dim of at least 2, found ") << dim;
  if (!std::isfinite(base) || base <= 0 || (getKind() == "yarn" && base == 1)) // (C4)
    return emitOpError("wants a finite base above 0")
           << (getKind() == "yarn" ? " other than 1" : "") << ", found " << base;
  double factor = orElse(getFactor(), 1.0);
  if (!std::isfinite(factor) || factor < 1) // (C5)
    return emitOpError("wants a finite factor of at least 1, found ") << factor;
  if (getOriginalMaxPositionEmbeddings().value_or(1) < 1) // (C6)
    return emitOpError("wants ") << kOriginal << " of at least 1, found " << *getOriginalMaxPositionEmbeddings();
  for (auto [name, list] : {std::pair("short_factor", getShortFactor()), {"long_factor", getLongFactor()}}) { // (C7)
    if (!list)
      continue;
    if (int64_t(list->size()) != dim / 2)
      return emitOpError("has ") << list->size() << " numbers in " << name << ", wanted rotary_dim / 2 = " << dim / 2;
    for (double number : *list)
      if (!std::isfinite(number) || number <= 0)
        return emitOpError("has ") << number << " in " << name << ", wanted finite numbers above 0";
  }
  auto ordered = [&](StringRef lowName, double low, StringRef highName, double high) -> LogicalResult { // (C8)
    if (std::isfinite(low) && std::isfinite(high) && 0 < low && low < high)
      return success();
    return emitOpError("wants 0 < ") << lowName << " < " << highName << ", found " << low << " and " << high;
  };
  if (failed(ordered("low_freq_factor", orElse(getLowFreqFactor(), 1), "high_freq_factor",
                     orElse(getHighFreqFactor(), 4))) ||
      failed(ordered("beta_slow", orElse(getBetaSlow(), 1), "beta_fast", orElse(getBetaFast(), 32))))
    return failure();
  RankedTensorType type = getType();
  SmallVector<int64_t> wanted(getLengths() ? getLengths().getType().getShape() : ArrayRef<int64_t>());
  wanted.push_back(dim / 2);
  if (!tw::shapesAgree(type.getShape(), wanted) || type.getShape().back() != dim / 2 ||
      type.getElementTypeBitWidth() < 32) // (C9)
    return emitOpError("wants a result of shape [")
           << (getLengths() ? "lengths..., " : "") << dim / 2 << "] and type f64 or f32, found " << type;
  return success();
}

/// What the kinds without lengths give: one number a pair.
static SmallVector<double> constantsOf(FactorsOp op) {
  double base = op.getBase().convertToDouble(), factor = orElse(op.getFactor(), 1.0);
  double original = double(op.getOriginalMaxPositionEmbeddings().value_or(1));
  int64_t dim = op.getRotaryDim();
  SmallVector<double> factors(dim / 2, factor);
  if (op.getKind() == "yarn") {
    auto pairOfRotations = [&](double rotations) {
      return double(dim) * std::log(original / (rotations * 2 * std::numbers::pi)) / (2 * std::log(base));
    };
    double low = pairOfRotations(orElse(op.getBetaFast(), 32)), high = pairOfRotations(orElse(op.getBetaSlow(), 1));
    if (op.getTruncate().value_or(true)) {
      low = std::floor(low);
      high = std::ceil(high);
    }
    low = std::max(low, 0.0);
    high = std::min(high, double(dim - 1));
    double width = high == low ? 0.001 : high - low;
    for (auto [i, out] : llvm::enumerate(factors)) {
      double ramp = std::clamp((double(i) - low) / width, 0.0, 1.0);
      out = 1.0 / (ramp / factor + 1.0 - ramp);
    }
  } else if (op.getKind() == "llama3") {
    double low = op.getLowFreqFactor()->convertToDouble(), high = op.getHighFreqFactor()->convertToDouble();
    for (auto [out, rate] : llvm::zip_equal(factors, angleRates(base, dim))) {
      double wave = 2 * std::numbers::pi / rate, smooth = (original / wave - low) / (high - low);
      out = wave > original / low ? factor : wave < original / high ? 1.0 : 1.0 / ((1 - smooth) / factor + smooth);
    }
  }
  return factors;
}

OpFoldResult FactorsOp::fold(FoldAdaptor) {
  if (getLengths())
    return {};
  SmallVector<Attribute> values;
  auto element = cast<FloatType>(getType().getElementType());
  for (double factor : constantsOf(*this))
    values.push_back(FloatAttr::get(element, factor));
  return DenseElementsAttr::get(getType(), values);
}

FailureOr<SmallVector<Value>> FactorsOp::lowerToReference(OpBuilder &builder) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  auto done = [&](Value factors) { return SmallVector<Value>{tw::castTo(b, factors, getType().getElementType())}; };
  if (!getLengths())
    return done(constant(b, constantsOf(*this)));
  int64_t pairs = getRotaryDim() / 2;
  Value lengths = tw::castTo(b, getLengths(), b.getF64Type()); // [...]
  bool isSingle = tw::tensorType(lengths).getRank() == 0;
  auto atEach = [&](ArrayRef<double> row) { // [..., r/2]
    return isSingle ? constant(b, row) : tw::atPlaces(b, lengths, row, {pairs});
  };
  auto forEachPair = [&](Value value, Value like) { // [...] -> [..., r/2]
    return tw::broadcast(b, value, like, llvm::to_vector(llvm::seq<int64_t>(0, tw::tensorType(value).getRank())));
  };
  if (getKind() == "longrope") {
    Value shortFactors = atEach(*getShortFactor()), longFactors = atEach(*getLongFactor());
    Value length = forEachPair(lengths, shortFactors);
    Value limit = tw::splat(b, double(*getOriginalMaxPositionEmbeddings()), length);
    Value isLong = tw::CompareOp::create(b, tw::tensorType(length).clone(b.getI1Type()), "gt", length, limit);
    return done(tw::SelectOp::create(b, length.getType(), isLong, longFactors, shortFactors));
  }
  TensorMath m{b};
  Value powers = atEach(powersOfStretch(pairs));
  return done(exponential(m, m.mul(powers, forEachPair(logOfStretch(m, *this, lengths), powers))));
}

FailureOr<LoopMap> FactorsOp::getLoopMap() {
  int64_t rank = getType().getRank() - 1;
  if (rank == 0)
    return failure();
  LoopMap map;
  map.loops = rank;
  map.operands = {leadingLoops(rank, rank)};
  map.results = {leadingLoops(rank + 1, rank)};
  return map;
}

FailureOr<SmallVector<Value>> FactorsOp::lowerTile(OpBuilder &builder) {
  RankedTensorType type = getType();
  if (!type.hasStaticShape() || type.getRank() != 2)
    return emitOpError("has no kernel form for a tile of type ") << type << ", wanted [rows, pairs]";
  TileBuilder t(builder, getLoc());
  int64_t rows = type.getDimSize(0), pairs = type.getDimSize(1);
  Type f64 = t.b.getF64Type(), element = type.getElementType();
  AffineMap perRow = t.map(2, {t.d(0), t.zero()}), perPair = t.map(2, {t.d(1)}), all = t.map(2, {t.d(0), t.d(1)});
  auto table = [&](ArrayRef<double> values) -> Value {
    auto tableType = RankedTensorType::get({pairs}, f64);
    return arith::ConstantOp::create(t.b, t.loc, DenseElementsAttr::get(tableType, values));
  };
  auto finished = [&](TileBuilder &s, Value x) {
    return element == f64 ? x : arith::TruncFOp::create(s.b, s.loc, element, x).getResult();
  };
  Value lengths = t.reshape(getLengths(), {rows, 1}), out = t.alloc({rows, pairs}, element);
  if (getKind() == "longrope") {
    double limit = double(*getOriginalMaxPositionEmbeddings());
    Value chosen = t.generic({lengths, table(*getShortFactor()), table(*getLongFactor())}, out,
                             {perRow, perPair, perPair, all}, "pp", [&](TileBuilder &s, ValueRange a) {
                               Value length = arith::SIToFPOp::create(s.b, s.loc, f64, a[0]);
                               Value isLong =
                                   s.compare(arith::CmpFPredicate::OGT, length, ScalarMath{s}.number(limit, length));
                               return finished(s, s.select(isLong, a[2], a[1]));
                             });
    return SmallVector<Value>{chosen};
  }
  Value stretch = t.elementwise(lengths, t.alloc({rows, 1}, f64), [&](TileBuilder &s, ValueRange a) {
    return logOfStretch(ScalarMath{s}, *this, arith::SIToFPOp::create(s.b, s.loc, f64, a[0]));
  });
  Value grown = t.generic(
      {stretch, table(powersOfStretch(pairs))}, out, {perRow, perPair, all}, "pp",
      [&](TileBuilder &s, ValueRange a) { return finished(s, exponential(ScalarMath{s}, s.mul(a[0], a[1]))); });
  return SmallVector<Value>{grown};
}

NumericsBound FactorsOp::getNumericsBound(StringRef) { return {0.0, getType().getElementType().isF64() ? 1e-9 : 1e-6}; }

} // namespace tilewright::rotary_embedding
