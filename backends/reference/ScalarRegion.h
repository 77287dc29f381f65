// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A region of scalar arith and math ops, as attention has for a user's own score.
#pragma once

#include "mlir/IR/Region.h"
#include "llvm/ADT/DenseMap.h"

#include <cstdint>
#include <vector>

namespace tilewright::reference {

/// The ops are those that tw.attention's verifier lets through. Floats are computed in `Real`, integers wrap at 32
/// bits.
template <typename Real> class ScalarRegion {
public:
  struct Number {
    Real real = 0;
    int64_t integer = 0;
  };

  /// `region` has one block that ends in tw.yield; it must outlive the object.
  explicit ScalarRegion(mlir::Region &region);

  /// The first yielded value, a float. May be called from several threads at once.
  Real run(llvm::ArrayRef<Number> arguments) const;

private:
  struct Step {
    mlir::Operation *op;
    unsigned operands[3], result;
  };
  void compute(const Step &step, std::vector<Number> &slots) const;

  std::vector<Step> steps;
  std::vector<Number> initial; ///< one for each value: constants are set
  unsigned yielded = 0;
};

} // namespace tilewright::reference
