// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic, logic and comparisons.
#include "tests/ptx/Machine.h"
#include "tests/ptx/Values.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace tilewright::ptx {

namespace {

/// Calls `body` with a value of the type's C++ type.
template <typename Body> void asInteger(const Instruction &instruction, Body body) {
  switch (instruction.type) {
  case Type::S16:
    return body(int16_t());
  case Type::U16:
  case Type::B16:
    return body(uint16_t());
  case Type::S32:
    return body(int32_t());
  case Type::U32:
  case Type::B32:
    return body(uint32_t());
  case Type::S64:
    return body(int64_t());
  case Type::U64:
  case Type::B64:
    return body(uint64_t());
  default:
    unsupported(instruction);
  }
}

template <typename Body> void asNumber(const Instruction &instruction, Body body) {
  if (instruction.type == Type::F32)
    return body(float());
  if (instruction.type == Type::F64)
    return body(double());
  asInteger(instruction, body);
}

/// As `T` does with its own operands, without overflow.
template <typename T> using Wrapping = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;

template <typename T> T operand(const Warp &warp, const Instruction &instruction, int i, int lane) {
  return fromBits<T>(warp.get(instruction.operands[i], lane));
}

/// d = f(a, ...) on operands of the instruction's type; wrapping integers come back as their own type.
template <typename T, int Count, typename Function> void apply(Warp &warp, const Instruction &instruction, Function f) {
  bool flushes = instruction.has("ftz");
  warp.each([&](int lane) {
    auto value = [&](int i) {
      T x = operand<T>(warp, instruction, i, lane);
      if constexpr (std::is_same_v<T, float>)
        if (flushes && std::fpclassify(x) == FP_SUBNORMAL)
          x = std::copysign(0.0f, x);
      return x;
    };
    T result;
    if constexpr (Count == 1)
      result = static_cast<T>(f(value(1)));
    else if constexpr (Count == 2)
      result = static_cast<T>(f(value(1), value(2)));
    else
      result = static_cast<T>(f(value(1), value(2), value(3)));
    if constexpr (std::is_same_v<T, float>)
      if (flushes && std::fpclassify(result) == FP_SUBNORMAL)
        result = std::copysign(0.0f, result);
    warp.put(instruction.operands[0], lane, toBits(result));
  });
}

template <typename Function> void binary(Warp &warp, const Instruction &instruction, Function f) {
  asNumber(instruction, [&](auto type) {
    using T = decltype(type);
    apply<T, 2>(warp, instruction, [&](T x, T y) { return f(Wrapping<T>(x), Wrapping<T>(y)); });
  });
}

void add(Warp &warp, const Instruction &i) {
  binary(warp, i, [](auto x, auto y) { return x + y; });
}
void subtract(Warp &warp, const Instruction &i) {
  binary(warp, i, [](auto x, auto y) { return x - y; });
}

/// The product of wide operands, and its high half.
template <typename T> auto product(T x, T y) {
  using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  return static_cast<Wide>(x) * static_cast<Wide>(y);
}

void multiply(Warp &warp, const Instruction &instruction) {
  if (instruction.type == Type::F32 || instruction.type == Type::F64)
    return binary(warp, instruction, [](auto x, auto y) { return x * y; });
  asInteger(instruction, [&](auto type) {
    using T = decltype(type);
    warp.each([&](int lane) {
      auto full = product(operand<T>(warp, instruction, 1, lane), operand<T>(warp, instruction, 2, lane));
      uint64_t bits = instruction.has("wide")
                          ? (sizeof(T) == 2 ? static_cast<uint32_t>(full) : static_cast<uint64_t>(full))
                      : instruction.has("hi") ? toBits(static_cast<T>(full >> (8 * sizeof(T))))
                                              : toBits(static_cast<T>(full));
      warp.put(instruction.operands[0], lane, bits);
    });
  });
}

void multiplyAdd(Warp &warp, const Instruction &instruction) {
  if (instruction.type == Type::F32)
    return apply<float, 3>(warp, instruction, [](float x, float y, float z) { return std::fma(x, y, z); });
  if (instruction.type == Type::F64)
    return apply<double, 3>(warp, instruction, [](double x, double y, double z) { return std::fma(x, y, z); });
  asInteger(instruction, [&](auto type) {
    using T = decltype(type);
    warp.each([&](int lane) {
      auto full = product(operand<T>(warp, instruction, 1, lane), operand<T>(warp, instruction, 2, lane));
      if (instruction.has("hi"))
        unsupported(instruction);
      uint64_t sum = static_cast<uint64_t>(full) + warp.get(instruction.operands[3], lane);
      bool wide = instruction.has("wide");
      warp.put(instruction.operands[0], lane,
               wide ? (sizeof(T) == 2 ? static_cast<uint32_t>(sum) : sum) : toBits(static_cast<T>(sum)));
    });
  });
}

void divide(Warp &warp, const Instruction &instruction) {
  if (instruction.type == Type::F32 || instruction.type == Type::F64)
    return binary(warp, instruction, [](auto x, auto y) { return x / y; });
  asInteger(instruction, [&](auto type) {
    using T = decltype(type);
    apply<T, 2>(warp, instruction, [&](T x, T y) {
      if (y == 0)
        throw Error("'" + instruction.text + "' divides by zero");
      return y == static_cast<T>(-1) && std::is_signed_v<T> ? static_cast<T>(0 - static_cast<uint64_t>(x))
                                                            : static_cast<T>(x / y);
    });
  });
}

void remainder(Warp &warp, const Instruction &instruction) {
  asInteger(instruction, [&](auto type) {
    using T = decltype(type);
    apply<T, 2>(warp, instruction, [&](T x, T y) {
      if (y == 0)
        throw Error("'" + instruction.text + "' divides by zero");
      return y == static_cast<T>(-1) && std::is_signed_v<T> ? T(0) : static_cast<T>(x % y);
    });
  });
}

template <bool Largest> void extreme(Warp &warp, const Instruction &instruction) {
  bool keepsNan = instruction.has("NaN");
  asNumber(instruction, [&](auto type) {
    using T = decltype(type);
    apply<T, 2>(warp, instruction, [&](T x, T y) {
      if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(x) || std::isnan(y))
          return keepsNan || (std::isnan(x) && std::isnan(y)) ? std::numeric_limits<T>::quiet_NaN()
                 : std::isnan(x)                              ? y
                                                              : x;
        if (x == y)
          return std::signbit(x) == Largest ? y : x;
      }
      return Largest ? std::max(x, y) : std::min(x, y);
    });
  });
}

template <typename Function> void logic(Warp &warp, const Instruction &instruction, Function f) {
  uint64_t bits = instruction.type == Type::Pred   ? 1
                  : bytesOf(instruction.type) == 8 ? ~uint64_t(0)
                                                   : (uint64_t(1) << 8 * bytesOf(instruction.type)) - 1;
  warp.each([&](int lane) {
    uint64_t x = warp.get(instruction.operands[1], lane);
    uint64_t y = instruction.operands.size() > 2 ? warp.get(instruction.operands[2], lane) : 0;
    warp.put(instruction.operands[0], lane, f(x, y) & bits);
  });
}
void bitAnd(Warp &warp, const Instruction &i) {
  logic(warp, i, [](uint64_t x, uint64_t y) { return x & y; });
}
void bitOr(Warp &warp, const Instruction &i) {
  logic(warp, i, [](uint64_t x, uint64_t y) { return x | y; });
}
void bitXor(Warp &warp, const Instruction &i) {
  logic(warp, i, [](uint64_t x, uint64_t y) { return x ^ y; });
}
void bitNot(Warp &warp, const Instruction &i) {
  logic(warp, i, [](uint64_t x, uint64_t) { return ~x; });
}

template <bool Left> void shift(Warp &warp, const Instruction &instruction) {
  asInteger(instruction, [&](auto type) {
    using T = decltype(type);
    warp.each([&](int lane) {
      T x = operand<T>(warp, instruction, 1, lane);
      uint32_t by = std::min<uint32_t>(static_cast<uint32_t>(warp.get(instruction.operands[2], lane)), 8 * sizeof(T));
      T result = Left                  ? (by == 8 * sizeof(T) ? T(0) : static_cast<T>(static_cast<uint64_t>(x) << by))
                 : by == 8 * sizeof(T) ? static_cast<T>(std::is_signed_v<T> && x < 0 ? -1 : 0)
                                       : static_cast<T>(x >> by);
      warp.put(instruction.operands[0], lane, toBits(result));
    });
  });
}

/// shf.l.wrap.b32 d, low, high, count
void funnelShift(Warp &warp, const Instruction &instruction) {
  bool left = instruction.has("l"), wraps = instruction.has("wrap");
  warp.each([&](int lane) {
    uint64_t pair = (warp.get(instruction.operands[1], lane) & 0xffffffff) | warp.get(instruction.operands[2], lane)
                                                                                 << 32;
    uint32_t by = static_cast<uint32_t>(warp.get(instruction.operands[3], lane));
    by = wraps ? by & 31 : std::min<uint32_t>(by, 32);
    warp.put(instruction.operands[0], lane, (left ? by == 32 ? pair : pair << by >> 32 : pair >> by) & 0xffffffff);
  });
}

template <typename Function> void unaryFloat(Warp &warp, const Instruction &instruction, Function f) {
  if (instruction.type == Type::F32)
    return apply<float, 1>(warp, instruction, f);
  if (instruction.type == Type::F64)
    return apply<double, 1>(warp, instruction, f);
  unsupported(instruction);
}
void negate(Warp &warp, const Instruction &instruction) {
  if (instruction.type == Type::F32 || instruction.type == Type::F64)
    return unaryFloat(warp, instruction, [](auto x) { return -x; });
  asInteger(instruction, [&](auto type) {
    using T = decltype(type);
    apply<T, 1>(warp, instruction, [](T x) { return static_cast<T>(0 - static_cast<uint64_t>(x)); });
  });
}
void absolute(Warp &warp, const Instruction &instruction) {
  if (instruction.type == Type::F32 || instruction.type == Type::F64)
    return unaryFloat(warp, instruction, [](auto x) { return std::fabs(x); });
  asInteger(instruction, [&](auto type) {
    using T = decltype(type);
    apply<T, 1>(warp, instruction, [](T x) { return x < T(0) ? static_cast<T>(0 - static_cast<uint64_t>(x)) : x; });
  });
}
void squareRoot(Warp &warp, const Instruction &i) {
  unaryFloat(warp, i, [](auto x) { return std::sqrt(x); });
}
void reciprocal(Warp &warp, const Instruction &i) {
  unaryFloat(warp, i, [](auto x) { return 1 / x; });
}
void powerOfTwo(Warp &warp, const Instruction &i) {
  unaryFloat(warp, i, [](auto x) { return std::exp2(x); });
}

void copySign(Warp &warp, const Instruction &instruction) {
  asNumber(instruction, [&](auto type) {
    using T = decltype(type);
    if constexpr (std::is_floating_point_v<T>)
      apply<T, 2>(warp, instruction, [](T sign, T size) { return std::copysign(size, sign); });
    else
      unsupported(instruction);
  });
}

bool compare(const Instruction &instruction, const std::string &how, auto x, auto y) {
  bool unordered = false;
  if constexpr (std::is_floating_point_v<decltype(x)>)
    unordered = std::isnan(x) || std::isnan(y);
  if (how == "num" || how == "nan")
    return unordered == (how == "nan");
  // equ, neu, ltu, ... hold when an operand is NaN.
  std::string ordered = how;
  if (how.size() == 3) {
    if (unordered)
      return true;
    ordered = how.substr(0, 2);
  } else if (unordered) {
    return false;
  }
  if (ordered == "eq")
    return x == y;
  if (ordered == "ne")
    return x != y;
  if (ordered == "lt" || ordered == "lo")
    return x < y;
  if (ordered == "le" || ordered == "ls")
    return x <= y;
  if (ordered == "gt" || ordered == "hi")
    return x > y;
  if (ordered == "ge" || ordered == "hs")
    return x >= y;
  unsupported(instruction);
}

/// setp.CMP[.BOOL].type p, a, b[, c]
void setPredicate(Warp &warp, const Instruction &instruction) {
  if (instruction.text.find('|') != std::string::npos)
    unsupported(instruction);
  const std::string how = instruction.parts[1];
  asNumber(instruction, [&](auto type) {
    using T = decltype(type);
    warp.each([&](int lane) {
      bool holds =
          compare(instruction, how, operand<T>(warp, instruction, 1, lane), operand<T>(warp, instruction, 2, lane));
      if (instruction.operands.size() > 3) {
        bool other = warp.get(instruction.operands[3], lane) & 1;
        holds = instruction.has("and") ? holds && other : instruction.has("or") ? holds || other : holds != other;
      }
      warp.put(instruction.operands[0], lane, holds);
    });
  });
}

void select(Warp &warp, const Instruction &instruction) {
  warp.each([&](int lane) {
    bool first = warp.get(instruction.operands[3], lane) & 1;
    warp.put(instruction.operands[0], lane, warp.get(instruction.operands[first ? 1 : 2], lane));
  });
}

/// bfe.u32 d, a, position, length
void extractField(Warp &warp, const Instruction &instruction) {
  asInteger(instruction, [&](auto type) {
    using T = decltype(type);
    warp.each([&](int lane) {
      const int width = 8 * sizeof(T);
      T x = operand<T>(warp, instruction, 1, lane);
      int position = warp.get(instruction.operands[2], lane) & 255,
          length = warp.get(instruction.operands[3], lane) & 255;
      T result = 0;
      for (int bit = 0; bit < width; ++bit) {
        int from = std::min(position + std::min(bit, length - 1), width - 1);
        bool set = length > 0 && (bit < length ? position + bit < width || std::is_signed_v<T> : std::is_signed_v<T>) &&
                   (static_cast<uint64_t>(x) >> from & 1);
        if (set)
          result |= static_cast<T>(uint64_t(1) << bit);
      }
      warp.put(instruction.operands[0], lane, toBits(result));
    });
  });
}

/// bfi.b32 f, a, b, position, length: a's low bits into b
void insertField(Warp &warp, const Instruction &instruction) {
  asInteger(instruction, [&](auto type) {
    using T = decltype(type);
    warp.each([&](int lane) {
      int position = warp.get(instruction.operands[3], lane) & 255,
          length = warp.get(instruction.operands[4], lane) & 255;
      uint64_t a = warp.get(instruction.operands[1], lane), b = warp.get(instruction.operands[2], lane);
      for (int bit = 0; bit < length && position + bit < static_cast<int>(8 * sizeof(T)); ++bit)
        b = (b & ~(uint64_t(1) << (position + bit))) | (a >> bit & 1) << (position + bit);
      warp.put(instruction.operands[0], lane, toBits(static_cast<T>(b)));
    });
  });
}

/// prmt.b32 d, a, b, c: each nibble of c picks a byte of {b, a}, or its sign
void permute(Warp &warp, const Instruction &instruction) {
  warp.each([&](int lane) {
    uint64_t bytes = (warp.get(instruction.operands[1], lane) & 0xffffffff) | warp.get(instruction.operands[2], lane)
                                                                                  << 32;
    uint64_t selector = warp.get(instruction.operands[3], lane);
    uint32_t result = 0;
    for (int i = 0; i < 4; ++i) {
      int nibble = selector >> (4 * i) & 15;
      uint32_t byte = bytes >> (8 * (nibble & 7)) & 255;
      if (nibble & 8)
        byte = byte & 128 ? 255 : 0;
      result |= byte << (8 * i);
    }
    warp.put(instruction.operands[0], lane, result);
  });
}

/// lop3.b32 d, a, b, c, table
void logic3(Warp &warp, const Instruction &instruction) {
  warp.each([&](int lane) {
    uint32_t result = 0, table = static_cast<uint32_t>(warp.get(instruction.operands[4], lane));
    for (int bit = 0; bit < 32; ++bit) {
      int index = 0;
      for (int i = 1; i <= 3; ++i)
        index = index * 2 + static_cast<int>(warp.get(instruction.operands[i], lane) >> bit & 1);
      result |= (table >> index & 1) << bit;
    }
    warp.put(instruction.operands[0], lane, result);
  });
}

} // namespace

std::map<std::string, Handler> arithmeticHandlers() {
  return {{"add", add},           {"sub", subtract},      {"mul", multiply},
          {"mad", multiplyAdd},   {"fma", multiplyAdd},   {"div", divide},
          {"rem", remainder},     {"max", extreme<true>}, {"min", extreme<false>},
          {"and", bitAnd},        {"or", bitOr},          {"xor", bitXor},
          {"not", bitNot},        {"shl", shift<true>},   {"shr", shift<false>},
          {"shf", funnelShift},   {"neg", negate},        {"abs", absolute},
          {"sqrt", squareRoot},   {"rcp", reciprocal},    {"ex2", powerOfTwo},
          {"copysign", copySign}, {"setp", setPredicate}, {"selp", select},
          {"bfe", extractField},  {"bfi", insertField},   {"prmt", permute},
          {"lop3", logic3}};
}

} // namespace tilewright::ptx
