// REQUIRES: plugin-rotary_embedding
// RUN: %tw-opt %s | %tw-opt | FileCheck %s
// RUN: %tw-opt --mlir-print-op-generic %s | %tw-opt | FileCheck %s

// CHECK-LABEL: func.func @rotate
func.func @rotate(%x: tensor<?x9x64xf32>, %p: tensor<?xi32>, %f: tensor<32xf32>) {
  // CHECK: rotary_embedding.rotate %{{.*}}, %{{.*}} {base = 1.000000e+04 : f64, rotary_dim = 64 : i64} : tensor<?x9x64xf32>, tensor<?xi32>
  %0 = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 64 : i64, layout = "half"} : tensor<?x9x64xf32>, tensor<?xi32>
  // CHECK: rotary_embedding.rotate %{{.*}}, %{{.*}} factors(%{{.*}} : tensor<32xf32>) {base = 5.000000e+05 : f64, layout = "interleaved", rotary_dim = 64 : i64}
  %1 = rotary_embedding.rotate %x, %p factors(%f : tensor<32xf32>) {base = 500000.0 : f64, rotary_dim = 64 : i64, layout = "interleaved"} : tensor<?x9x64xf32>, tensor<?xi32>
  return
}

// CHECK-LABEL: func.func @dense
func.func @dense(%x: tensor<?x3x?x16xbf16>, %p: tensor<?x?xi32>, %t: tensor<?xi32>) {
  // CHECK: rotary_embedding.rotate %{{.*}}, %{{.*}} {base = 1.000000e+04 : f64, rotary_dim = 8 : i64} : tensor<?x3x?x16xbf16>, tensor<?x?xi32>
  %0 = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64} : tensor<?x3x?x16xbf16>, tensor<?x?xi32>
  // CHECK: rotary_embedding.rotate %{{.*}} : tensor<?x3x?x16xbf16>, tensor<?xi32>
  %1 = rotary_embedding.rotate %x, %t {base = 10000.0 : f64, rotary_dim = 16 : i64} : tensor<?x3x?x16xbf16>, tensor<?xi32>
  return
}
