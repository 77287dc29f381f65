// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace tilewright {

/// From now on an exception that nobody catches (thrown by a plugin's dialect or pass, on any thread) ends the process
/// with a message and the exit code WorkFailed instead of a signal.
void reportEscapedExceptions();

} // namespace tilewright
