// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads, stores and moves.
#include "tests/ptx/Machine.h"
#include "tests/ptx/Values.h"

namespace tilewright::ptx {

namespace {

std::string spaceOf(const Instruction &instruction) {
  for (const char *space : {"param", "global", "shared", "const"})
    if (instruction.has(space))
      return space;
  return "";
}

const std::vector<Operand> &items(const Operand &operand, std::vector<Operand> &single) {
  if (operand.kind == Operand::Kind::List)
    return operand.list;
  single = {operand};
  return single;
}

bool isSigned(Type type) { return type == Type::S8 || type == Type::S16 || type == Type::S32; }

void load(Warp &warp, const Instruction &instruction) {
  std::vector<Operand> single;
  const std::vector<Operand> &targets = items(instruction.operands[0], single);
  std::string space = spaceOf(instruction);
  int size = bytesOf(instruction.type), bytes = size * static_cast<int>(targets.size());
  warp.each([&](int lane) {
    const uint8_t *from = warp.access(space, warp.addressOf(instruction.operands[1], lane), bytes, false, lane);
    for (size_t i = 0; i < targets.size(); ++i) {
      uint64_t bits = 0;
      std::memcpy(&bits, from + i * size, size);
      if (isSigned(instruction.type))
        bits = static_cast<uint64_t>(static_cast<int64_t>(bits << (64 - 8 * size)) >> (64 - 8 * size));
      warp.put(targets[i], lane, bits);
    }
  });
}

void store(Warp &warp, const Instruction &instruction) {
  std::vector<Operand> single;
  const std::vector<Operand> &sources = items(instruction.operands[1], single);
  std::string space = spaceOf(instruction);
  int size = bytesOf(instruction.type), bytes = size * static_cast<int>(sources.size());
  warp.each([&](int lane) {
    uint8_t *to = warp.access(space, warp.addressOf(instruction.operands[0], lane), bytes, true, lane);
    for (size_t i = 0; i < sources.size(); ++i) {
      uint64_t bits = warp.get(sources[i], lane);
      std::memcpy(to + i * size, &bits, size);
    }
  });
}

/// Also packs and unpacks: mov.b64 %rd, {%r1, %r2}.
void move(Warp &warp, const Instruction &instruction) {
  const Operand &to = instruction.operands[0], &from = instruction.operands[1];
  warp.each([&](int lane) {
    if (to.kind == Operand::Kind::List) {
      int width = 8 * bytesOf(instruction.type) / static_cast<int>(to.list.size());
      uint64_t bits = warp.get(from, lane);
      for (size_t i = 0; i < to.list.size(); ++i)
        warp.put(to.list[i], lane, bits >> (i * width) & ((uint64_t(1) << width) - 1));
      return;
    }
    uint64_t bits = 0;
    if (from.kind == Operand::Kind::List) {
      int width = 8 * bytesOf(instruction.type) / static_cast<int>(from.list.size());
      for (size_t i = 0; i < from.list.size(); ++i)
        bits |= (warp.get(from.list[i], lane) & ((uint64_t(1) << width) - 1)) << (i * width);
    } else {
      bits = warp.get(from, lane);
    }
    warp.put(to, lane, bits);
  });
}

/// Global addresses are generic ones; those of shared memory lie in a window of their own.
void convertAddress(Warp &warp, const Instruction &instruction) {
  if (!instruction.has("global"))
    unsupported(instruction);
  warp.each([&](int lane) { warp.put(instruction.operands[0], lane, warp.get(instruction.operands[1], lane)); });
}

} // namespace

std::map<std::string, Handler> memoryHandlers() {
  return {{"ld", load}, {"st", store}, {"mov", move}, {"cvta", convertAddress}};
}

} // namespace tilewright::ptx
