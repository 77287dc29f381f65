// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/reference/ScalarRegion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace tilewright::reference {

template <typename Real> ScalarRegion<Real>::ScalarRegion(Region &region) {
  llvm::DenseMap<mlir::Value, unsigned> slot;
  auto add = [&](mlir::Value value, Number number = {}) {
    slot[value] = initial.size();
    initial.push_back(number);
  };
  Block &block = region.front();
  for (BlockArgument argument : block.getArguments())
    add(argument);
  for (Operation &op : block.without_terminator()) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      Number number;
      if (auto real = dyn_cast<FloatAttr>(constant.getValue()))
        number.real = static_cast<Real>(real.getValueAsDouble());
      else
        number.integer = cast<IntegerAttr>(constant.getValue()).getValue().getSExtValue() &
                         (op.getResult(0).getType().isInteger(1) ? 1 : -1);
      add(op.getResult(0), number);
      continue;
    }
    Step step{&op, {}, static_cast<unsigned>(initial.size())};
    for (auto [i, operand] : llvm::enumerate(op.getOperands()))
      step.operands[i] = slot.at(operand);
    add(op.getResult(0));
    steps.push_back(step);
  }
  yielded = slot.at(block.getTerminator()->getOperand(0));
}

template <typename Real> Real ScalarRegion<Real>::run(ArrayRef<Number> arguments) const {
  std::vector<Number> slots = initial;
  llvm::copy(arguments, slots.begin());
  for (const Step &step : steps)
    compute(step, slots);
  return slots[yielded].real;
}

/// NaN beside a number: `minimumf` and `maximumf` give NaN, `minnumf` and `maxnumf` the number.
template <typename Real> static Real extreme(Real a, Real b, bool largest, bool keepsNan) {
  if (keepsNan && (std::isnan(a) || std::isnan(b)))
    return std::numeric_limits<Real>::quiet_NaN();
  return largest ? std::fmax(a, b) : std::fmin(a, b);
}

template <typename Real> static bool compareReals(arith::CmpFPredicate predicate, Real a, Real b) {
  using P = arith::CmpFPredicate;
  bool unordered = std::isnan(a) || std::isnan(b);
  switch (predicate) {
  case P::AlwaysFalse:
    return false;
  case P::AlwaysTrue:
    return true;
  case P::OEQ:
    return a == b;
  case P::OGT:
    return a > b;
  case P::OGE:
    return a >= b;
  case P::OLT:
    return a < b;
  case P::OLE:
    return a <= b;
  case P::ONE:
    return !unordered && a != b;
  case P::ORD:
    return !unordered;
  case P::UEQ:
    return unordered || a == b;
  case P::UGT:
    return unordered || a > b;
  case P::UGE:
    return unordered || a >= b;
  case P::ULT:
    return unordered || a < b;
  case P::ULE:
    return unordered || a <= b;
  case P::UNE:
    return unordered || a != b;
  case P::UNO:
    return unordered;
  }
  llvm_unreachable("predicate");
}

template <typename Real> void ScalarRegion<Real>::compute(const Step &step, std::vector<Number> &slots) const {
  const Number a = slots[step.operands[0]], b = slots[step.operands[1]], c = slots[step.operands[2]];
  Number &out = slots[step.result];
  // Integers of 32 bits wrap; of one bit are 0 or 1.
  const bool isBool = step.op->getResult(0).getType().isInteger(1);
  auto integer = [&](int64_t value) { out.integer = isBool ? value & 1 : static_cast<int32_t>(value); };
  llvm::TypeSwitch<Operation *>(step.op)
      .Case([&](arith::AddFOp) { out.real = a.real + b.real; })
      .Case([&](arith::SubFOp) { out.real = a.real - b.real; })
      .Case([&](arith::MulFOp) { out.real = a.real * b.real; })
      .Case([&](arith::DivFOp) { out.real = a.real / b.real; })
      .Case([&](arith::NegFOp) { out.real = -a.real; })
      .Case([&](arith::MaximumFOp) { out.real = extreme(a.real, b.real, true, true); })
      .Case([&](arith::MinimumFOp) { out.real = extreme(a.real, b.real, false, true); })
      .Case([&](arith::MaxNumFOp) { out.real = extreme(a.real, b.real, true, false); })
      .Case([&](arith::MinNumFOp) { out.real = extreme(a.real, b.real, false, false); })
      .Case([&](arith::CmpFOp op) { integer(compareReals(op.getPredicate(), a.real, b.real)); })
      .Case([&](arith::CmpIOp op) {
        llvm::APInt x(32, static_cast<uint32_t>(a.integer)), y(32, static_cast<uint32_t>(b.integer));
        integer(arith::applyCmpPredicate(op.getPredicate(), x, y));
      })
      .Case([&](arith::SelectOp) { out = a.integer ? b : c; })
      .Case([&](arith::AddIOp) { integer(a.integer + b.integer); })
      .Case([&](arith::SubIOp) { integer(a.integer - b.integer); })
      .Case([&](arith::MulIOp) { integer(a.integer * b.integer); })
      .Case([&](arith::DivSIOp) { integer(a.integer / b.integer); })
      .Case([&](arith::RemSIOp) { integer(a.integer % b.integer); })
      .Case([&](arith::MaxSIOp) { integer(std::max(a.integer, b.integer)); })
      .Case([&](arith::MinSIOp) { integer(std::min(a.integer, b.integer)); })
      .Case([&](arith::AndIOp) { integer(a.integer & b.integer); })
      .Case([&](arith::OrIOp) { integer(a.integer | b.integer); })
      .Case([&](arith::XOrIOp) { integer(a.integer ^ b.integer); })
      .Case([&](arith::ExtUIOp) { integer(a.integer); })
      .Case([&](arith::SIToFPOp op) {
        out.real = op.getIn().getType().isInteger(1) ? static_cast<Real>(-a.integer) : static_cast<Real>(a.integer);
      })
      .Case([&](math::AbsFOp) { out.real = std::fabs(a.real); })
      .Case([&](math::ExpOp) { out.real = std::exp(a.real); })
      .Case([&](math::Exp2Op) { out.real = std::exp2(a.real); })
      .Case([&](math::LogOp) { out.real = std::log(a.real); })
      .Case([&](math::TanhOp) { out.real = std::tanh(a.real); })
      .Case([&](math::SinOp) { out.real = std::sin(a.real); })
      .Case([&](math::CosOp) { out.real = std::cos(a.real); })
      .Case([&](math::SqrtOp) { out.real = std::sqrt(a.real); })
      .Case([&](math::ErfOp) { out.real = std::erf(a.real); })
      .Case([&](math::FloorOp) { out.real = std::floor(a.real); });
}

template class ScalarRegion<float>;
template class ScalarRegion<double>;

} // namespace tilewright::reference
