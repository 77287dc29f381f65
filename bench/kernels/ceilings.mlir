// What this machine can do at most: instructions from registers alone, and a streaming read.
// 1000 rounds of 12 fused multiply-adds of 16 lanes a chunk.
func.func @fma(%out: memref<64xf32>, %begin: index, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rounds = arith.constant 1000 : index
  scf.for %chunk = %begin to %end step %c1 {
    %v = vector.load %out[%c0] : memref<64xf32>, vector<16xf32>
    %x = arith.addf %v, %v : vector<16xf32>
    %y = arith.mulf %x, %v : vector<16xf32>
    // Different starts, else the chains would be one.
    %n0 = arith.constant dense<1.0> : vector<16xf32>
    %v0 = arith.addf %v, %n0 : vector<16xf32>
    %n1 = arith.constant dense<2.0> : vector<16xf32>
    %v1 = arith.addf %v, %n1 : vector<16xf32>
    %n2 = arith.constant dense<3.0> : vector<16xf32>
    %v2 = arith.addf %v, %n2 : vector<16xf32>
    %n3 = arith.constant dense<4.0> : vector<16xf32>
    %v3 = arith.addf %v, %n3 : vector<16xf32>
    %n4 = arith.constant dense<5.0> : vector<16xf32>
    %v4 = arith.addf %v, %n4 : vector<16xf32>
    %n5 = arith.constant dense<6.0> : vector<16xf32>
    %v5 = arith.addf %v, %n5 : vector<16xf32>
    %n6 = arith.constant dense<7.0> : vector<16xf32>
    %v6 = arith.addf %v, %n6 : vector<16xf32>
    %n7 = arith.constant dense<8.0> : vector<16xf32>
    %v7 = arith.addf %v, %n7 : vector<16xf32>
    %n8 = arith.constant dense<9.0> : vector<16xf32>
    %v8 = arith.addf %v, %n8 : vector<16xf32>
    %n9 = arith.constant dense<10.0> : vector<16xf32>
    %v9 = arith.addf %v, %n9 : vector<16xf32>
    %n10 = arith.constant dense<11.0> : vector<16xf32>
    %v10 = arith.addf %v, %n10 : vector<16xf32>
    %n11 = arith.constant dense<12.0> : vector<16xf32>
    %v11 = arith.addf %v, %n11 : vector<16xf32>
    %r:12 = scf.for %i = %c0 to %rounds step %c1 iter_args(%a0 = %v0, %a1 = %v1, %a2 = %v2, %a3 = %v3, %a4 = %v4, %a5 = %v5, %a6 = %v6, %a7 = %v7, %a8 = %v8, %a9 = %v9, %a10 = %v10, %a11 = %v11) -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {
      %b0 = vector.fma %x, %y, %a0 : vector<16xf32>
      %b1 = vector.fma %x, %y, %a1 : vector<16xf32>
      %b2 = vector.fma %x, %y, %a2 : vector<16xf32>
      %b3 = vector.fma %x, %y, %a3 : vector<16xf32>
      %b4 = vector.fma %x, %y, %a4 : vector<16xf32>
      %b5 = vector.fma %x, %y, %a5 : vector<16xf32>
      %b6 = vector.fma %x, %y, %a6 : vector<16xf32>
      %b7 = vector.fma %x, %y, %a7 : vector<16xf32>
      %b8 = vector.fma %x, %y, %a8 : vector<16xf32>
      %b9 = vector.fma %x, %y, %a9 : vector<16xf32>
      %b10 = vector.fma %x, %y, %a10 : vector<16xf32>
      %b11 = vector.fma %x, %y, %a11 : vector<16xf32>
      scf.yield %b0, %b1, %b2, %b3, %b4, %b5, %b6, %b7, %b8, %b9, %b10, %b11 : vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>
    }
    %s0 = arith.addf %r#0, %v : vector<16xf32>
    %s1 = arith.addf %r#1, %s0 : vector<16xf32>
    %s2 = arith.addf %r#2, %s1 : vector<16xf32>
    %s3 = arith.addf %r#3, %s2 : vector<16xf32>
    %s4 = arith.addf %r#4, %s3 : vector<16xf32>
    %s5 = arith.addf %r#5, %s4 : vector<16xf32>
    %s6 = arith.addf %r#6, %s5 : vector<16xf32>
    %s7 = arith.addf %r#7, %s6 : vector<16xf32>
    %s8 = arith.addf %r#8, %s7 : vector<16xf32>
    %s9 = arith.addf %r#9, %s8 : vector<16xf32>
    %s10 = arith.addf %r#10, %s9 : vector<16xf32>
    %s11 = arith.addf %r#11, %s10 : vector<16xf32>
    vector.store %s11, %out[%c0] : memref<64xf32>, vector<16xf32>
  }
  return
}
// 1000 rounds of 12 vpdpbusd a chunk.
func.func @vpdpbusd(%out: memref<64xi8>, %begin: index, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rounds = arith.constant 1000 : index
  scf.for %chunk = %begin to %end step %c1 {
    %x = vector.load %out[%c0] : memref<64xi8>, vector<64xi8>
    %y = arith.addi %x, %x : vector<64xi8>
    %z = vector.bitcast %x : vector<64xi8> to vector<16xi32>
    %n0 = arith.constant dense<1> : vector<16xi32>
    %z0 = arith.addi %z, %n0 : vector<16xi32>
    %n1 = arith.constant dense<2> : vector<16xi32>
    %z1 = arith.addi %z, %n1 : vector<16xi32>
    %n2 = arith.constant dense<3> : vector<16xi32>
    %z2 = arith.addi %z, %n2 : vector<16xi32>
    %n3 = arith.constant dense<4> : vector<16xi32>
    %z3 = arith.addi %z, %n3 : vector<16xi32>
    %n4 = arith.constant dense<5> : vector<16xi32>
    %z4 = arith.addi %z, %n4 : vector<16xi32>
    %n5 = arith.constant dense<6> : vector<16xi32>
    %z5 = arith.addi %z, %n5 : vector<16xi32>
    %n6 = arith.constant dense<7> : vector<16xi32>
    %z6 = arith.addi %z, %n6 : vector<16xi32>
    %n7 = arith.constant dense<8> : vector<16xi32>
    %z7 = arith.addi %z, %n7 : vector<16xi32>
    %n8 = arith.constant dense<9> : vector<16xi32>
    %z8 = arith.addi %z, %n8 : vector<16xi32>
    %n9 = arith.constant dense<10> : vector<16xi32>
    %z9 = arith.addi %z, %n9 : vector<16xi32>
    %n10 = arith.constant dense<11> : vector<16xi32>
    %z10 = arith.addi %z, %n10 : vector<16xi32>
    %n11 = arith.constant dense<12> : vector<16xi32>
    %z11 = arith.addi %z, %n11 : vector<16xi32>
    %r:12 = scf.for %i = %c0 to %rounds step %c1 iter_args(%a0 = %z0, %a1 = %z1, %a2 = %z2, %a3 = %z3, %a4 = %z4, %a5 = %z5, %a6 = %z6, %a7 = %z7, %a8 = %z8, %a9 = %z9, %a10 = %z10, %a11 = %z11) -> (vector<16xi32>, vector<16xi32>, vector<16xi32>, vector<16xi32>, vector<16xi32>, vector<16xi32>, vector<16xi32>, vector<16xi32>, vector<16xi32>, vector<16xi32>, vector<16xi32>, vector<16xi32>) {
      %b0 = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%a0, %x, %y) : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
      %b1 = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%a1, %x, %y) : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
      %b2 = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%a2, %x, %y) : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
      %b3 = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%a3, %x, %y) : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
      %b4 = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%a4, %x, %y) : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
      %b5 = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%a5, %x, %y) : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
      %b6 = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%a6, %x, %y) : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
      %b7 = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%a7, %x, %y) : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
      %b8 = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%a8, %x, %y) : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
      %b9 = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%a9, %x, %y) : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
      %b10 = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%a10, %x, %y) : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
      %b11 = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%a11, %x, %y) : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
      scf.yield %b0, %b1, %b2, %b3, %b4, %b5, %b6, %b7, %b8, %b9, %b10, %b11 : vector<16xi32>, vector<16xi32>, vector<16xi32>, vector<16xi32>, vector<16xi32>, vector<16xi32>, vector<16xi32>, vector<16xi32>, vector<16xi32>, vector<16xi32>, vector<16xi32>, vector<16xi32>
    }
    %s0 = arith.addi %r#0, %z : vector<16xi32>
    %s1 = arith.addi %r#1, %s0 : vector<16xi32>
    %s2 = arith.addi %r#2, %s1 : vector<16xi32>
    %s3 = arith.addi %r#3, %s2 : vector<16xi32>
    %s4 = arith.addi %r#4, %s3 : vector<16xi32>
    %s5 = arith.addi %r#5, %s4 : vector<16xi32>
    %s6 = arith.addi %r#6, %s5 : vector<16xi32>
    %s7 = arith.addi %r#7, %s6 : vector<16xi32>
    %s8 = arith.addi %r#8, %s7 : vector<16xi32>
    %s9 = arith.addi %r#9, %s8 : vector<16xi32>
    %s10 = arith.addi %r#10, %s9 : vector<16xi32>
    %s11 = arith.addi %r#11, %s10 : vector<16xi32>
    %t = vector.bitcast %s11 : vector<16xi32> to vector<64xi8>
    vector.store %t, %out[%c0] : memref<64xi8>, vector<64xi8>
  }
  return
}
// Reads 64 KiB a chunk.
func.func @read(%in: memref<?x1024x64xi8>, %out: memref<64xi8>, %begin: index, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c1024 = arith.constant 1024 : index
  %v = vector.load %out[%c0] : memref<64xi8>, vector<64xi8>
  %r = scf.for %chunk = %begin to %end step %c1 iter_args(%s = %v) -> (vector<64xi8>) {
    %t = scf.for %i = %c0 to %c1024 step %c4 iter_args(%a = %s) -> (vector<64xi8>) {
      %i1 = arith.addi %i, %c1 : index
      %i2 = arith.addi %i, %c2 : index
      %i3 = arith.addi %i, %c3 : index
      %x0 = vector.load %in[%chunk, %i, %c0] : memref<?x1024x64xi8>, vector<64xi8>
      %x1 = vector.load %in[%chunk, %i1, %c0] : memref<?x1024x64xi8>, vector<64xi8>
      %x2 = vector.load %in[%chunk, %i2, %c0] : memref<?x1024x64xi8>, vector<64xi8>
      %x3 = vector.load %in[%chunk, %i3, %c0] : memref<?x1024x64xi8>, vector<64xi8>
      %y0 = arith.xori %x0, %x1 : vector<64xi8>
      %y1 = arith.xori %x2, %x3 : vector<64xi8>
      %y2 = arith.xori %y0, %y1 : vector<64xi8>
      %b = arith.xori %a, %y2 : vector<64xi8>
      scf.yield %b : vector<64xi8>
    }
    scf.yield %t : vector<64xi8>
  }
  vector.store %r, %out[%c0] : memref<64xi8>, vector<64xi8>
  return
}
