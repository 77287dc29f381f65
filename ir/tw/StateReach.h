// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many of a sequence's last tokens are read of a state.
#pragma once

#include "ir/interfaces/StateReader.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Value.h"

namespace tilewright::tw {

/// StateReader::getStateReach of attention over a state, by tw.attention's attributes.
std::optional<int64_t> attentionReach(std::optional<int64_t> window, std::optional<int64_t> radius = std::nullopt,
                                      std::optional<int64_t> chunk = std::nullopt);

/// The largest reach among all ops that `state`, an argument of a function, gets to, through calls; nothing when one of
/// them may read any token.
std::optional<int64_t> stateReach(mlir::BlockArgument state);

/// Attaches StateReader to tw.attention and tw.append.
void attachStateReaders(mlir::MLIRContext &context);

} // namespace tilewright::tw
