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
      // Sums of products in f32; fast: activations of 8 bits, each within 1/254 of the largest of its 16 or 32. Where
      // most of a sum cancels that is up to 2.6 % of the largest result (measured on a model of 135 million
      // parameters).
      .Case<tw::LinearOp, tw::GroupedLinearOp, tw::BatchMatmulOp>(
          [&](auto) { return NumericsBound{0.0, rounding + (precise ? 1e-5 : 4e-2)}; })
      // Exponentials by a polynomial, sums tile by tile; fast may round probabilities and values to bf16.
      .Case([&](tw::AttentionOp) { return NumericsBound{0.0, rounding + (precise ? 1e-4 : 2e-2)}; })
      .Default([&](Operation *) { return NumericsBound{0.0, rounding + (precise ? 1e-5 : 1e-4)}; });
}

} // namespace tilewright
