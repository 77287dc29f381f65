// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What this CPU and its operating system can run, by LLVM's feature names, from CPUID bits alone.
#pragma once

#include <set>
#include <string>

namespace tilewright {

class CpuFeatures {
public:
  explicit CpuFeatures(std::set<std::string> names) : names(std::move(names)) {}

  /// This machine's. On x86-64 a feature whose registers the system does not save is left out.
  static const CpuFeatures &host();

  bool has(const std::string &name) const { return names.count(name) != 0; }

private:
  std::set<std::string> names;
};

/// Asks the kernel for the AMX tile registers, once per process. False: it refused, tile instructions would fault.
bool requestTileRegisters();

} // namespace tilewright
