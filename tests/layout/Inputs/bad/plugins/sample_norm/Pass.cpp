// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugins/other/Other.h"
#include "plugins/api/Plugin.h"
StringRef getArgument() const final { return "norm-fold"; }
