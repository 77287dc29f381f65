// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which value of a graph a value of a later stage is: a number on the location of each op of the graph, which every
// rewrite keeps that gives its new op the location of the op it replaces.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Value.h"

#include <optional>

namespace tilewright {

/// Result `result` of the op with number `op`.
struct ValueTag {
  int64_t op = 0;
  unsigned result = 0;
  bool operator==(const ValueTag &) const = default;
  auto operator<=>(const ValueTag &) const = default;
};

/// Numbers every op below `module` that has results, from 0 on in the order of a walk.
void tagValues(mlir::ModuleOp module);

/// The number of the op whose location this is; none where there is no tag.
std::optional<int64_t> tagOf(mlir::Location location);

/// The tag of a value that an op made.
std::optional<ValueTag> tagOf(mlir::Value value);

/// A location without its tag.
mlir::Location withoutTag(mlir::Location location);

/// `location` for an op whose results stand for `values`, one by one: carries their tags, where there are any.
mlir::Location withTagsOf(mlir::Location location, mlir::ValueRange values);

/// What the results of an op stand for whose location withTagsOf made; by result.
llvm::SmallVector<std::optional<ValueTag>> resultTags(mlir::Operation *op);

} // namespace tilewright
