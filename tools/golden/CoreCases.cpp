// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/golden/CoreCases.h"

namespace tilewright {

void addCoreCases(GoldenRegistry &registry) {
  registry.addHost("sampling", computeSampling);
  registry.add("encoder_block", buildEncoderLayer);
  registry.add("decoder_block", buildDecoderLayer);
  registry.add("attention", buildAttention);
}

} // namespace tilewright
