// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// This file alone is built without the thread sanitizer: libtbb is not instrumented, so the sanitizer cannot see how it
// hands a task from one thread to another and would call every task's creation a race.
#include "runtime/exec/OwnArena.h"

#include <tbb/task_arena.h>
#include <tbb/task_group.h>

namespace tilewright {

struct OwnArena::Arena {
  explicit Arena(int threads) : tasks(threads) {}
  tbb::task_arena tasks;
};

OwnArena::OwnArena(int threads) : threads(threads), arena(std::make_unique<Arena>(threads)) {}
OwnArena::~OwnArena() = default;

void OwnArena::run(void (*body)(void *), void *data) {
  arena->tasks.execute([=, this] {
    // Isolated: while the leader waits at the end, it must not pick up another step's helper and stay with it.
    tbb::this_task_arena::isolate([=, this] {
      tbb::task_group others;
      for (int i = 1; i < threads; ++i)
        others.run([=] { body(data); });
      body(data);
      others.wait();
    });
  });
}

} // namespace tilewright
