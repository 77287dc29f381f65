// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Growing sequences in pages, and the tables of a step over them, as the runtime makes both (runtime/api/abi.h).
#pragma once

#include "ir/interfaces/KernelBuilder.h"

#include <optional>
#include <vector>

namespace tilewright {

/// What kernels over states read of one step, beside its tensors.
struct StepTables {
  int64_t rows = 0, paddedRows = 0;
  std::vector<int32_t> tiles;    ///< [T, 8]
  std::vector<int32_t> pages;    ///< of all sequences
  std::vector<int32_t> rowSlots; ///< [paddedRows, 2]: page and slot, -1 for padding
};

/// Which pages each sequence has. A sequence's pages are neither neighbours nor in order.
class StatePages {
public:
  explicit StatePages(int64_t count);

  /// The class of a step of so many rows.
  static const ShapeClass &shapeClassOf(int64_t rows);
  /// Sequence b gets `added[b]` rows more. Nothing when there are too few pages for it.
  std::optional<StepTables> step(llvm::ArrayRef<int64_t> added, const ShapeClass &shapeClass);

private:
  struct Sequence {
    int64_t length = 0;
    std::vector<int32_t> pages;
  };
  std::vector<int32_t> free;
  std::vector<Sequence> sequences;
};

} // namespace tilewright
