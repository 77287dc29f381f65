// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A run of stored elements as numbers.
#pragma once

#include "ir/interfaces/Interfaces.h"

#include <algorithm>

namespace tilewright {

/// Decodes the first `out.size()` elements of `bytes`, block by block. Of types whose elements stand alone the last
/// block need not be full, neither here nor in `bytes`; others end with a block.
inline void decodeBlocks(StorageType type, llvm::ArrayRef<uint8_t> bytes, llvm::MutableArrayRef<float> out) {
  const auto elements = static_cast<size_t>(type.getBlockElements()), size = static_cast<size_t>(type.getBlockBytes());
  for (; out.size() >= elements; out = out.drop_front(elements), bytes = bytes.drop_front(size))
    type.decodeBlock(bytes.data(), out.data());
  if (out.empty())
    return;
  llvm::SmallVector<uint8_t> padded(size);
  llvm::SmallVector<float> decoded(elements);
  llvm::copy(bytes.take_front(size), padded.begin());
  type.decodeBlock(padded.data(), decoded.data());
  std::copy_n(decoded.begin(), out.size(), out.begin());
}

} // namespace tilewright
