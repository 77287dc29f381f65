// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rotary_embedding.factors: the kinds of scaling.
#include "plugins/rotary_embedding/Scaling.h"

#include "ir/tw/Build.h"
#include "plugins/rotary_embedding/RotaryEmbedding.h"

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
  bool byPosition = false;
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

/// e^x for f64 x of moderate size by products and sums alone, so that it is exact to 1e-11 wherever it is computed: a
/// power series of x / 2^10, squared ten times.
Value exponential(ImplicitLocOpBuilder &b, Value x) {
  Value one = tw::splat(b, 1.0, x), z = tw::MulOp::create(b, x, tw::splat(b, std::ldexp(1.0, -10), x)), sum = one;
  for (int term = 6; term > 0; --term)
    sum = tw::AddOp::create(b, one, tw::MulOp::create(b, sum, tw::MulOp::create(b, z, tw::splat(b, 1.0 / term, x))));
  for (int i = 0; i < 10; ++i)
    sum = tw::MulOp::create(b, sum, sum);
  return sum;
}

/// ln(x) as exact: the error of one that may be an f32's is divided out (Halley's step).
Value logarithm(ImplicitLocOpBuilder &b, Value x) {
  Value y = tw::LogOp::create(b, x), e = exponential(b, y);
  Value step = tw::DivOp::create(b, tw::SubOp::create(b, x, e), tw::AddOp::create(b, x, e));
  return tw::AddOp::create(b, y, tw::AddOp::create(b, step, step));
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
  if (kind->byPosition != static_cast<bool>(getPositions())) // (C3)
    return emitOpError("of kind '") << getKind() << (kind->byPosition ? "' needs" : "' takes no") << " positions";
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
  if (type.getShape() != ArrayRef<int64_t>{dim / 2} || type.getElementTypeBitWidth() < 32) // (C9)
    return emitOpError("wants a result of shape [") << dim / 2 << "] and type f64 or f32, found " << type;
  return success();
}

/// What the kinds without positions give: one number a pair.
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
  if (getPositions())
    return {};
  SmallVector<Attribute> values;
  auto element = cast<FloatType>(getType().getElementType());
  for (double factor : constantsOf(*this))
    values.push_back(FloatAttr::get(element, factor));
  return DenseElementsAttr::get(getType(), values);
}

FailureOr<SmallVector<Value>> FactorsOp::lowerToReference(OpBuilder &builder) {
  ImplicitLocOpBuilder b(getLoc(), builder);
  int64_t pairs = getRotaryDim() / 2;
  auto done = [&](Value factors) { return SmallVector<Value>{tw::castTo(b, factors, getType().getElementType())}; };
  if (!getPositions())
    return done(constant(b, constantsOf(*this)));
  bool isDynamic = getKind() == "dynamic";
  RankedTensorType type = getPositions().getType();
  // Of no row at all the choice does not matter.
  if (llvm::is_contained(type.getShape(), 0))
    return done(constant(b, isDynamic ? ArrayRef<double>(SmallVector<double>(pairs, 1.0)) : *getShortFactor()));
  Value largest = tw::castTo(b, getPositions(), b.getF64Type());
  largest = tw::reduce(b, "max", largest, llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()))); // []
  double original = double(*getOriginalMaxPositionEmbeddings());
  if (!isDynamic) {
    Value shortFactors = constant(b, *getShortFactor()), longFactors = constant(b, *getLongFactor()); // [r/2]
    Value last = tw::broadcast(b, largest, shortFactors, {});
    auto bits = cast<RankedTensorType>(last.getType()).clone(b.getI1Type());
    Value isLong = tw::CompareOp::create(b, bits, "ge", last, tw::splat(b, original, last));
    return done(tw::SelectOp::create(b, longFactors.getType(), isLong, longFactors, shortFactors));
  }
  double factor = getFactor()->convertToDouble();
  SmallVector<double> exponents(pairs);
  for (int64_t i = 1; i < pairs; ++i)
    exponents[i] = double(i) / double(pairs - 1);
  Value powers = constant(b, exponents); // [r/2]
  Value count = tw::AddOp::create(b, tw::broadcast(b, largest, powers, {}), tw::splat(b, 1.0, powers));
  count = tw::MaximumOp::create(b, count, tw::splat(b, original, count));
  Value stretch = tw::SubOp::create(b, tw::MulOp::create(b, count, tw::splat(b, factor / original, count)),
                                    tw::splat(b, factor - 1, count));
  return done(exponential(b, tw::MulOp::create(b, powers, logarithm(b, stretch))));
}

NumericsBound FactorsOp::getNumericsBound(StringRef) { return {0.0, getType().getElementType().isF64() ? 1e-9 : 1e-6}; }

} // namespace tilewright::rotary_embedding
