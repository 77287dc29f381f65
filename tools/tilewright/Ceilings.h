// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What this machine can do at most, measured in the same run as the figures that are compared with it.
#pragma once

#include <cstdint>
#include <optional>

namespace tilewright::cli {

struct Ceilings {
  double readBytesPerSecond = 0;          ///< streaming read of a buffer of `bytes`, all threads together
  double fmaPerSecond = 0;                ///< f32 multiply-adds, counted as 2 operations each
  std::optional<double> bf16DotPerSecond; ///< vdpbf16ps, 2 operations a product; absent without AVX512_BF16
  std::optional<double> int8DotPerSecond; ///< vpdpbusd, 2 operations a product; absent without VNNI
};

/// Measures with `threads` threads, about a fifth of a second each; best of five.
Ceilings measureCeilings(int threads, uint64_t bytes);

} // namespace tilewright::cli
