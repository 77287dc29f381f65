// RUN: %tw-opt %s -split-input-file -verify-diagnostics -pass-pipeline='builtin.module(cpu-check-intrinsics{level=avx2})'

func.func @has(%a: vector<16xi16>) -> vector<8xi32> {
  %r = llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"(%a, %a) : (vector<16xi16>, vector<16xi16>) -> vector<8xi32>
  return %r : vector<8xi32>
}

// -----

func.func @lacks(%a: vector<16xi32>, %b: vector<64xi8>) -> vector<16xi32> {
  // expected-error @below {{uses 'llvm.x86.avx512.vpdpbusd.512', which needs CPU feature 'avx512vnni'; level 'avx2' does not have it}}
  %r = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%a, %b, %b) : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
  return %r : vector<16xi32>
}

// -----

func.func @bf16(%a: vector<16xf32>, %b: vector<32xbf16>) -> vector<16xf32> {
  // expected-error @below {{uses 'x86vector.avx512.dot', which needs CPU feature 'avx512bf16'; level 'avx2' does not have it}}
  %r = x86vector.avx512.dot %a, %b, %b : vector<32xbf16> -> vector<16xf32>
  return %r : vector<16xf32>
}

// -----

func.func @unknown(%a: vector<16xi32>) -> vector<16xi32> {
  // expected-error @below {{uses intrinsic 'llvm.x86.made.up', whose CPU feature is not known}}
  %r = llvm.call_intrinsic "llvm.x86.made.up"(%a) : (vector<16xi32>) -> vector<16xi32>
  return %r : vector<16xi32>
}
