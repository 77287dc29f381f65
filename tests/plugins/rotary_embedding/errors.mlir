// REQUIRES: plugin-rotary_embedding
// RUN: %tw-opt %s --split-input-file --verify-diagnostics
// The samples hold a bad use for each constraint.
// RUN: %tw-opt %root/plugins/rotary_embedding/samples.mlir --split-input-file --verify-diagnostics -o /dev/null

func.func @rotate_c1_rank(%x: tensor<4x8xf32>, %p: tensor<4xi32>) {
  // expected-error @+1 {{wants an input [N, H, D] with positions [N], or [B, H, T, D] with [B, T] or [T]; found 'tensor<4x8xf32>' and 'tensor<4xi32>'}}
  %0 = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64} : tensor<4x8xf32>, tensor<4xi32>
  return
}

// -----

func.func @rotate_c1_positions(%x: tensor<4x2x8xf32>, %p: tensor<4x2xi32>) {
  // expected-error @+1 {{found 'tensor<4x2x8xf32>' and 'tensor<4x2xi32>'}}
  %0 = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64} : tensor<4x2x8xf32>, tensor<4x2xi32>
  return
}

// -----

func.func @rotate_c1_dynamic(%x: tensor<4x2x?xf32>, %p: tensor<4xi32>) {
  // expected-error @+1 {{wants a static last dimension, found 'tensor<4x2x?xf32>'}}
  %0 = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64} : tensor<4x2x?xf32>, tensor<4xi32>
  return
}

// -----

func.func @rotate_c2(%x: tensor<4x2x8xf32>, %p: tensor<5xi32>) {
  // expected-error @+1 {{has 5 positions along dimension 0 of the input, wanted 4}}
  %0 = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64} : tensor<4x2x8xf32>, tensor<5xi32>
  return
}

// -----

func.func @rotate_c2_dense(%x: tensor<2x3x4x8xf32>, %p: tensor<2x5xi32>) {
  // expected-error @+1 {{has 5 positions along dimension 2 of the input, wanted 4}}
  %0 = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64} : tensor<2x3x4x8xf32>, tensor<2x5xi32>
  return
}

// -----

func.func @rotate_c3_odd(%x: tensor<4x2x8xf32>, %p: tensor<4xi32>) {
  // expected-error @+1 {{wants an even rotary_dim from 0 to 8, found 5}}
  %0 = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 5 : i64} : tensor<4x2x8xf32>, tensor<4xi32>
  return
}

// -----

func.func @rotate_c3_large(%x: tensor<4x2x8xf32>, %p: tensor<4xi32>) {
  // expected-error @+1 {{wants an even rotary_dim from 0 to 8, found 10}}
  %0 = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 10 : i64} : tensor<4x2x8xf32>, tensor<4xi32>
  return
}

// -----

func.func @rotate_c4(%x: tensor<4x2x8xf32>, %p: tensor<4xi32>) {
  // expected-error @+1 {{wants a finite base above 0, found 0.000000e+00}}
  %0 = rotary_embedding.rotate %x, %p {base = 0.0 : f64, rotary_dim = 8 : i64} : tensor<4x2x8xf32>, tensor<4xi32>
  return
}

// -----

func.func @rotate_c5(%x: tensor<4x2x8xf32>, %p: tensor<4xi32>, %f: tensor<8xf32>) {
  // expected-error @+1 {{wants factors of shape [4] or [rows..., 4], found 'tensor<8xf32>'}}
  %0 = rotary_embedding.rotate %x, %p factors(%f : tensor<8xf32>) {base = 10000.0 : f64, rotary_dim = 8 : i64} : tensor<4x2x8xf32>, tensor<4xi32>
  return
}

// -----

func.func @layout(%x: tensor<4x2x8xf32>, %p: tensor<4xi32>) {
  // expected-error @+1 {{attribute 'layout' failed to satisfy constraint: one of half, interleaved}}
  %0 = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64, layout = "pairs"} : tensor<4x2x8xf32>, tensor<4xi32>
  return
}
