// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Offsets for buffers with known lifetimes: storage allocation on the interference graph.
#pragma once

#include <cstdint>
#include <vector>

namespace tilewright {

/// A buffer of `size` units that is live from step `first` to step `last`, both included.
struct LiveBuffer {
  uint64_t size = 0;
  uint32_t first = 0;
  uint32_t last = 0;
};

struct InterferencePlan {
  std::vector<uint64_t> offsets; ///< one per buffer
  uint64_t size = 0;             ///< of the arena
  uint64_t lowerBound = 0;       ///< largest sum of sizes live at one step: no plan can be smaller
  uint64_t withoutReuse = 0;     ///< sum of all sizes
};

/// Greedy best fit by decreasing size: each buffer takes the smallest gap that it fits between the already placed
/// buffers it interferes with. Exact storage allocation is NP-hard; the lower bound tells how far the result may be
/// off.
InterferencePlan planByInterference(const std::vector<LiveBuffer> &buffers);

} // namespace tilewright
