// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which keys a mask lets through, where that depends on the distance of key and query alone.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

#include <limits>
#include <optional>

namespace tilewright::multi_head_attention {

/// Scores at or below this hide their key: its weight is 0 in every float type.
inline constexpr double hiddenFill = -1e4;

/// The pairs of query i and key j with low <= j - i <= high.
struct Band {
  static constexpr int64_t unbounded = std::numeric_limits<int64_t>::max() / 4;
  int64_t low = -unbounded, high = unbounded;

  void intersect(const Band &other) {
    low = std::max(low, other.low);
    high = std::min(high, other.high);
  }
};

/// Where `condition` [..., T, S] (i1) is `wanted`, if that is a band, the same for all leading indices: comparisons of
/// indices (tw.iota), conjunctions of them, and constants, also behind reshapes, broadcasts, slices and transposes.
std::optional<Band> bandOf(mlir::Value condition, bool wanted);

/// A summand of scores that hides keys and does nothing else.
struct AdditiveMask {
  mlir::Value condition; ///< i1, of rank 2 or more; null for a constant
  bool visible = true;   ///< keys are visible where the condition is this
  double fill = 0;       ///< what the others' scores become
  std::optional<Band> band;
};

/// `bias` [..., T, S], multiplied by `factor`, as a mask: 0 where a key is visible, one number at or below `hiddenFill`
/// elsewhere. Nothing when it is a bias proper, or a constant that is no band (adding it is right).
std::optional<AdditiveMask> additiveMask(mlir::Value bias, double factor);

/// `value` without broadcasts along leading dimensions: attention repeats masks and biases itself.
mlir::Value withoutLeadingBroadcast(mlir::Value value);

} // namespace tilewright::multi_head_attention
