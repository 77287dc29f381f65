// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a compiled kernel really consists of, read from its object code.
#pragma once

#include "backends/cpu/Compile.h"

#include <string>

namespace tilewright {

struct InstructionSummary {
  /// The instruction that does the kernel's arithmetic: the widest product it has ("vpdpbusd", "vpmaddubsw",
  /// "vdpbf16ps", "vfmadd"), else "vector" for other arithmetic on whole registers, "scalar" for none.
  std::string main;
  /// Products of one number at a time stand where whole registers should: the schedule did not apply.
  bool fallback = false;
};

/// Disassembles the code sections of a kernel's object.
llvm::Expected<InstructionSummary> summarizeInstructions(const ObjectBytes &object);

} // namespace tilewright
