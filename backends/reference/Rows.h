// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of weights and tables, one at a time.
#pragma once

#include "backends/reference/Ops.h"

namespace tilewright::reference {

/// Rows of a table that is a weight (decoded as they are asked for) or an array, or of many tables one after another:
/// `count` is that of each.
template <typename Real> class Rows {
public:
  explicit Rows(const Value<Real> &table, int64_t batchDims = 0) : table(table) {
    llvm::ArrayRef<int64_t> shape = table.weight ? table.weight->shape() : llvm::ArrayRef<int64_t>(table.array->shape);
    count = shape[batchDims];
    columns = elementCount(shape.drop_front(batchDims + 1));
  }
  void read(int64_t row, std::vector<float> &scratch, Real *out) const {
    if (!table.weight) {
      std::copy_n(table.array->reals.begin() + row * columns, columns, out);
      return;
    }
    scratch.resize(columns);
    table.weight->decodeWithinRow(row * columns, columns, scratch.data());
    std::copy_n(scratch.begin(), columns, out);
  }

  int64_t count, columns;

private:
  const Value<Real> &table;
};

} // namespace tilewright::reference
