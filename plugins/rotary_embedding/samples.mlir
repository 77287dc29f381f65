// What `tilewright plugins check` tries (docs/conformance.md).
func.func @half(%x: tensor<?x3x16xf32>, %p: tensor<?xi32> {check.input = "index 2048"}) -> tensor<?x3x16xf32> {
  %y = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 16 : i64} : tensor<?x3x16xf32>, tensor<?xi32>
  return %y : tensor<?x3x16xf32>
}

// -----

func.func @partial(%x: tensor<?x2x24xf32>, %p: tensor<?xi32>) -> tensor<?x2x24xf32> {
  %y = rotary_embedding.rotate %x, %p {base = 500000.0 : f64, rotary_dim = 8 : i64} : tensor<?x2x24xf32>, tensor<?xi32>
  return %y : tensor<?x2x24xf32>
}

// -----

func.func @interleaved(%x: tensor<?x3x16xf32>, %p: tensor<?xi32>) -> tensor<?x3x16xf32> {
  %y = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 16 : i64, layout = "interleaved"} : tensor<?x3x16xf32>, tensor<?xi32>
  return %y : tensor<?x3x16xf32>
}

// -----

func.func @factors(%x: tensor<?x3x16xf32>, %p: tensor<?xi32>, %f: tensor<8xf32> {check.input = "positive"}) -> tensor<?x3x16xf32> {
  %y = rotary_embedding.rotate %x, %p factors(%f : tensor<8xf32>) {base = 10000.0 : f64, rotary_dim = 16 : i64} : tensor<?x3x16xf32>, tensor<?xi32>
  return %y : tensor<?x3x16xf32>
}

// -----

func.func @dense(%x: tensor<?x2x?x8xf32> {tw.symbols = ["B", 2, "T", 8]}, %p: tensor<?x?xi32> {tw.symbols = ["B", "T"]}) -> tensor<?x2x?x8xf32> {
  %y = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64} : tensor<?x2x?x8xf32>, tensor<?x?xi32>
  return %y : tensor<?x2x?x8xf32>
}

// -----

func.func @dense_shared(%x: tensor<?x2x?x8xf32> {tw.symbols = ["B", 2, "T", 8]}, %p: tensor<?xi32> {tw.symbols = ["T"]}) -> tensor<?x2x?x8xf32> {
  %y = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64} : tensor<?x2x?x8xf32>, tensor<?xi32>
  return %y : tensor<?x2x?x8xf32>
}

// -----

func.func @rotate_c1(%x: tensor<4x8xf32>, %p: tensor<4xi32>) {
  // expected-error@below {{wants an input [N, H, D] with positions [N], or [B, H, T, D] with [B, T] or [T]; found 'tensor<4x8xf32>' and 'tensor<4xi32>'}}
  %0 = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64} : tensor<4x8xf32>, tensor<4xi32>
  return
}

// -----

func.func @rotate_c1_positions(%x: tensor<4x2x8xf32>, %p: tensor<4x2xi32>) {
  // expected-error@below {{found 'tensor<4x2x8xf32>' and 'tensor<4x2xi32>'}}
  %0 = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64} : tensor<4x2x8xf32>, tensor<4x2xi32>
  return
}

// -----

func.func @rotate_c2(%x: tensor<4x2x8xf32>, %p: tensor<5xi32>) {
  // expected-error@below {{has 5 positions along dimension 0 of the input, wanted 4}}
  %0 = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64} : tensor<4x2x8xf32>, tensor<5xi32>
  return
}

// -----

func.func @rotate_c3(%x: tensor<4x2x8xf32>, %p: tensor<4xi32>) {
  // expected-error@below {{wants an even rotary_dim from 0 to 8, found 5}}
  %0 = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 5 : i64} : tensor<4x2x8xf32>, tensor<4xi32>
  return
}

// -----

func.func @rotate_c3_large(%x: tensor<4x2x8xf32>, %p: tensor<4xi32>) {
  // expected-error@below {{wants an even rotary_dim from 0 to 8, found 10}}
  %0 = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 10 : i64} : tensor<4x2x8xf32>, tensor<4xi32>
  return
}

// -----

func.func @rotate_c4(%x: tensor<4x2x8xf32>, %p: tensor<4xi32>) {
  // expected-error@below {{wants a finite base above 0, found 0.000000e+00}}
  %0 = rotary_embedding.rotate %x, %p {base = 0.0 : f64, rotary_dim = 8 : i64} : tensor<4x2x8xf32>, tensor<4xi32>
  return
}

// -----

func.func @rotate_c5(%x: tensor<4x2x8xf32>, %p: tensor<4xi32>, %f: tensor<8xf32>) {
  // expected-error@below {{wants factors of shape [4], found 'tensor<8xf32>'}}
  %0 = rotary_embedding.rotate %x, %p factors(%f : tensor<8xf32>) {base = 10000.0 : f64, rotary_dim = 8 : i64} : tensor<4x2x8xf32>, tensor<4xi32>
  return
}
