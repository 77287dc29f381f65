// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions between types (cvt).
#include "tests/ptx/Machine.h"
#include "tests/ptx/Values.h"

#include <limits>

namespace tilewright::ptx {

namespace {

bool isFloat(Type type) { return type == Type::F32 || type == Type::F64 || type == Type::F16 || type == Type::Bf16; }

double floatOf(Type type, uint64_t bits) {
  switch (type) {
  case Type::F64:
    return fromBits<double>(bits);
  case Type::F32:
    return fromBits<float>(bits);
  case Type::F16:
    return fromHalf(static_cast<uint16_t>(bits));
  default:
    return fromBf16(static_cast<uint16_t>(bits));
  }
}

/// The integer that the low bits of a register hold, as 128 bits.
__int128 integerOf(Type type, uint64_t bits) {
  switch (type) {
  case Type::S8:
    return static_cast<int8_t>(bits);
  case Type::S16:
    return static_cast<int16_t>(bits);
  case Type::S32:
    return static_cast<int32_t>(bits);
  case Type::S64:
    return static_cast<int64_t>(bits);
  default:
    return bytesOf(type) == 8 ? bits : bits & ((uint64_t(1) << 8 * bytesOf(type)) - 1);
  }
}

bool isSigned(Type type) { return type == Type::S8 || type == Type::S16 || type == Type::S32 || type == Type::S64; }

/// Bits of an integer result, cut to its type and then extended to a register as the type says.
uint64_t integerBits(Type type, __int128 value) {
  int width = 8 * bytesOf(type);
  uint64_t bits = static_cast<uint64_t>(value);
  if (width == 64)
    return bits;
  bits &= (uint64_t(1) << width) - 1;
  return isSigned(type) ? static_cast<uint64_t>(static_cast<int64_t>(bits << (64 - width)) >> (64 - width)) : bits;
}

double rounded(const Instruction &instruction, double value) {
  if (instruction.has("rzi"))
    return std::trunc(value);
  if (instruction.has("rmi"))
    return std::floor(value);
  if (instruction.has("rpi"))
    return std::ceil(value);
  if (instruction.has("rni"))
    return std::nearbyint(value);
  return value;
}

/// Floats saturate in integers, NaN becomes 0 (PTX ISA, cvt).
uint64_t floatToInteger(Type type, double value) {
  int width = 8 * bytesOf(type);
  if (std::isnan(value))
    return 0;
  double low = isSigned(type) ? -std::ldexp(1.0, width - 1) : 0,
         high = std::ldexp(1.0, isSigned(type) ? width - 1 : width);
  if (value < low)
    return integerBits(type, static_cast<__int128>(low));
  if (value >= high)
    return integerBits(type, static_cast<__int128>(high) - 1);
  return integerBits(type, static_cast<__int128>(value));
}

uint64_t floatBits(Type type, double value) {
  switch (type) {
  case Type::F64:
    return toBits(value);
  case Type::F32:
    return toBits(static_cast<float>(value));
  case Type::F16:
    return toHalf(static_cast<float>(value));
  default:
    return toBf16(static_cast<float>(value));
  }
}

void convert(Warp &warp, const Instruction &instruction) {
  const Type from = instruction.type, to = instruction.otherType;
  const bool toTensorFloat = instruction.has("tf32");
  if (toTensorFloat ? !instruction.has("rna") || from != Type::F32 : to == Type::None || instruction.has("sat"))
    unsupported(instruction);
  warp.each([&](int lane) {
    uint64_t bits = warp.get(instruction.operands[1], lane), result;
    if (toTensorFloat)
      result = toTf32(fromBits<float>(bits));
    else if (to == Type::Bf16x2) // the second source is the low half
      result = static_cast<uint64_t>(toBf16(fromBits<float>(bits))) << 16 |
               toBf16(fromBits<float>(warp.get(instruction.operands[2], lane)));
    else if (isFloat(from) && isFloat(to))
      result = floatBits(to, rounded(instruction, floatOf(from, bits)));
    else if (isFloat(from))
      result = floatToInteger(to, rounded(instruction, floatOf(from, bits)));
    else if (isFloat(to))
      result = to == Type::F64 ? toBits(static_cast<double>(integerOf(from, bits)))
                               : floatBits(to, static_cast<float>(integerOf(from, bits)));
    else
      result = integerBits(to, integerOf(from, bits));
    warp.put(instruction.operands[0], lane, result);
  });
}

} // namespace

std::map<std::string, Handler> conversionHandlers() { return {{"cvt", convert}}; }

} // namespace tilewright::ptx
