// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Drafts from the text itself: what followed the last tokens when they stood there before.
// Source: Saxena, "Prompt Lookup Decoding" (2023, github.com/apoorvumang/prompt-lookup-decoding).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tilewright::speculative_decoding {

/// The part of `history` to draft, at most `capacity` tokens: what follows the latest of the longest earlier
/// occurrences of its last tokens, of which at most `longest` are compared. Empty when the last token is a new one.
std::span<const int32_t> lookUp(std::span<const int32_t> history, size_t capacity, size_t longest = 3);

} // namespace tilewright::speculative_decoding
