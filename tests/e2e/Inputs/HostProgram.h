// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What programs share that hold sessions of compiled models against what they have to be.
#pragma once

#include "runtime/api/tilewright.h"

#include <cstdio>
#include <cstdlib>
#include <string>

inline int failures = 0;

inline void expect(bool holds, const std::string &what) {
  if (holds)
    return;
  std::printf("FAILED: %s\n", what.c_str());
  ++failures;
}

/// Ends the program unless `status` is TW_OK.
inline void need(tw_status status, const char *what) {
  if (status == TW_OK)
    return;
  std::printf("FAILED: %s: %s\n", what, tw_last_error());
  std::exit(1);
}

inline tw_memory memoryOf(const tw_model *model) {
  tw_memory memory{};
  memory.size = sizeof memory;
  need(tw_model_memory(model, &memory), "memory");
  return memory;
}
