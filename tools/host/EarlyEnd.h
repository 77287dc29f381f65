// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace tilewright {

/// A command that is under way. A plugin or a library that calls exit() meanwhile would have the command end as if its
/// work were done: that is said, and the exit code is WorkFailed. In a child process exit() stays what it is: its
/// parent judges.
class CommandUnderWay {
public:
  CommandUnderWay();
  ~CommandUnderWay();
  CommandUnderWay(const CommandUnderWay &) = delete;
  CommandUnderWay &operator=(const CommandUnderWay &) = delete;
};

} // namespace tilewright
