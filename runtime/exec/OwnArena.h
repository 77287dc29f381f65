// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Many calls of one function on the threads of a TBB arena.
#pragma once

#include <memory>

namespace tilewright {

class OwnArena {
public:
  explicit OwnArena(int threads);
  ~OwnArena();

  /// Calls body(data) on up to `threads` threads, one of them the caller's unless the arena is full, and returns when
  /// all calls have returned. `body` must not throw; its calls must not wait for one another.
  void run(void (*body)(void *), void *data);

private:
  struct Arena;
  const int threads;
  std::unique_ptr<Arena> arena;
};

} // namespace tilewright
