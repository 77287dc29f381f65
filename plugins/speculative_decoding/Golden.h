// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace tilewright {
class GoldenHostCase;
}

namespace tilewright::speculative_decoding {

/// Rounds of drafted tokens [R, K], judged by the rules that the runtime half uses.
void computeGolden(GoldenHostCase &c);

} // namespace tilewright::speculative_decoding
