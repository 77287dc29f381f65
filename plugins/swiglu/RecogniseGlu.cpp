// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/swiglu/Swiglu.h"

#include "ir/tw/Build.h"
#include "passes/api/Receipts.h"

#include <cmath>
#include <numbers>

namespace tilewright::swiglu {

using namespace mlir;

namespace {
constexpr llvm::StringLiteral passFlag = "swiglu-recognise-glu";
constexpr llvm::StringLiteral receiptKind = "feed_forward";

/// What a value turned out to be: an activation of `input`, or almost one, with the first condition that failed.
struct Activation {
  Value input;
  StringRef name;
  std::string fault;
  explicit operator bool() const { return static_cast<bool>(input); }
};

/// Constants of imported graphs are rounded to f32 or to a few decimals.
bool near(std::optional<double> found, double wanted) { return found && std::abs(*found - wanted) <= 1e-5 * wanted; }

std::string constantFault(StringRef what, std::optional<double> found, double wanted) {
  return (what + " is " + (found ? std::to_string(*found) : "not a constant") + ", wanted " + std::to_string(wanted))
      .str();
}

/// `value` as a product of some value and a constant.
std::pair<Value, std::optional<double>> factors(Value value) {
  if (auto mul = value.getDefiningOp<tw::MulOp>()) {
    if (auto constant = tw::splatConstant(mul.getRhs()))
      return {mul.getLhs(), constant};
    if (auto constant = tw::splatConstant(mul.getLhs()))
      return {mul.getRhs(), constant};
  }
  if (auto div = value.getDefiningOp<tw::DivOp>())
    if (auto constant = tw::splatConstant(div.getRhs()); constant && *constant != 0)
      return {div.getLhs(), 1 / *constant};
  return {value, std::nullopt};
}

/// The other summand, if `value` is one plus it.
Value onePlus(Value value) {
  auto add = value.getDefiningOp<tw::AddOp>();
  if (!add)
    return {};
  if (near(tw::splatConstant(add.getRhs()), 1))
    return add.getLhs();
  if (near(tw::splatConstant(add.getLhs()), 1))
    return add.getRhs();
  return {};
}

/// x from x * x * x, in either association.
Value cubeRoot(Value value) {
  auto outer = value.getDefiningOp<tw::MulOp>();
  if (!outer)
    return {};
  for (auto [square, x] : {std::pair(outer.getLhs(), outer.getRhs()), std::pair(outer.getRhs(), outer.getLhs())})
    if (auto inner = square.getDefiningOp<tw::MulOp>(); inner && inner.getLhs() == x && inner.getRhs() == x)
      return x;
  return {};
}

/// Flattens a tree of products: its factors that are no constants, and the product of its constants.
void flatten(Value value, SmallVectorImpl<Value> &values, double &constant, int depth = 0) {
  if (auto found = tw::splatConstant(value)) {
    constant *= *found;
    return;
  }
  if (auto mul = value.getDefiningOp<tw::MulOp>(); mul && depth < 3) {
    flatten(mul.getLhs(), values, constant, depth + 1);
    flatten(mul.getRhs(), values, constant, depth + 1);
    return;
  }
  if (auto div = value.getDefiningOp<tw::DivOp>(); div && depth < 3)
    if (auto divisor = tw::splatConstant(div.getRhs()); divisor && *divisor != 0) {
      constant /= *divisor;
      flatten(div.getLhs(), values, constant, depth + 1);
      return;
    }
  values.push_back(value);
}

/// x/2 (1 + erf(x / sqrt 2)) or x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), in any order of the products.
Activation matchGelu(tw::MulOp mul) {
  SmallVector<Value> parts;
  double half = 1;
  flatten(mul, parts, half);
  if (parts.size() != 2)
    return {};
  for (auto [x, sum] : {std::pair(parts[0], parts[1]), std::pair(parts[1], parts[0])}) {
    Value inside = onePlus(sum);
    if (!inside)
      continue;
    if (auto erf = inside.getDefiningOp<tw::ErfOp>()) {
      auto [input, scale] = factors(erf.getInput());
      if (input != x)
        continue;
      if (!near(scale, std::numbers::sqrt2 / 2))
        return {x, "gelu", constantFault("the factor inside erf", scale, std::numbers::sqrt2 / 2)};
      if (!near(half, 0.5))
        return {x, "gelu", constantFault("the factor of gelu", half, 0.5)};
      return {x, "gelu", ""};
    }
    if (auto tanh = inside.getDefiningOp<tw::TanhOp>()) {
      auto [polynomial, scale] = factors(tanh.getInput());
      auto add = polynomial.getDefiningOp<tw::AddOp>();
      if (!add || (add.getLhs() != x && add.getRhs() != x))
        continue;
      auto [cube, coefficient] = factors(add.getLhs() == x ? add.getRhs() : add.getLhs());
      if (cubeRoot(cube) != x)
        return {x, "gelu_tanh", "the polynomial inside tanh has no cube of the same value"};
      if (!near(scale, std::sqrt(2 / std::numbers::pi)))
        return {x, "gelu_tanh", constantFault("the factor inside tanh", scale, std::sqrt(2 / std::numbers::pi))};
      if (!near(coefficient, 0.044715))
        return {x, "gelu_tanh", constantFault("the cube's factor", coefficient, 0.044715)};
      if (!near(half, 0.5))
        return {x, "gelu_tanh", constantFault("the factor of gelu", half, 0.5)};
      return {x, "gelu_tanh", ""};
    }
  }
  return {};
}

Activation matchActivation(Value value) {
  if (auto sigmoid = value.getDefiningOp<tw::SigmoidOp>())
    return {sigmoid.getInput(), "sigmoid", ""};
  if (auto maximum = value.getDefiningOp<tw::MaximumOp>()) {
    for (auto [x, bound] :
         {std::pair(maximum.getLhs(), maximum.getRhs()), std::pair(maximum.getRhs(), maximum.getLhs())})
      if (auto constant = tw::splatConstant(bound)) {
        if (*constant != 0)
          return {x, "relu", constantFault("the bound of relu", constant, 0)};
        return {x, "relu", ""};
      }
    return {};
  }
  auto mul = value.getDefiningOp<tw::MulOp>();
  if (!mul)
    return {};
  for (auto [x, gate] : {std::pair(mul.getLhs(), mul.getRhs()), std::pair(mul.getRhs(), mul.getLhs())})
    if (auto sigmoid = gate.getDefiningOp<tw::SigmoidOp>(); sigmoid && sigmoid.getInput() == x)
      return {x, "silu", ""};
  return matchGelu(mul);
}

/// Whether `mul` is itself (part of) an activation, and so no product of one with an up projection.
bool isOwnActivation(tw::MulOp mul) {
  for (auto [x, gate] : {std::pair(mul.getLhs(), mul.getRhs()), std::pair(mul.getRhs(), mul.getLhs())}) {
    if (Activation activation = matchActivation(gate); activation && activation.input == x)
      return true;
    if (tw::splatConstant(gate) || onePlus(gate))
      return true;
  }
  return false;
}

class RecogniseGlu : public PassWrapper<RecogniseGlu, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RecogniseGlu)

  StringRef getArgument() const final { return passFlag; }
  StringRef getDescription() const final { return "Raises act(x) * u written in tw ops to swiglu.glu"; }
  void getDependentDialects(DialectRegistry &registry) const final { registry.insert<SwigluDialect>(); }

  void runOnOperation() final {
    // The last product of a chain is looked at first, so that an activation's own products are gone when they are met.
    SmallVector<tw::MulOp> products;
    getOperation()->walk([&](tw::MulOp mul) { products.push_back(mul); });
    llvm::DenseSet<Operation *> gone;
    for (tw::MulOp mul : llvm::reverse(products))
      if (!gone.contains(mul))
        raise(mul, gone);
  }

private:
  void raise(tw::MulOp mul, llvm::DenseSet<Operation *> &gone) {
    if (isOwnActivation(mul))
      return;
    Activation best;
    Value up;
    for (auto [gate, other] : {std::pair(mul.getLhs(), mul.getRhs()), std::pair(mul.getRhs(), mul.getLhs())}) {
      Activation activation = matchActivation(gate);
      // silu, gelu and relu say more than a bare sigmoid on the other side.
      if (activation && (!best || best.name == "sigmoid"))
        best = activation, up = other;
    }
    if (!best)
      return;
    if (!best.fault.empty()) {
      receipt::missed(mul, passFlag, receiptKind, best.name + ": " + best.fault,
                      "write the activation with its exact constants, or build swiglu.glu itself");
      return;
    }
    if (best.input.getType() != mul.getType()) {
      receipt::missed(mul, passFlag, receiptKind, best.name + ": the gate has another type than the product",
                      "compute gate and up projection in one element type");
      return;
    }
    receipt::done(mul, passFlag, receiptKind, "raised to swiglu.glu with activation " + best.name);
    OpBuilder builder(mul);
    auto glu = GluOp::create(builder, mul.getLoc(), best.input, up, builder.getStringAttr(best.name),
                             builder.getF64FloatAttr(1), FloatAttr(), builder.getF64FloatAttr(0));
    mul.getResult().replaceAllUsesWith(glu.getResult());
    auto erased = tw::eraseDead(mul);
    gone.insert(erased.begin(), erased.end());
  }
};
} // namespace

std::unique_ptr<Pass> createRecogniseGlu() { return std::make_unique<RecogniseGlu>(); }

} // namespace tilewright::swiglu
