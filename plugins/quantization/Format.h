// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Block formats as numbers: geometry, exact decoding, canonical packed layout. No MLIR here.
#pragma once

#include "runtime/api/layout.h"

#include <cstdint>
#include <span>

namespace tilewright::quantization {

enum class FormatKind { Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, F16, BF16, Int8 };

/// One block format, and what its packed form is made of: for each step of 32 elements the low bits of the quants and
/// the bits above them, and the numbers that make weights of quants,
///   w = scale * (q - zeroPoint) [+ minimum, or - scale of minimums * minimum].
struct Format {
  FormatKind kind;
  const char *name;
  uint32_t blockElements;
  uint32_t blockBytes;
  uint32_t lowBits = 0;       ///< 2, 4 or 8; 0: the elements are floats
  uint32_t highBits = 0;      ///< 0, 1 or 2
  int32_t zeroPoint = 0;      ///< of the packed, unsigned quants
  bool hasScale = false;      ///< an f16 for each block
  bool hasMinimum = false;    ///< another one
  uint32_t scaleElements = 0; ///< elements that share an integer factor of the scale, one byte: 0 (none), 16 or 32
  int32_t scaleBias = 0;      ///< taken from that byte
  bool isScaleSigned = false; ///< that byte is a signed number
  /// Where the integer factor of the minimum stands: nowhere (the minimum is added as it is), in a byte of its own, or
  /// in the high half of the scale's byte, which has four bits for each.
  enum class Minimums { None, Bytes, HighHalf } minimums = Minimums::None;

  static constexpr uint32_t stepElements = 32; ///< elements of a row that kernels load at a time
  uint32_t steps() const { return blockElements > stepElements ? blockElements / stepElements : 1; }
};

const Format &format(FormatKind kind);

/// All of them.
std::span<const Format> allFormats();

/// Decodes one block of a file (blockBytes bytes) to blockElements values, in the f32 arithmetic of ggml's reference.
void decodeBlock(const Format &format, const uint8_t *bytes, float *out);

/// Fields of a packed layout: their numbers in it, -1 for those that the format does not have. All but the scale and
/// the minimum of the block are first divided by steps.
struct PackedFields {
  int low = -1, high = -1, scales = -1, minimums = -1, scale = -1, minimum = -1;
};

/// The canonical packed layout: 16 rows by a block, or by 32 elements where a block is smaller.
LayoutDescriptor packedLayout(const Format &format, PackedFields *fields = nullptr);

} // namespace tilewright::quantization
