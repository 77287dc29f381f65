// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Messages for the person who runs a model: to the host's callback, else to stderr.
#pragma once

#include "runtime/api/tilewright.h"

#include <string>

namespace tilewright {

/// The level that the environment variable TILEWRIGHT_LOG asks for: error, warning (the default), info or debug.
/// `problem` is set when its value is none of them.
tw_log_level logLevelFromEnvironment(std::string &problem);

/// A line on stderr.
void printMessage(tw_log_level at, const char *message);

/// Immutable; write() may be called from several threads if the callback may.
class Log {
public:
  /// Null callback: printMessage.
  Log(tw_log_callback callback, void *user);

  bool shows(tw_log_level at) const { return at <= level; }
  void write(tw_log_level at, const std::string &message) const;

private:
  tw_log_callback callback;
  void *user;
  tw_log_level level;
};

} // namespace tilewright
