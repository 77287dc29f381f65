// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Levels of the x86-64 instruction set for which kernels are compiled. A level is a set of CPUID features, never a
// CPU's name.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace tilewright {

/// One level and what code generation needs to know about it.
struct CpuLevel {
  llvm::StringRef name;                        ///< "avx2", "avx512", "avx512bf16"
  llvm::StringRef llvmCpu;                     ///< base feature set in LLVM's words
  llvm::StringRef llvmFeatures;                ///< features beyond it, in LLVM's words
  llvm::ArrayRef<llvm::StringRef> cpuFeatures; ///< CPUID features the level needs, for the manifest and the loader
  unsigned vectorBytes;                        ///< bytes of a vector register
  unsigned vectorRegisters;                    ///< number of vector registers
  bool dotProductI8;                           ///< vpdpbusd on whole registers
  bool dotProductBf16;                         ///< vdpbf16ps, vcvtneps2bf16

  unsigned f32Lanes() const { return vectorBytes / 4; }

  /// The level of that name, or an error that lists the known ones. "amx" is known and refused.
  static llvm::Expected<const CpuLevel *> find(llvm::StringRef name);
  /// All levels, lowest first.
  static llvm::ArrayRef<CpuLevel> all();
  /// Can this machine run the level?
  bool runsHere() const;
};

/// The levels this machine runs, lowest first.
llvm::SmallVector<const CpuLevel *> hostCpuLevels();

} // namespace tilewright
