// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Block formats as numbers: geometry, exact decoding, canonical packed layout. No MLIR here.
#pragma once

#include "runtime/api/layout.h"

#include <cstdint>

namespace tilewright::quantization {

enum class FormatKind { Q4_0, Q4_1, Q8_0, F16, BF16, Int8 };

/// One block format.
struct Format {
  FormatKind kind;
  const char *name;
  uint32_t blockElements;
  uint32_t blockBytes;
};

const Format &format(FormatKind kind);

/// Decodes one block of a file (blockBytes bytes) to blockElements values, in the f32 arithmetic of ggml's reference.
void decodeBlock(const Format &format, const uint8_t *bytes, float *out);

/// The canonical packed layout: 16 rows by 32 elements.
LayoutDescriptor packedLayout(const Format &format);

} // namespace tilewright::quantization
