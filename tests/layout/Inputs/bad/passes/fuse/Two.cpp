// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A comment may say sample_norm.
#include "backends/cpu/Cpu.h"
StringRef getArgument() const final { return "one-pass"; }
StringRef getArgument() const final { return "two-pass"; }
StringRef wrong = "sample_norm.norm";
