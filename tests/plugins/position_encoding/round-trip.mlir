// REQUIRES: plugin-position_encoding
// RUN: %tw-opt %s | %tw-opt | FileCheck %s
// RUN: %tw-opt --mlir-print-op-generic %s | %tw-opt | FileCheck %s

// CHECK-LABEL: func.func @absolute
func.func @absolute(%t: tensor<12x8xbf16>, %p: tensor<?x?xi32>) {
  // CHECK: position_encoding.sinusoidal %{{.*}} {dim = 8 : i64} : tensor<?x?xi32> -> tensor<?x?x8xf32>
  %0 = position_encoding.sinusoidal %p {dim = 8 : i64, base = 10000.0 : f64, layout = "interleaved"} : tensor<?x?xi32> -> tensor<?x?x8xf32>
  // CHECK: position_encoding.sinusoidal %{{.*}} {base = 1.000000e+02 : f64, dim = 7 : i64, layout = "half"} : tensor<?x?xi32> -> tensor<?x?x7xf16>
  %1 = position_encoding.sinusoidal %p {dim = 7 : i64, base = 100.0 : f64, layout = "half"} : tensor<?x?xi32> -> tensor<?x?x7xf16>
  // CHECK: position_encoding.learned %{{.*}}, %{{.*}} : tensor<12x8xbf16>, tensor<?x?xi32> -> tensor<?x?x8xbf16>
  %2 = position_encoding.learned %t, %p : tensor<12x8xbf16>, tensor<?x?xi32> -> tensor<?x?x8xbf16>
  return
}

// CHECK-LABEL: func.func @relative
func.func @relative(%p: tensor<?xi32>, %bp: tensor<?x?xi32>, %t: tensor<32x12xf32>) {
  // CHECK: position_encoding.offsets %{{.*}}, %{{.*}} {clip = 4 : i64} : tensor<?xi32>, tensor<?xi32> -> tensor<?x?xi32>
  %0 = position_encoding.offsets %p, %p {clip = 4 : i64} : tensor<?xi32>, tensor<?xi32> -> tensor<?x?xi32>
  // CHECK: position_encoding.t5_buckets %{{.*}}, %{{.*}} {bidirectional = true, max_distance = 128 : i64, num_buckets = 32 : i64} : tensor<?x?xi32>, tensor<?x?xi32> -> tensor<?x?x?xi32>
  %1 = position_encoding.t5_buckets %bp, %bp {bidirectional = true, num_buckets = 32 : i64, max_distance = 128 : i64} : tensor<?x?xi32>, tensor<?x?xi32> -> tensor<?x?x?xi32>
  // CHECK: position_encoding.alibi %{{.*}}, %{{.*}} {heads = 12 : i64, symmetric = true} : tensor<?xi32>, tensor<?xi32> -> tensor<1x12x?x?xf32>
  %2 = position_encoding.alibi %p, %p {heads = 12 : i64, symmetric = true} : tensor<?xi32>, tensor<?xi32> -> tensor<1x12x?x?xf32>
  // CHECK: position_encoding.relation_bias %{{.*}}, %{{.*}} : tensor<?x?x?xi32>, tensor<32x12xf32> -> tensor<?x12x?x?xf32>
  %3 = position_encoding.relation_bias %1, %t : tensor<?x?x?xi32>, tensor<32x12xf32> -> tensor<?x12x?x?xf32>
  return
}

// CHECK-LABEL: func.func @attention
func.func @attention(%q: tensor<?x4x?x8xf32>, %k: tensor<?x2x?x8xf32>, %r: tensor<?x?xi32>, %a: tensor<5x8xf32>, %b: tensor<1x4x?x?xf32>, %m: tensor<?x?xi1>) {
  // CHECK: position_encoding.relation_attention query(%{{.*}} : tensor<?x4x?x8xf32>) key(%{{.*}} : tensor<?x2x?x8xf32>) value(%{{.*}} : tensor<?x2x?x8xf32>) relation(%{{.*}} : tensor<?x?xi32>) key_table(%{{.*}} : tensor<5x8xf32>) value_table(%{{.*}} : tensor<5x8xf32>) bias(%{{.*}} : tensor<1x4x?x?xf32>) mask(%{{.*}} : tensor<?x?xi1>) {causal = "end", scale = 1.250000e-01 : f64} -> tensor<?x4x?x8xf32>
  %0 = position_encoding.relation_attention query(%q : tensor<?x4x?x8xf32>) key(%k : tensor<?x2x?x8xf32>) value(%k : tensor<?x2x?x8xf32>) relation(%r : tensor<?x?xi32>) key_table(%a : tensor<5x8xf32>) value_table(%a : tensor<5x8xf32>) bias(%b : tensor<1x4x?x?xf32>) mask(%m : tensor<?x?xi1>) {scale = 0.125 : f64, causal = "end"} -> tensor<?x4x?x8xf32>
  return
}
