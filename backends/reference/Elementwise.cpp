// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/reference/Ops.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace tilewright::reference {

std::string text(ArrayRef<int64_t> shape) {
  std::string out;
  for (auto [i, d] : llvm::enumerate(shape))
    out += (i ? "x" : "") + std::to_string(d);
  return out.empty() ? "scalar" : out;
}

namespace {

/// std::fmax drops NaN; these keep it.
template <typename Real> Real maximum(Real a, Real b) {
  return std::isnan(a) ? a : std::isnan(b) ? b : std::fmax(a, b);
}
template <typename Real> Real minimum(Real a, Real b) {
  return std::isnan(a) ? a : std::isnan(b) ? b : std::fmin(a, b);
}

template <typename Real> using Scalar = Real (*)(Real, Real);

/// The scalar function of a unary or binary float op, or null. Unary ones ignore the second argument.
template <typename Real> Scalar<Real> scalarFunction(Operation *op) {
  return llvm::TypeSwitch<Operation *, Scalar<Real>>(op)
      .Case([](tw::AddOp) -> Scalar<Real> { return [](Real a, Real b) -> Real { return a + b; }; })
      .Case([](tw::SubOp) -> Scalar<Real> { return [](Real a, Real b) -> Real { return a - b; }; })
      .Case([](tw::MulOp) -> Scalar<Real> { return [](Real a, Real b) -> Real { return a * b; }; })
      .Case([](tw::DivOp) -> Scalar<Real> { return [](Real a, Real b) -> Real { return a / b; }; })
      .Case([](tw::MaximumOp) -> Scalar<Real> { return maximum<Real>; })
      .Case([](tw::MinimumOp) -> Scalar<Real> { return minimum<Real>; })
      .Case([](tw::NegOp) -> Scalar<Real> { return [](Real x, Real) -> Real { return -x; }; })
      .Case([](tw::AbsOp) -> Scalar<Real> { return [](Real x, Real) -> Real { return std::fabs(x); }; })
      .Case([](tw::ExpOp) -> Scalar<Real> { return [](Real x, Real) -> Real { return std::exp(x); }; })
      .Case([](tw::LogOp) -> Scalar<Real> { return [](Real x, Real) -> Real { return std::log(x); }; })
      .Case([](tw::SqrtOp) -> Scalar<Real> { return [](Real x, Real) -> Real { return std::sqrt(x); }; })
      .Case([](tw::RsqrtOp) -> Scalar<Real> { return [](Real x, Real) -> Real { return 1 / std::sqrt(x); }; })
      .Case([](tw::TanhOp) -> Scalar<Real> { return [](Real x, Real) -> Real { return std::tanh(x); }; })
      .Case([](tw::ErfOp) -> Scalar<Real> { return [](Real x, Real) -> Real { return std::erf(x); }; })
      .Case([](tw::SinOp) -> Scalar<Real> { return [](Real x, Real) -> Real { return std::sin(x); }; })
      .Case([](tw::CosOp) -> Scalar<Real> { return [](Real x, Real) -> Real { return std::cos(x); }; })
      .Case([](tw::SigmoidOp) -> Scalar<Real> { return [](Real x, Real) -> Real { return 1 / (1 + std::exp(-x)); }; })
      .Default([](Operation *) -> Scalar<Real> { return nullptr; });
}

template <typename T> bool compare(StringRef kind, T a, T b) {
  return llvm::StringSwitch<bool>(kind)
      .Case("eq", a == b)
      .Case("ne", a != b)
      .Case("lt", a < b)
      .Case("le", a <= b)
      .Case("gt", a > b)
      .Default(a >= b);
}

/// Truncates towards zero and saturates; NaN gives 0.
int64_t toInteger(double x, unsigned width) {
  if (std::isnan(x))
    return 0;
  if (width == 1)
    return x != 0;
  double bound = std::ldexp(1.0, width - 1);
  if (x >= bound)
    return llvm::maxIntN(width);
  return x < -bound ? llvm::minIntN(width) : static_cast<int64_t>(x);
}

int64_t saturate(int64_t x, unsigned width) {
  if (width == 1)
    return x != 0;
  return std::clamp(x, llvm::minIntN(width), llvm::maxIntN(width));
}

template <typename Real> Array<Real> cast(const Array<Real> &input, Type to) {
  if (isa<FloatType>(to)) {
    Array<Real> y = Array<Real>::floats(input.shape);
    for (int64_t i = 0; i < y.size(); ++i)
      y.reals[i] = input.isFloat ? input.reals[i] : static_cast<Real>(input.integers[i]);
    return y;
  }
  unsigned width = llvm::cast<IntegerType>(to).getWidth();
  Array<Real> y = Array<Real>::ints(input.shape);
  for (int64_t i = 0; i < y.size(); ++i)
    y.integers[i] = input.isFloat ? toInteger(input.reals[i], width) : saturate(input.integers[i], width);
  return y;
}

template <typename Real> Array<Real> select(const Array<Real> &condition, const Array<Real> &a, const Array<Real> &b) {
  Array<Real> y = a;
  for (int64_t i = 0; i < y.size(); ++i) {
    if (condition.integers[i])
      continue;
    if (y.isFloat)
      y.reals[i] = b.reals[i];
    else
      y.integers[i] = b.integers[i];
  }
  return y;
}

} // namespace

template <typename Real> FailureOr<Array<Real>> arrayOf(Operation *op, ElementsAttr attr) {
  auto dense = dyn_cast<DenseElementsAttr>(attr);
  auto type = attr.getShapedType();
  if (!dense || !type.getElementType().isIntOrFloat())
    return op->emitOpError("has elements of type ") << type << ", which the interpreter cannot read";
  if (isa<FloatType>(type.getElementType())) {
    Array<Real> y = Array<Real>::floats(type.getShape());
    for (auto [i, v] : llvm::enumerate(dense.getValues<APFloat>())) {
      APFloat wide = v;
      bool lost;
      wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
      y.reals[i] = wide.convertToDouble();
    }
    return y;
  }
  Array<Real> y = Array<Real>::ints(type.getShape());
  for (auto [i, v] : llvm::enumerate(dense.getValues<APInt>()))
    y.integers[i] = v.getBitWidth() == 1 ? v.getZExtValue() : v.getSExtValue();
  return y;
}

template <typename Real> void roundToType(Array<Real> &array, Type element) {
  auto type = dyn_cast<FloatType>(element);
  if (!array.isFloat || !type || type.getWidth() >= 32)
    return;
  for (Real &x : array.reals) {
    APFloat v(static_cast<double>(x));
    bool lost;
    v.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
    v.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
    x = v.convertToDouble();
  }
}

template <typename Real> FailureOr<Array<Real>> evaluateElementwise(Operation *op, ArrayRef<ArrayPtr<Real>> in) {
  for (auto [i, operand] : llvm::enumerate(in))
    if (operand->shape != in.front()->shape)
      return op->emitOpError("operand ") << i << " has shape " << text(operand->shape) << " at run time, wanted "
                                         << text(in.front()->shape);
  if (auto comparison = dyn_cast<tw::CompareOp>(op)) {
    Array<Real> y = Array<Real>::ints(in[0]->shape);
    for (int64_t i = 0; i < y.size(); ++i)
      y.integers[i] = in[0]->isFloat ? compare(comparison.getKind(), in[0]->reals[i], in[1]->reals[i])
                                     : compare(comparison.getKind(), in[0]->integers[i], in[1]->integers[i]);
    return y;
  }
  if (isa<tw::SelectOp>(op))
    return select(*in[0], *in[1], *in[2]);
  if (auto conversion = dyn_cast<tw::CastOp>(op))
    return cast(*in[0], conversion.getType().getElementType());
  Scalar<Real> function = scalarFunction<Real>(op);
  if (!function)
    return op->emitOpError("has no meaning in the interpreter");
  Array<Real> y = Array<Real>::floats(in[0]->shape);
  for (int64_t i = 0; i < y.size(); ++i)
    y.reals[i] = function(in[0]->reals[i], in.back()->reals[i]);
  return y;
}

template FailureOr<Array<float>> arrayOf(Operation *, ElementsAttr);
template FailureOr<Array<double>> arrayOf(Operation *, ElementsAttr);
template void roundToType(Array<float> &, Type);
template void roundToType(Array<double> &, Type);
template FailureOr<Array<float>> evaluateElementwise(Operation *, ArrayRef<ArrayPtr<float>>);
template FailureOr<Array<double>> evaluateElementwise(Operation *, ArrayRef<ArrayPtr<double>>);

} // namespace tilewright::reference
