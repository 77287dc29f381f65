// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Time limits of tests count the processor's time, not the clock's: other programs may be running.
#ifndef TILEWRIGHT_TESTS_UNIT_SUPPORT_PROCESSORTIME_H
#define TILEWRIGHT_TESTS_UNIT_SUPPORT_PROCESSORTIME_H

#include <ctime>

namespace tilewright::test {

/// Seconds that this thread has used.
inline double processorTime() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

} // namespace tilewright::test

#endif // TILEWRIGHT_TESTS_UNIT_SUPPORT_PROCESSORTIME_H
