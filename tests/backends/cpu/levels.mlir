// RUN: not %tw-opt %s -pass-pipeline='builtin.module(func.func(cpu-schedule-tiles{level=sse2}))' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not %tw-opt %s -pass-pipeline='builtin.module(func.func(cpu-schedule-tiles{level=amx}))' 2>&1 | FileCheck %s --check-prefix=AMX

// UNKNOWN: error: unknown CPU level 'sse2', wanted one of: avx2, avx512, avx512bf16
// AMX: error: level 'amx' is not supported yet: it follows later; use 'avx512bf16'
func.func @nothing() {
  return
}
