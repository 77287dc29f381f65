// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the C interface's handles are, for C++ code of this project that needs more than the C interface offers.
#pragma once

#include "runtime/exec/Model.h"

struct tw_model {
  std::shared_ptr<tilewright::Model> model;
};

struct tw_session {
  std::shared_ptr<tilewright::Session> session;
};
