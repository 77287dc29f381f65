// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any bytes as an artifact's manifest: refused with an error, or usable without further checks.
#include "runtime/api/Error.h"
#include "runtime/module/Manifest.h"

#include <cstdlib>

using namespace tilewright;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  try {
    Manifest manifest = Manifest::parse({data, size}, "fuzz");
    size_t sum = manifest.entries();
    for (uint64_t bytes : manifest.stateBufferPageBytes())
      sum += bytes;
    if (const auto *weights = manifest->weights())
      for (const artifact::Weight *weight : *weights)
        sum += static_cast<size_t>(weightShape(*weight).first);
    volatile size_t used = sum;
    (void)used;
  } catch (const Error &error) {
    if (!*error.what())
      std::abort();
  }
  return 0;
}
