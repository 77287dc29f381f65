// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/driver/Interrupt.h"

#include "tools/ExitCodes.h"
#include "tools/driver/Commands.h"

#include "llvm/Support/Signals.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <iterator>
#include <unistd.h>

namespace tilewright::driver {

namespace {

/// In static memory: the handler may run while its thread, or another, makes or frees any object.
struct Place {
  std::atomic<pid_t> owner{0}; ///< the process whose folder it is; 0: free, kTaken: being filled
  char folder[PATH_MAX];
};
constexpr pid_t kTaken = -1;
std::array<Place, 8> places; // what finds none free is removed by whoever writes there next

/// By system calls alone, which a signal handler may make. Other threads may be writing into it still.
void removeFolder(const char *path) {
  constexpr int mostTries = 100;
  for (int i = 0; i < mostTries; ++i) {
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
      return;
    alignas(dirent64) char entries[4096];
    for (ssize_t bytes; (bytes = getdents64(folder, entries, sizeof entries)) > 0;)
      for (ssize_t at = 0; at < bytes;) {
        const auto *entry = reinterpret_cast<const dirent64 *>(entries + at);
        if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0)
          unlinkat(folder, entry->d_name, 0);
        at += entry->d_reclen;
      }
    close(folder);
    if (rmdir(path) == 0 || (errno != ENOTEMPTY && errno != EEXIST))
      return;
  }
}

/// A second signal, or one that another thread gets, waits for the end.
void onInterrupt(int) {
  static std::atomic<bool> isEnding{false};
  while (isEnding.exchange(true))
    pause();
  llvm::sys::RunInterruptHandlers(); // files that LLVM's classes are writing
  for (const Place &place : places)
    if (place.owner == getpid())
      removeFolder(place.folder);
  constexpr char text[] = "\ntilewright: error: interrupted\n";
  if (write(STDERR_FILENO, text, sizeof text - 1) < 0) {
    // Nobody is left to tell.
  }
  _exit(Interrupted);
}

} // namespace

RemovedOnInterrupt::RemovedOnInterrupt(const std::string &folder) : place(-1) {
  if (folder.size() >= PATH_MAX)
    return;
  for (size_t i = 0; i < places.size() && place < 0; ++i) {
    pid_t none = 0;
    if (!places[i].owner.compare_exchange_strong(none, kTaken))
      continue;
    std::memcpy(places[i].folder, folder.c_str(), folder.size() + 1);
    places[i].owner = getpid();
    place = static_cast<int>(i);
  }
}

RemovedOnInterrupt::~RemovedOnInterrupt() {
  if (place >= 0)
    places[static_cast<size_t>(place)].owner = 0;
}

void cleanUpOnInterrupt() {
  constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction before[std::size(signals)], action{};
  action.sa_handler = onInterrupt;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < std::size(signals); ++i) {
    sigaction(signals[i], nullptr, &before[i]);
    sigaddset(&action.sa_mask, signals[i]);
  }
  // LLVM's handlers come first: it would set them over these with its first temporary file.
  llvm::sys::SetInterruptFunction(nullptr);
  for (size_t i = 0; i < std::size(signals); ++i) // what is ignored, as under nohup, stays so
    sigaction(signals[i], before[i].sa_handler == SIG_IGN ? &before[i] : &action, nullptr);
}

} // namespace tilewright::driver
