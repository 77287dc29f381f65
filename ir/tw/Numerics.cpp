// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/tw/Numerics.h"

#include "ir/tw/Tw.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tilewright {

static bool isNarrow(Operation *op) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  return type && type.getElementType().isFloat() && type.getElementTypeBitWidth() < 32;
}

NumericsBound attentionBound(RankedTensorType type, StringRef mode) {
  bool narrow = type.getElementTypeBitWidth() < 32;
  return {0.0, mode == "precise" && !narrow ? 1e-4 : 2e-2};
}

NumericsBound numericsBoundOf(Operation *op, StringRef mode) {
  if (auto contract = dyn_cast<NumericsContract>(op))
    return contract.getNumericsBound(mode);
  if (op->getNumResults() == 0)
    return {};
  const bool precise = mode == "precise";
  const double rounding = isNarrow(op) ? 1e-2 : 0.0; // 8 bits of bf16, and what is summed in it
  return llvm::TypeSwitch<Operation *, NumericsBound>(op)
      // Moves or makes values, as they are.
      .Case<tw::ReshapeOp, tw::TransposeOp, tw::SliceOp, tw::ConcatOp, tw::BroadcastOp, tw::GatherOp, tw::AppendOp,
            tw::ConstantOp, tw::IotaOp, tw::SelectOp, tw::TopkOp, tw::GroupRowsOp>([](auto) { return NumericsBound{}; })
      // Sums of products in f32. fast: activations of 8 bits with a scale for each piece of at most 32 elements, so
      // that an element is off by up to m / 254, m the largest of its piece, and by m / (254 sqrt(3)) in the mean
      // square. The vector of a result's activations x has |x| >= m in each piece (equality: one outlier beside zeros),
      // its errors e have |e| <= |x| sqrt(32) / (254 sqrt(3)) = 0.0129 |x|. Errors of results are sums w . e of many
      // independent roundings, hence near normal with a deviation of 0.0129 |w| |x| at most, where results w . x have
      // one of |w| |x| unless the weights cancel for all of them alike; the largest error and the largest result grow
      // in the same way with their number. Three deviations: 3.9 %. (Measured on a model of 135 million parameters: 2.6
      // %; with normal activations, whose m is 2.4 deviations, it is 1.6 %.)
      .Case<tw::LinearOp, tw::GroupedLinearOp, tw::BatchMatmulOp>(
          [&](auto) { return NumericsBound{0.0, rounding + (precise ? 1e-5 : 4e-2)}; })
      // Exponentials by a polynomial, sums tile by tile; fast may round probabilities and values to bf16.
      .Case([&](tw::AttentionOp) { return NumericsBound{0.0, rounding + (precise ? 1e-4 : 2e-2)}; })
      .Default([&](Operation *) { return NumericsBound{0.0, rounding + (precise ? 1e-5 : 1e-4)}; });
}

} // namespace tilewright
