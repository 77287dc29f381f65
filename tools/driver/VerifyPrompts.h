// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The token sequences that verify compares on.
#pragma once

#include "tools/driver/Session.h"

namespace tilewright::driver {

struct PromptIds {
  std::string text;
  std::vector<int32_t> ids; ///< at least one
};

/// `prompts`, or where there are none `defaults`, as the graph's tokenizer writes them. Without a tokenizer that works
/// here, instead of the defaults as many rows of ids that a fixed seed draws.
llvm::Expected<std::vector<PromptIds>> promptIds(Session &session, const std::vector<std::string> &prompts,
                                                 const std::vector<std::string> &defaults);

} // namespace tilewright::driver
