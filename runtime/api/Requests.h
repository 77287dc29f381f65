// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Requests of the C interface, made from C++.
#pragma once

#include "runtime/api/tilewright.h"

#include <cstdint>
#include <span>

namespace tilewright {

/// A step of `tokens`, which outlive it, that gives the last one's logits; what else it may ask for is not set.
inline tw_step_request stepRequest(tw_session *session, std::span<const int32_t> tokens, float *logits) {
  tw_step_request request = {};
  request.size = sizeof request;
  request.session = session;
  request.tokens = tokens.data();
  request.count = static_cast<int64_t>(tokens.size());
  request.logits = logits;
  return request;
}

} // namespace tilewright
