// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bits of registers as numbers.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace tilewright::ptx {

template <typename T> T fromBits(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}
template <typename T> uint64_t toBits(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

inline float fromHalf(uint16_t bits) {
  int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  float value = exponent == 31  ? (mantissa ? NAN : INFINITY)
                : exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -24)
                                : std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
  return bits & 0x8000 ? -value : value;
}

/// Rounds to nearest even.
inline uint16_t toHalf(float value) {
  uint32_t bits = static_cast<uint32_t>(toBits(value));
  uint16_t sign = bits >> 16 & 0x8000;
  float size = std::fabs(value);
  if (std::isnan(value))
    return 0x7fff;
  if (size >= 65520.0f)
    return sign | 0x7c00;
  int exponent;
  std::frexp(size, &exponent);
  int shift = exponent < -13 ? 24 : 11 - exponent; // of the last bit
  long mantissa = std::lrint(std::ldexp(static_cast<double>(size), shift));
  if (exponent < -13)
    return sign | static_cast<uint16_t>(mantissa);
  return sign | static_cast<uint16_t>(((exponent + 14) << 10) + (mantissa - 1024));
}

inline float fromBf16(uint16_t bits) { return fromBits<float>(static_cast<uint64_t>(bits) << 16); }

inline uint16_t toBf16(float value) {
  uint32_t bits = static_cast<uint32_t>(toBits(value));
  if (std::isnan(value))
    return 0x7fff;
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// To nearest, ties away from zero, in 11 significant bits (cvt.rna.tf32.f32).
inline uint32_t toTf32(float value) {
  uint32_t bits = static_cast<uint32_t>(toBits(value));
  if (std::isnan(value))
    return 0x7fffffff;
  if (std::isinf(value))
    return bits;
  return (bits + 0x1000) & 0xffffe000;
}

} // namespace tilewright::ptx
