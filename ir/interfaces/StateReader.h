// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How far back an op reads a state (StateReader.td).
#pragma once

#include "mlir/IR/OpDefinition.h"

#include <optional>

#include "ir/interfaces/StateReader.h.inc"
