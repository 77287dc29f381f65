// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Growing sequences in pages, as the runtime has them, and the tables of a step over them.
#pragma once

#include "ir/interfaces/KernelBuilder.h"
#include "runtime/exec/StepPlan.h"

#include <optional>
#include <vector>

namespace tilewright {

/// Which pages each sequence has. A sequence's pages are neither neighbours nor in order.
class StatePages {
public:
  explicit StatePages(int64_t count);

  /// Sequence b gets `added[b]` rows more; the tables are of tokens 0, none of whose logits is wanted. Nothing when
  /// there are too few pages for it.
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
