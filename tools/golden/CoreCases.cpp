// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/golden/CoreCases.h"

namespace tilewright {

void addCoreCases(GoldenRegistry &registry) { registry.addHost("sampling", computeSampling); }

} // namespace tilewright
