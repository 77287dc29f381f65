// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/cpu/Level.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

using namespace llvm;

namespace tilewright {

// x86-64-v4 has neither VNNI nor BF16; both are features of their own. Feature names are LLVM's, which
// sys::getHostCPUFeatures uses too.
static const StringRef avx2Features[] = {"avx2", "fma", "f16c", "bmi", "bmi2", "lzcnt", "movbe", "popcnt"};
static const StringRef avx512Features[] = {"avx2",     "fma",      "f16c",     "bmi",       "bmi2",
                                           "lzcnt",    "movbe",    "popcnt",   "avx512f",   "avx512bw",
                                           "avx512cd", "avx512dq", "avx512vl", "avx512vnni"};
static const StringRef avx512bf16Features[] = {"avx2",     "fma",      "f16c",     "bmi",        "bmi2",
                                               "lzcnt",    "movbe",    "popcnt",   "avx512f",    "avx512bw",
                                               "avx512cd", "avx512dq", "avx512vl", "avx512vnni", "avx512bf16"};

static const CpuLevel levels[] = {
    {"avx2", "x86-64-v3", "", avx2Features, 32, 16, false, false},
    {"avx512", "x86-64-v4", "+avx512vnni", avx512Features, 64, 32, true, false},
    {"avx512bf16", "x86-64-v4", "+avx512vnni,+avx512bf16", avx512bf16Features, 64, 32, true, true},
};

ArrayRef<CpuLevel> CpuLevel::all() { return levels; }

Expected<const CpuLevel *> CpuLevel::find(StringRef name) {
  for (const CpuLevel &level : levels)
    if (level.name == name)
      return &level;
  if (name == "amx")
    return createStringError("level 'amx' is not supported yet: it follows later; use 'avx512bf16'");
  std::string known;
  for (const CpuLevel &level : levels)
    known += (known.empty() ? "" : ", ") + level.name.str();
  return createStringError("unknown CPU level '" + name + "', wanted one of: " + known);
}

bool CpuLevel::runsHere() const {
  StringMap<bool> host = sys::getHostCPUFeatures();
  return llvm::all_of(cpuFeatures, [&](StringRef feature) { return host.lookup(feature); });
}

SmallVector<const CpuLevel *> hostCpuLevels() {
  SmallVector<const CpuLevel *> found;
  for (const CpuLevel &level : levels)
    if (level.runsHere())
      found.push_back(&level);
  return found;
}

} // namespace tilewright
