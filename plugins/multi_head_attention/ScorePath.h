// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands between a softmax and the product of queries and keys in front of it.
#pragma once

#include "plugins/multi_head_attention/Masks.h"

#include "llvm/ADT/SmallVector.h"

#include <string>

namespace tilewright::multi_head_attention {

/// A condition on scores, or numbers added to them, in the shape that scores have where it joins them.
struct ScoreTerm {
  mlir::Value value;
  llvm::SmallVector<int64_t> lead; ///< dimensions of the scores in front of [T, S]
  bool visible = true;             ///< of a condition: keys are visible where it is this
  double factor = 1;               ///< of a bias
  std::optional<Band> band;        ///< of a condition
};

/// The scores of one softmax, taken apart.
struct ScorePath {
  mlir::Value query;                          ///< [..., T, D]
  mlir::Value key;                            ///< [..., S, D], or [..., D, S]
  bool keyTransposed = false;                 ///< the latter
  double scale = 1;                           ///< of all scores
  std::optional<double> softcap;              ///< c of c * tanh(score / c)
  llvm::SmallVector<ScoreTerm> masks, biases; ///< outside of the soft-cap
  llvm::SmallVector<llvm::SmallVector<int64_t>>
      leads;                 ///< all shapes in front of [T, S] that the scores take on the way
  bool finiteFill = false;   ///< a masked score is a finite number
  std::string fault, advice; ///< the first condition that failed, and what to change
};

/// Whether `op` is a reshape that keeps the last two dimensions.
bool keepsScores(mlir::Operation *op);

/// Whether a matrix product reaches `value` through what a score path may hold.
bool reachesProduct(mlir::Value value);

/// Walks from the softmax's input to the product of queries and keys. What is added to a whole row of scores cancels,
/// unless there are sinks.
ScorePath walkScores(mlir::Value scores, bool hasSinks);

/// `value` without what is added to, or taken from, whole rows (a row's maximum): the softmax over rows cancels it.
mlir::Value withoutRowConstants(mlir::Value value);

/// `value` without its constant factors, which `scale` is multiplied by; also those in front of layout ops, which are
/// then built anew on what is left.
mlir::Value withoutScale(mlir::Value value, double &scale);

} // namespace tilewright::multi_head_attention
