// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/progress/Progress.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

namespace tilewright {
namespace {

std::mutex mutex;
Progress *shown = nullptr; ///< whose unfinished line stderr ends in

constexpr const char *kErase = "\r\x1b[K"; // ECMA-48: to the line's begin, erase to its end
constexpr size_t kBar = 20;

bool isTerminal() {
  const char *kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && kind && std::string_view(kind) != "dumb";
}

size_t columns() {
  winsize size = {};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void write(const std::string &text) { std::fwrite(text.data(), 1, text.size(), stderr); }

std::string timeText(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", seconds);
  return text;
}

/// At most `width` bytes of UTF-8, no character cut.
std::string cut(const std::string &text, size_t width) {
  if (text.size() <= width)
    return text;
  while (width > 0 && (static_cast<unsigned char>(text[width]) & 0xC0) == 0x80)
    --width;
  return text.substr(0, width);
}

} // namespace

Progress::Progress(bool quiet) : quiet(quiet), terminal(isTerminal()) {}

Progress::~Progress() {
  std::lock_guard guard(mutex);
  if (shown != this)
    return;
  write(terminal ? kErase : "\n");
  shown = nullptr;
}

/// A line that wrapped could not be erased, so it is as wide as the terminal at most.
void Progress::draw() {
  if (!terminal) {
    write("  " + name + " ... ");
  } else {
    std::string state = " ...";
    if (total > 0) {
      const double share = std::min(1.0, static_cast<double>(parts) / static_cast<double>(total));
      const size_t filled = static_cast<size_t>(share * kBar);
      char percent[16];
      std::snprintf(percent, sizeof percent, "] %3d %%  ", static_cast<int>(100 * share));
      state = " [" + std::string(filled, '#') + std::string(kBar - filled, '.') + percent + timeText(seconds());
    }
    const size_t width = columns() - 1;
    write(kErase + cut("  " + cut(name, width - std::min(width, state.size() + 2)) + state, width));
  }
  drawn = Clock::now();
  shown = this;
}

void Progress::step(const std::string &what, uint64_t total) {
  done();
  if (quiet)
    return;
  std::lock_guard guard(mutex);
  running = true;
  name = what;
  this->total = total;
  parts = 0;
  begun = Clock::now();
  draw();
}

void Progress::advance(uint64_t more) {
  std::lock_guard guard(mutex);
  parts += more;
  constexpr std::chrono::milliseconds kPause(50);
  if (running && terminal && (shown != this || parts >= total || Clock::now() - drawn >= kPause))
    draw();
}

void Progress::done() {
  std::lock_guard guard(mutex);
  if (!running)
    return;
  running = false;
  std::string line = "  " + name + " ... ";
  if (terminal)
    line = kErase + line;
  else if (shown == this)
    line.clear(); // is there
  write(line + timeText(seconds()) + "\n");
  shown = nullptr;
}

void Progress::interrupt() {
  std::lock_guard guard(mutex);
  if (!shown)
    return;
  write(shown->terminal ? kErase : "\n");
  shown = nullptr;
}

} // namespace tilewright
