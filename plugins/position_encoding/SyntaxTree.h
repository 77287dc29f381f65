// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Relations of tokens that a sentence's syntax tree gives.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <vector>

namespace tilewright::position_encoding {

/// The number of edges between any two of T tokens in the tree that `heads` describes, at most `clip`: [T, T],
/// row-major, the relation of position_encoding.relation_attention with tables of clip + 1 rows. heads[t] is the head
/// of token t, -1 that of a root. There may be several trees; tokens of two of them are `clip` apart. Errors name the
/// token: a head that is no token, one that comes back to itself; and a clip below 0.
llvm::Expected<std::vector<int32_t>> treeDistances(llvm::ArrayRef<int64_t> heads, int32_t clip);

} // namespace tilewright::position_encoding
