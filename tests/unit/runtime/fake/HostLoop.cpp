// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Built without the thread sanitizer, for the reason given in runtime/exec/OwnArena.cpp.
#include "tests/unit/runtime/fake/HostLoop.h"

#include <tbb/parallel_for.h>

namespace tilewright::testing {

void runHostLoop(int count, void (*body)(void *, int), void *data) {
  tbb::parallel_for(0, count, [=](int i) { body(data, i); });
}

} // namespace tilewright::testing
