// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The generator behind sampling: counter-based, so that the n-th number depends on seed and n alone, on every machine.
#pragma once

#include <array>
#include <cstdint>

namespace tilewright {

/// Philox4x32 with 10 rounds. Source: Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3" (SC 2011).
constexpr std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * counter[0], b = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

/// The n-th uniform number of a seed: a multiple of 2^-53 in [0, 1). Key is the seed, counter is n (low words first);
/// the number's 53 bits are the top ones of the first two words of the block.
constexpr double uniformAt(uint64_t seed, uint64_t n) {
  const auto block = philox4x32({static_cast<uint32_t>(n), static_cast<uint32_t>(n >> 32), 0, 0},
                                {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  const uint64_t bits = static_cast<uint64_t>(block[0]) << 32 | block[1];
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

} // namespace tilewright
