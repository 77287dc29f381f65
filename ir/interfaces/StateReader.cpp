// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/interfaces/StateReader.h"

#include "ir/interfaces/StateReader.cpp.inc"
