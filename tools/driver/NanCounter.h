// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many numbers of a model's weights are NaN.
#pragma once

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Types.h"

#include <string>
#include <vector>

namespace tilewright::driver {

/// A model with such numbers is compiled, for a part that is never reached may hold them; its user is told once.
class NanCounter {
public:
  explicit NanCounter(mlir::MLIRContext &context) : context(context) {}

  /// Counts weight `name`, whose `bytes` are elements of `type` in their file's form: whole blocks of a storage type,
  /// or floats.
  void look(llvm::StringRef name, mlir::Type type, llvm::ArrayRef<uint8_t> bytes);

  /// One warning for all weights, if any held NaN, with the number in total and, as notes, by weight (the first ones).
  void warn(llvm::StringRef model) const;

private:
  struct Found {
    std::string name;
    int64_t count;
  };
  mlir::MLIRContext &context;
  std::vector<Found> found; ///< in the order of `look`
  int64_t weights = 0;
};

} // namespace tilewright::driver
