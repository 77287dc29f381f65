// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/api/Plugin.h"
#include "plugins/other/Other.h"
StringRef getArgument() const final { return "norm-fold"; }
