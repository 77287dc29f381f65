// RUN: %tw-opt %s -pass-pipeline='builtin.module(func.func(cpu-contract-to-bf16-dot{level=avx512bf16}))' | FileCheck %s
// RUN: %tw-opt %s -pass-pipeline='builtin.module(func.func(cpu-contract-to-bf16-dot{level=avx2}))' | FileCheck %s --check-prefix=AVX2

#x = affine_map<(m, n, k, v) -> (m, k, v)>
#w = affine_map<(m, n, k, v) -> (k, n, v)>
#d = affine_map<(m, n, k, v) -> (m, n)>
// CHECK-LABEL: func @pairs
// AVX2-LABEL: func @pairs
func.func @pairs(%x: vector<2x1x2xbf16>, %w: vector<1x16x2xbf16>, %acc: vector<2x16xf32>) -> vector<2x16xf32> {
  // CHECK-COUNT-2: x86vector.avx512.dot
  // CHECK-NOT: x86vector.avx512.dot
  // The low half of a pair is moved up, the high half is cut out.
  // AVX2: arith.shli {{.*}} : i32
  // AVX2: arith.shli {{.*}} : vector<16xi32>
  // AVX2: vector.fma
  // AVX2: arith.andi {{.*}} : i32
  // AVX2: arith.andi {{.*}} : vector<16xi32>
  // AVX2: vector.fma
  // AVX2-NOT: vector.contract
  %a = arith.extf %x : vector<2x1x2xbf16> to vector<2x1x2xf32>
  %b = arith.extf %w : vector<1x16x2xbf16> to vector<1x16x2xf32>
  %r = vector.contract {indexing_maps = [#x, #w, #d], iterator_types = ["parallel", "parallel", "reduction", "reduction"],
      kind = #vector.kind<add>} %a, %b, %acc : vector<2x1x2xf32>, vector<1x16x2xf32> into vector<2x16xf32>
  return %r : vector<2x16xf32>
}
