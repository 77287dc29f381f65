// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two forms of one graph, interpreted in f64 and compared.
#pragma once

#include "tools/driver/ReferenceModel.h"

#include <optional>

namespace tilewright::driver {

/// The first element at which two results differ by more than is allowed.
struct Gap {
  std::string place; ///< "layer 0, tw.add, element [3]"
  double before = 0, behind = 0;
  double largest = 0; ///< |difference|, over all elements
};

/// A form of the session's graph run over a prompt in one step.
class Interpretation {
public:
  static llvm::Expected<Interpretation> of(Session &session, mlir::ModuleOp module, llvm::ArrayRef<int32_t> ids);

  /// Where `behind` is off by more than `tolerance` of the largest |logit|; NaN and a size that differs are, too.
  std::optional<Gap> gapTo(const Interpretation &behind, double tolerance) const;
  /// Largest |difference| of logits.
  double distanceTo(const Interpretation &behind) const;

private:
  std::vector<double> logits;
  int64_t vocab = 0;
};

/// The first value of `behind`, in the order in which it runs, that is not what the value of the same tag
/// (ir/interfaces/ValueTags.h) is in `before`; none where all that have a tag agree.
llvm::Expected<std::optional<Gap>> firstDifferentValue(Session &session, mlir::ModuleOp before, mlir::ModuleOp behind,
                                                       llvm::ArrayRef<int32_t> ids, double tolerance);

} // namespace tilewright::driver
