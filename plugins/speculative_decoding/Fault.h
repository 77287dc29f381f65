// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/api/tilewright_status.h"

#include <stdexcept>
#include <string>

namespace tilewright::speculative_decoding {

/// A failure inside the runtime half, with the status that the host sees.
class Fault : public std::runtime_error {
public:
  Fault(tw_status status, const std::string &message) : std::runtime_error(message), status(status) {}
  const tw_status status;
};

} // namespace tilewright::speculative_decoding
