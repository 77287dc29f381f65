// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX text as the emulator runs it: instructions with their operands, labels resolved.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace tilewright::ptx {

/// Anything that keeps a program from being read or run; says what was found and where.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Type { None, Pred, B8, U8, S8, B16, U16, S16, F16, Bf16, B32, U32, S32, F32, Bf16x2, B64, U64, S64, F64 };

int bytesOf(Type type);
/// The type that a suffix such as "f32" names; None for none.
Type typeOf(const std::string &suffix);

struct Operand {
  enum class Kind { Register, Immediate, Special, Symbol, Address, List, Label } kind;
  int index = -1;       ///< register; instruction of a label; of an address its register, -1 for none
  uint64_t value = 0;   ///< immediate's bits; offset of an address
  std::string name;     ///< symbol, special register or label; of an address its symbol
  bool negated = false; ///< !%p
  std::vector<Operand> list;
};

struct Instruction {
  std::string text;               ///< for messages
  std::vector<std::string> parts; ///< ld, global, v2, b32
  std::vector<Operand> operands;
  Type type = Type::None;      ///< the last part that is a type
  Type otherType = Type::None; ///< the one before it (cvt, set)
  int predicate = -1;
  bool predicateNegated = false;
  bool wide = false; ///< all lanes of a warp at once; filled by the machine
  int handler = -1;  ///< filled by the machine

  const std::string &name() const { return parts.front(); }
  bool has(const std::string &part) const;
};

struct Parameter {
  std::string name;
  int offset, size;
};

struct Kernel {
  std::string name;
  std::vector<Parameter> parameters;
  int parameterBytes = 0;
  int threads = 0; ///< .reqntid's first number, 0 without one
  int registers = 0;
  std::vector<Instruction> instructions;
};

struct Program {
  std::vector<Kernel> kernels;
  std::map<std::string, std::vector<uint8_t>> globals; ///< module-scope .global and .const arrays
  std::map<std::string, uint64_t> shared; ///< offsets of .shared variables; extern ones lie behind all others
  uint64_t sharedBytes = 0;               ///< of variables of known size
};

/// Reads PTX as LLVM writes it. Throws Error.
Program parse(const std::string &text);

} // namespace tilewright::ptx
