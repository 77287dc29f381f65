// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How far the result of a fused group may be from the reference, given the reference's inputs.
#pragma once

#include "ir/interfaces/Interfaces.h"
#include "tools/driver/DispatchTrace.h"

#include <map>

namespace tilewright::driver {

/// A graph-level value at a fusion boundary, and what stands between it and the boundaries before it.
struct GroupResult {
  mlir::Value value;   ///< of the module before the tile stage
  NumericsBound bound; ///< the sum over the group's ops, of errors and of rounding to the value's type
  std::string ops;     ///< those that compute, in order: "rms_norm.norm + tw.linear"
};

/// The boundaries of one program: the tagged results of its dispatches. `graph` is the tagged module from which the
/// program was made.
std::map<ValueTag, GroupResult> groupResults(mlir::ModuleOp graph, const DispatchTrace &trace,
                                             llvm::StringRef numerics);

} // namespace tilewright::driver
