// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bits: Intel Software Developer's Manual volume 2A (CPUID) and volume 1 section 13 (XCR0); AMD APM volume 3 appendix
// E.
#include "runtime/module/CpuFeatures.h"

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace tilewright {

#if defined(__x86_64__)
namespace {

enum Register { kEax, kEbx, kEcx, kEdx };

/// State the system must save: bits of XCR0.
constexpr uint64_t kNone = 0, kAvx = 0x6, kAvx512 = 0xe6, kTiles = 0x60000;

struct Bit {
  const char *name;
  uint32_t leaf;
  uint32_t subleaf;
  Register where;
  uint32_t bit;
  uint64_t state;
};

constexpr Bit kBits[] = {
    {"sse3", 1, 0, kEcx, 0, kNone},
    {"pclmul", 1, 0, kEcx, 1, kNone},
    {"ssse3", 1, 0, kEcx, 9, kNone},
    {"fma", 1, 0, kEcx, 12, kAvx},
    {"cx16", 1, 0, kEcx, 13, kNone},
    {"sse4.1", 1, 0, kEcx, 19, kNone},
    {"sse4.2", 1, 0, kEcx, 20, kNone},
    {"movbe", 1, 0, kEcx, 22, kNone},
    {"popcnt", 1, 0, kEcx, 23, kNone},
    {"aes", 1, 0, kEcx, 25, kNone},
    {"xsave", 1, 0, kEcx, 26, kNone},
    {"avx", 1, 0, kEcx, 28, kAvx},
    {"f16c", 1, 0, kEcx, 29, kAvx},
    {"rdrnd", 1, 0, kEcx, 30, kNone},
    {"cx8", 1, 0, kEdx, 8, kNone},
    {"cmov", 1, 0, kEdx, 15, kNone},
    {"mmx", 1, 0, kEdx, 23, kNone},
    {"fxsr", 1, 0, kEdx, 24, kNone},
    {"sse", 1, 0, kEdx, 25, kNone},
    {"sse2", 1, 0, kEdx, 26, kNone},
    {"fsgsbase", 7, 0, kEbx, 0, kNone},
    {"bmi", 7, 0, kEbx, 3, kNone},
    {"avx2", 7, 0, kEbx, 5, kAvx},
    {"bmi2", 7, 0, kEbx, 8, kNone},
    {"avx512f", 7, 0, kEbx, 16, kAvx512},
    {"avx512dq", 7, 0, kEbx, 17, kAvx512},
    {"rdseed", 7, 0, kEbx, 18, kNone},
    {"adx", 7, 0, kEbx, 19, kNone},
    {"avx512ifma", 7, 0, kEbx, 21, kAvx512},
    {"clflushopt", 7, 0, kEbx, 23, kNone},
    {"clwb", 7, 0, kEbx, 24, kNone},
    {"avx512cd", 7, 0, kEbx, 28, kAvx512},
    {"sha", 7, 0, kEbx, 29, kNone},
    {"avx512bw", 7, 0, kEbx, 30, kAvx512},
    {"avx512vl", 7, 0, kEbx, 31, kAvx512},
    {"avx512vbmi", 7, 0, kEcx, 1, kAvx512},
    {"avx512vbmi2", 7, 0, kEcx, 6, kAvx512},
    {"gfni", 7, 0, kEcx, 8, kNone},
    {"vaes", 7, 0, kEcx, 9, kAvx},
    {"vpclmulqdq", 7, 0, kEcx, 10, kAvx},
    {"avx512vnni", 7, 0, kEcx, 11, kAvx512},
    {"avx512bitalg", 7, 0, kEcx, 12, kAvx512},
    {"avx512vpopcntdq", 7, 0, kEcx, 14, kAvx512},
    {"avx512vp2intersect", 7, 0, kEdx, 8, kAvx512},
    {"amx-bf16", 7, 0, kEdx, 22, kTiles},
    {"avx512fp16", 7, 0, kEdx, 23, kAvx512},
    {"amx-tile", 7, 0, kEdx, 24, kTiles},
    {"amx-int8", 7, 0, kEdx, 25, kTiles},
    {"avxvnni", 7, 1, kEax, 4, kAvx},
    {"avx512bf16", 7, 1, kEax, 5, kAvx512},
    {"amx-fp16", 7, 1, kEax, 21, kTiles},
    {"avxifma", 7, 1, kEax, 23, kAvx},
    {"avxvnniint8", 7, 1, kEdx, 4, kAvx},
    {"avxneconvert", 7, 1, kEdx, 5, kAvx},
    {"avxvnniint16", 7, 1, kEdx, 10, kAvx},
    {"sahf", 0x80000001u, 0, kEcx, 0, kNone},
    {"lzcnt", 0x80000001u, 0, kEcx, 5, kNone},
    {"sse4a", 0x80000001u, 0, kEcx, 6, kNone},
    {"prfchw", 0x80000001u, 0, kEcx, 8, kNone},
};

uint64_t savedState() {
  uint32_t registers[4];
  constexpr uint32_t kOsxsave = 1u << 27;
  if (!__get_cpuid(1, &registers[kEax], &registers[kEbx], &registers[kEcx], &registers[kEdx]) ||
      !(registers[kEcx] & kOsxsave))
    return 0;
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<uint64_t>(high) << 32 | low;
}

std::set<std::string> detect() {
  const uint64_t saved = savedState();
  std::set<std::string> names;
  for (const Bit &bit : kBits) {
    uint32_t registers[4] = {};
    if (!__get_cpuid_count(bit.leaf, bit.subleaf, &registers[kEax], &registers[kEbx], &registers[kEcx],
                           &registers[kEdx]))
      continue;
    if (bit.leaf == 7 && bit.subleaf == 1) { // present only when subleaf 0 says so
      uint32_t head[4] = {};
      __get_cpuid_count(7, 0, &head[kEax], &head[kEbx], &head[kEcx], &head[kEdx]);
      if (head[kEax] < 1)
        continue;
    }
    if ((registers[bit.where] >> bit.bit & 1) && (saved & bit.state) == bit.state)
      names.insert(bit.name);
  }
  return names;
}

} // namespace

bool requestTileRegisters() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18; // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  static const bool granted = syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  return granted;
}

#elif defined(__aarch64__)
namespace {

/// Bits of AT_HWCAP, Linux Documentation/arch/arm64/elf_hwcaps.rst.
std::set<std::string> detect() {
  const unsigned long caps = getauxval(AT_HWCAP);
  std::set<std::string> names;
  auto add = [&](const char *name, unsigned bit) {
    if (caps >> bit & 1)
      names.insert(name);
  };
  add("fp-armv8", 0);
  add("neon", 1);
  add("lse", 8);
  add("fullfp16", 10);
  add("dotprod", 20);
  add("sve", 22);
  return names;
}

} // namespace

bool requestTileRegisters() { return false; }
#endif

const CpuFeatures &CpuFeatures::host() {
  static const CpuFeatures features(detect());
  return features;
}

} // namespace tilewright
