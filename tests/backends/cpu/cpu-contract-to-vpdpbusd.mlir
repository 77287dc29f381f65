// RUN: %tw-opt %s -pass-pipeline='builtin.module(func.func(cpu-contract-to-vpdpbusd{level=avx512}))' | FileCheck %s
// RUN: %tw-opt %s -pass-pipeline='builtin.module(func.func(cpu-contract-to-vpdpbusd{level=avx2}))' | FileCheck %s --check-prefix=AVX2

#x = affine_map<(m, n, k, v) -> (m, k, v)>
#w = affine_map<(m, n, k, v) -> (k, n, v)>
#d = affine_map<(m, n, k, v) -> (m, n)>

// One instruction for each row and quad; left quads are loaded where they are used, right rows are slices of a flat vector.
// CHECK-LABEL: func @unsigned_right
// AVX2-LABEL: func @unsigned_right
func.func @unsigned_right(%x: memref<2x2x4xi8>, %w: vector<2x16x4xi8>, %acc: vector<2x16xi32>) -> vector<2x16xi32> {
  // CHECK: vector.load %{{.*}} : memref<2x2x4xi8>, vector<4xi8>
  // CHECK: %[[W:.*]] = vector.shape_cast %{{.*}} : vector<2x16x4xi8> to vector<128xi8>
  // CHECK: %[[B:.*]] = vector.broadcast {{.*}} : i32 to vector<16xi32>
  // CHECK: %[[L:.*]] = vector.bitcast %[[B]] : vector<16xi32> to vector<64xi8>
  // CHECK: %[[R:.*]] = vector.extract_strided_slice %[[W]] {offsets = [0], sizes = [64]
  // CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}, %[[R]], %[[L]])
  // CHECK-COUNT-3: vpdpbusd
  // CHECK-NOT: vpdpbusd
  // CHECK-NOT: vector.contract
  // AVX2: vector.contract
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0 : i8
  %v = vector.transfer_read %x[%c0, %c0, %c0], %pad {in_bounds = [true, true, true]} : memref<2x2x4xi8>, vector<2x2x4xi8>
  %a = arith.extsi %v : vector<2x2x4xi8> to vector<2x2x4xi32>
  %b = arith.extui %w : vector<2x16x4xi8> to vector<2x16x4xi32>
  %r = vector.contract {indexing_maps = [#x, #w, #d], iterator_types = ["parallel", "parallel", "reduction", "reduction"],
      kind = #vector.kind<add>} %a, %b, %acc : vector<2x2x4xi32>, vector<2x16x4xi32> into vector<2x16xi32>
  return %r : vector<2x16xi32>
}

// The unsigned operand comes second in the instruction, whichever side it is.
// CHECK-LABEL: func @unsigned_left
func.func @unsigned_left(%x: vector<1x1x4xi8>, %w: vector<1x16x4xi8>, %acc: vector<1x16xi32>) -> vector<1x16xi32> {
  // CHECK: %[[L:.*]] = vector.bitcast {{.*}} : vector<16xi32> to vector<64xi8>
  // CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}, %[[L]], %{{.*}})
  %a = arith.extui %x : vector<1x1x4xi8> to vector<1x1x4xi32>
  %b = arith.extsi %w : vector<1x16x4xi8> to vector<1x16x4xi32>
  %r = vector.contract {indexing_maps = [#x, #w, #d], iterator_types = ["parallel", "parallel", "reduction", "reduction"],
      kind = #vector.kind<add>} %a, %b, %acc : vector<1x1x4xi32>, vector<1x16x4xi32> into vector<1x16xi32>
  return %r : vector<1x16xi32>
}

// Two signed operands have no instruction at this level.
// CHECK-LABEL: func @both_signed
func.func @both_signed(%x: vector<1x1x4xi8>, %w: vector<1x16x4xi8>, %acc: vector<1x16xi32>) -> vector<1x16xi32> {
  // CHECK: vector.contract
  %a = arith.extsi %x : vector<1x1x4xi8> to vector<1x1x4xi32>
  %b = arith.extsi %w : vector<1x16x4xi8> to vector<1x16x4xi32>
  %r = vector.contract {indexing_maps = [#x, #w, #d], iterator_types = ["parallel", "parallel", "reduction", "reduction"],
      kind = #vector.kind<add>} %a, %b, %acc : vector<1x1x4xi32>, vector<1x16x4xi32> into vector<1x16xi32>
  return %r : vector<1x16xi32>
}
