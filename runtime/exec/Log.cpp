// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/exec/Log.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace tilewright {
namespace {

constexpr const char *kNames[] = {"error", "warning", "info", "debug"};

} // namespace

tw_log_level logLevelFromEnvironment(std::string &problem) {
  const char *text = std::getenv("TILEWRIGHT_LOG");
  if (!text || !*text)
    return TW_LOG_WARNING;
  for (int i = 0; i < 4; ++i)
    if (std::string_view(text) == kNames[i])
      return static_cast<tw_log_level>(i);
  problem = "TILEWRIGHT_LOG is '" + std::string(text) + "', wanted error, warning, info or debug";
  return TW_LOG_WARNING;
}

void printMessage(tw_log_level at, const char *message) {
  std::fprintf(stderr, "tilewright: %s: %s\n", kNames[at], message);
}

Log::Log(tw_log_callback callback, void *user) : callback(callback), user(user) {
  std::string problem;
  level = logLevelFromEnvironment(problem);
  if (!problem.empty())
    write(TW_LOG_WARNING, problem);
}

void Log::write(tw_log_level at, const std::string &message) const {
  if (!shows(at))
    return;
  if (callback)
    callback(user, at, message.c_str());
  else
    printMessage(at, message.c_str());
}

} // namespace tilewright
