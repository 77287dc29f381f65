// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floats to blocks, bit for bit as the `gguf` package of Python does it (gguf-py/gguf/quants.py of
// github.com/ggml-org/llama.cpp). No MLIR here.
#pragma once

#include "plugins/quantization/Format.h"

#include <span>

namespace tilewright::quantization {

/// Whether rows of floats can be encoded: blocks of 32 elements of up to 8 bits, and int8.
bool canEncode(const Format &format);

/// Encodes a row of whole blocks of finite numbers. Returns what decoded elements are to be multiplied with: the scale
/// of the row for int8 (Channels.h), 1 for others. Scales beyond the largest f16 become infinite.
float encodeRow(const Format &format, std::span<const float> row, uint8_t *bytes);

/// binary32 to the nearest binary16, halves to even.
uint16_t toHalf(float value);

} // namespace tilewright::quantization
