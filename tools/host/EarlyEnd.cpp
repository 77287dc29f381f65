// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/host/EarlyEnd.h"

#include "tools/ExitCodes.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace tilewright {

/// The process whose command is under way; 0: none.
static std::atomic<pid_t> underWay = 0;

static void reportEarlyEnd() {
  if (underWay != getpid())
    return;
  std::fprintf(stderr, "tilewright: error: a plugin or a library ended the process before the command was done\n"
                       "tilewright: note: TILEWRIGHT_WITHOUT_PLUGINS=NAME leaves a plugin out\n");
  std::fflush(nullptr);
  std::_Exit(WorkFailed);
}

CommandUnderWay::CommandUnderWay() {
  underWay = getpid();
  std::atexit(reportEarlyEnd);
}

CommandUnderWay::~CommandUnderWay() { underWay = 0; }

} // namespace tilewright
