// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instructions that the lanes of a warp execute together: shuffles and matrix products.
#include "tests/ptx/Machine.h"
#include "tests/ptx/Values.h"

namespace tilewright::ptx {

namespace {

/// shfl.sync.MODE.b32 d[|p], a, b, c, mask
void shuffle(Warp &warp, const Instruction &instruction) {
  bool hasPredicate = instruction.operands.size() == 6;
  const Operand *sources = &instruction.operands[hasPredicate ? 2 : 1];
  uint64_t values[kLanes], results[kLanes], inside[kLanes];
  warp.each([&](int lane) { values[lane] = warp.get(sources[0], lane); });
  warp.each([&](int lane) {
    int b = static_cast<int>(warp.get(sources[1], lane) & 31), c = static_cast<int>(warp.get(sources[2], lane));
    int clamp = c & 31, segment = c >> 8 & 31;
    int highest = (lane & segment) | (clamp & ~segment), lowest = lane & segment;
    int from = lane;
    bool isInside = true;
    if (instruction.has("bfly")) {
      from = lane ^ b;
      isInside = from <= highest;
    } else if (instruction.has("idx")) {
      from = lowest | (b & ~segment);
      isInside = from <= highest;
    } else if (instruction.has("down")) {
      from = lane + b;
      isInside = from <= highest;
    } else if (instruction.has("up")) {
      from = lane - b;
      isInside = from >= highest;
    } else {
      unsupported(instruction);
    }
    results[lane] = values[isInside ? from : lane];
    inside[lane] = isInside;
  });
  warp.each([&](int lane) {
    warp.put(instruction.operands[0], lane, results[lane]);
    if (hasPredicate)
      warp.put(instruction.operands[1], lane, inside[lane]);
  });
}

/// The number at element `item` of a register of operand A or B.
double element(const std::string &type, uint64_t bits, int item) {
  if (type == "tf32")
    return fromBits<float>(bits & 0xffffe000); // the unit does not see the other bits
  if (type == "bf16")
    return fromBf16(static_cast<uint16_t>(bits >> (16 * item)));
  if (type == "f16")
    return fromHalf(static_cast<uint16_t>(bits >> (16 * item)));
  if (type == "s8")
    return static_cast<int8_t>(bits >> (8 * item));
  return static_cast<uint8_t>(bits >> (8 * item));
}

/// mma.sync.aligned.m16n8kK.row.col.D.A.B.C d, a, b, c, with registers as the PTX ISA's fragments say.
void multiply(Warp &warp, const Instruction &instruction) {
  if (warp.mask != ~0u)
    throw Error("'" + instruction.text + "' is executed by some lanes of a warp only");
  const std::vector<std::string> &parts = instruction.parts;
  size_t shape = 1;
  while (shape < parts.size() && parts[shape].compare(0, 5, "m16n8") != 0)
    ++shape;
  size_t types = parts.size() - 4;
  if (shape + 3 > types || parts[shape + 1] != "row" || parts[shape + 2] != "col")
    unsupported(instruction);
  const int k = std::stoi(parts[shape].substr(6));
  const std::string &typeA = parts[types + 1], &typeB = parts[types + 2];
  const bool isInteger = parts[types] == "s32";
  const int perRegister = typeA == "tf32" ? 1 : isInteger ? 4 : 2;
  const bool known =
      (isInteger && (typeA == "s8" || typeA == "u8") && (typeB == "s8" || typeB == "u8")) ||
      (parts[types] == "f32" && typeA == typeB && (typeA == "tf32" || typeA == "bf16" || typeA == "f16"));
  const size_t registersA = 16 * k / (kLanes * perRegister), registersB = registersA / 2;
  const auto &d = instruction.operands[0].list, &a = instruction.operands[1].list, &c = instruction.operands[3].list;
  std::vector<Operand> b = instruction.operands[2].list;
  if (instruction.operands[2].kind != Operand::Kind::List)
    b = {instruction.operands[2]};
  if (!known || a.size() != registersA || b.size() != registersB || c.size() != 4 || d.size() != 4 || k > 32)
    unsupported(instruction);

  // Registers of A alternate between rows g and g + 8; those behind the first two are further along k.
  double left[16][32], right[32][8];
  const int perQuad = 4 * perRegister; // of k, for one register of the four lanes
  for (int lane = 0; lane < kLanes; ++lane) {
    int group = lane / 4, quad = lane % 4;
    for (size_t i = 0; i < a.size(); ++i)
      for (int item = 0; item < perRegister; ++item)
        left[group + 8 * (i % 2)][static_cast<int>(i / 2) * perQuad + quad * perRegister + item] =
            element(typeA, warp.get(a[i], lane), item);
    for (size_t i = 0; i < b.size(); ++i)
      for (int item = 0; item < perRegister; ++item)
        right[static_cast<int>(i) * perQuad + quad * perRegister + item][group] =
            element(typeB, warp.get(b[i], lane), item);
  }
  uint64_t results[kLanes][4];
  for (int lane = 0; lane < kLanes; ++lane)
    for (int i = 0; i < 4; ++i) {
      int row = lane / 4 + 8 * (i / 2), column = lane % 4 * 2 + i % 2;
      uint64_t start = warp.get(c[i], lane);
      double sum = 0;
      for (int j = 0; j < k; ++j)
        sum += left[row][j] * right[j][column];
      results[lane][i] =
          isInteger
              ? static_cast<uint32_t>(static_cast<uint32_t>(start) + static_cast<uint32_t>(static_cast<int64_t>(sum)))
              : toBits(static_cast<float>(sum + fromBits<float>(start)));
    }
  for (int lane = 0; lane < kLanes; ++lane)
    for (int i = 0; i < 4; ++i)
      warp.put(d[i], lane, results[lane][i]);
}

} // namespace

std::map<std::string, Handler> warpHandlers() { return {{"shfl", shuffle}, {"mma", multiply}}; }

} // namespace tilewright::ptx
