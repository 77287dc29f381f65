// RUN: %tw-opt %s -pass-pipeline='builtin.module(func.func(cpu-contract-to-pmadd))' | FileCheck %s

#x = affine_map<(m, n, k, v) -> (m, k, v)>
#w = affine_map<(m, n, k, v) -> (k, n, v)>
#d = affine_map<(m, n, k, v) -> (m, n)>

// Nibbles cannot saturate: vpmaddubsw on halves of 8 columns, the unsigned operand first; sums of both quads are added in
// 16 bits and widened once.
// CHECK-LABEL: func @nibbles
func.func @nibbles(%x: vector<1x2x4xi8>, %w: vector<2x16x4xi8>, %acc: vector<1x16xi32>) -> vector<1x16xi32> {
  // CHECK: %[[B:.*]] = vector.bitcast {{.*}} : vector<8xi32> to vector<32xi8>
  // CHECK: %[[W:.*]] = vector.extract_strided_slice {{.*}} {offsets = [0], sizes = [32]
  // CHECK: %[[P:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"(%[[W]], %[[B]])
  // CHECK: vector.extract_strided_slice {{.*}} {offsets = [32], sizes = [32]
  // CHECK: pmadd.ub.sw
  // CHECK: %[[Q:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
  // CHECK: %[[S:.*]] = arith.addi %[[P]], %[[Q]] : vector<16xi16>
  // CHECK: pmadd.ub.sw
  // CHECK: arith.addi {{.*}} : vector<16xi16>
  // CHECK: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"(%[[S]], %{{.*}})
  // CHECK: arith.addi {{.*}} : vector<8xi32>
  // CHECK: pmadd.wd
  // CHECK-NOT: pmadd
  // CHECK: return
  %mask = arith.constant dense<15> : vector<2x16x4xi8>
  %low = arith.andi %w, %mask : vector<2x16x4xi8>
  %a = arith.extsi %x : vector<1x2x4xi8> to vector<1x2x4xi32>
  %b = arith.extui %low : vector<2x16x4xi8> to vector<2x16x4xi32>
  %r = vector.contract {indexing_maps = [#x, #w, #d], iterator_types = ["parallel", "parallel", "reduction", "reduction"],
      kind = #vector.kind<add>} %a, %b, %acc : vector<1x2x4xi32>, vector<2x16x4xi32> into vector<1x16xi32>
  return %r : vector<1x16xi32>
}

// Numbers up to 127 fill 16 bits with one sum: each is widened on its own.
// CHECK-LABEL: func @seven_bits
func.func @seven_bits(%x: vector<1x2x4xi8>, %w: vector<2x8x4xi8>, %acc: vector<1x8xi32>) -> vector<1x8xi32> {
  // CHECK: pmadd.ub.sw
  // CHECK: pmadd.wd
  // CHECK: pmadd.ub.sw
  // CHECK: pmadd.wd
  // CHECK-NOT: pmadd
  // CHECK: return
  %one = arith.constant dense<1> : vector<2x8x4xi8>
  %low = arith.shrui %w, %one : vector<2x8x4xi8>
  %a = arith.extsi %x : vector<1x2x4xi8> to vector<1x2x4xi32>
  %b = arith.extui %low : vector<2x8x4xi8> to vector<2x8x4xi32>
  %r = vector.contract {indexing_maps = [#x, #w, #d], iterator_types = ["parallel", "parallel", "reduction", "reduction"],
      kind = #vector.kind<add>} %a, %b, %acc : vector<1x2x4xi32>, vector<2x8x4xi32> into vector<1x8xi32>
  return %r : vector<1x8xi32>
}

// Any byte can: even and odd bytes as 16-bit words.
// CHECK-LABEL: func @bytes
func.func @bytes(%x: vector<1x1x4xi8>, %w: vector<1x8x4xi8>, %acc: vector<1x8xi32>) -> vector<1x8xi32> {
  // CHECK-NOT: pmadd.ub.sw
  // CHECK: arith.shli
  // CHECK: arith.shrui
  // CHECK: arith.shrsi
  // CHECK: pmadd.wd
  // CHECK: arith.shrui
  // CHECK: arith.shrsi
  // CHECK: pmadd.wd
  // CHECK-NOT: pmadd
  %a = arith.extsi %x : vector<1x1x4xi8> to vector<1x1x4xi32>
  %b = arith.extui %w : vector<1x8x4xi8> to vector<1x8x4xi32>
  %r = vector.contract {indexing_maps = [#x, #w, #d], iterator_types = ["parallel", "parallel", "reduction", "reduction"],
      kind = #vector.kind<add>} %a, %b, %acc : vector<1x1x4xi32>, vector<1x8x4xi32> into vector<1x8xi32>
  return %r : vector<1x8xi32>
}

// A mask of 255 proves nothing.
// CHECK-LABEL: func @wide_mask
func.func @wide_mask(%x: vector<1x1x4xi8>, %w: vector<1x8x4xi8>, %acc: vector<1x8xi32>) -> vector<1x8xi32> {
  // CHECK-NOT: pmadd.ub.sw
  // CHECK: return
  %mask = arith.constant dense<-1> : vector<1x8x4xi8>
  %low = arith.andi %w, %mask : vector<1x8x4xi8>
  %a = arith.extsi %x : vector<1x1x4xi8> to vector<1x1x4xi32>
  %b = arith.extui %low : vector<1x8x4xi8> to vector<1x8x4xi32>
  %r = vector.contract {indexing_maps = [#x, #w, #d], iterator_types = ["parallel", "parallel", "reduction", "reduction"],
      kind = #vector.kind<add>} %a, %b, %acc : vector<1x1x4xi32>, vector<1x8x4xi32> into vector<1x8xi32>
  return %r : vector<1x8xi32>
}
