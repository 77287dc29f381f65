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

// CHECK-LABEL: func.func @sections
func.func @sections(%x: tensor<?x9x64xf32>, %p: tensor<3x?xi32>) {
  // CHECK: rotary_embedding.rotate %{{.*}}, %{{.*}} {attention_factor = 1.500000e+00 : f64, base = 1.000000e+06 : f64, rotary_dim = 64 : i64, section_layout = "interleaved", sections = array<i64: 12, 10, 10>} : tensor<?x9x64xf32>, tensor<3x?xi32>
  %0 = rotary_embedding.rotate %x, %p {base = 1000000.0 : f64, rotary_dim = 64 : i64, attention_factor = 1.5 : f64, sections = array<i64: 12, 10, 10>, section_layout = "interleaved"} : tensor<?x9x64xf32>, tensor<3x?xi32>
  return
}

// CHECK-LABEL: func.func @tables
func.func @tables(%x: tensor<?x9x64xf32>, %p: tensor<?xi32>, %f: tensor<32xf64>) {
  // CHECK: %[[C:.*]], %[[S:.*]] = rotary_embedding.tables %{{.*}} factors(%{{.*}} : tensor<32xf64>) {dim = 64 : i64} : tensor<?xi32> -> tensor<?x64xf32>
  %c, %s = rotary_embedding.tables %p factors(%f : tensor<32xf64>) {dim = 64 : i64, base = 10000.0 : f64} : tensor<?xi32> -> tensor<?x64xf32>
  // CHECK: rotary_embedding.apply %{{.*}}, %[[C]], %[[S]] {layout = "interleaved"} : tensor<?x9x64xf32>, tensor<?x64xf32>
  %0 = rotary_embedding.apply %x, %c, %s {layout = "interleaved"} : tensor<?x9x64xf32>, tensor<?x64xf32>
  return
}

// CHECK-LABEL: func.func @factors
func.func @factors(%n: tensor<?xi32>) {
  // CHECK: rotary_embedding.factors {base = 1.000000e+04 : f64, beta_fast = 1.600000e+01 : f64, factor = 8.000000e+00 : f64, kind = "yarn", original_max_position_embeddings = 4096 : i64, rotary_dim = 64 : i64, truncate = false} : tensor<32xf64>
  %0 = rotary_embedding.factors {kind = "yarn", base = 10000.0 : f64, rotary_dim = 64 : i64, factor = 8.0 : f64, original_max_position_embeddings = 4096 : i64, beta_fast = 16.0 : f64, truncate = false} : tensor<32xf64>
  // CHECK: rotary_embedding.factors lengths(%{{.*}} : tensor<?xi32>) {base = 1.000000e+04 : f64, kind = "longrope", long_factor = array<f64: 4.000000e+00>, original_max_position_embeddings = 4096 : i64, rotary_dim = 2 : i64, short_factor = array<f64: 1.000000e+00>} : tensor<?x1xf64>
  %1 = rotary_embedding.factors lengths(%n : tensor<?xi32>) {kind = "longrope", base = 10000.0 : f64, rotary_dim = 2 : i64, short_factor = array<f64: 1.0>, long_factor = array<f64: 4.0>, original_max_position_embeddings = 4096 : i64} : tensor<?x1xf64>
  return
}
