// RUN: %tw-opt %s -split-input-file -verify-diagnostics

func.func @load_field_c1_type(%p: tensor<4x320xi16>, %b: index) {
  // expected-error @below {{packed tensor is 'tensor<4x320xi16>', wanted i8 elements and a static last dimension (C1)}}
  %s = tile.load_field %p[%b] at 0 : tensor<4x320xi16> -> tensor<16xf16>
  return
}

// -----

func.func @load_field_c1_dynamic(%p: tensor<4x?xi8>, %b: index) {
  // expected-error @below {{wanted i8 elements and a static last dimension (C1)}}
  %s = tile.load_field %p[%b] at 0 : tensor<4x?xi8> -> tensor<16xf16>
  return
}

// -----

func.func @load_field_c2(%p: tensor<2x4x320xi8>, %b: index) {
  // expected-error @below {{has 1 indices, wanted 2: one for every dimension of the packed tensor but the last (C2)}}
  %s = tile.load_field %p[%b] at 0 : tensor<2x4x320xi8> -> tensor<16xf16>
  return
}

// -----

func.func @load_field_c3_dynamic(%p: tensor<4x320xi8>, %b: index) {
  // expected-error @below {{result is 'tensor<?xf16>', wanted a static shape without zero extents and an element type of whole bytes (C3)}}
  %s = tile.load_field %p[%b] at 0 : tensor<4x320xi8> -> tensor<?xf16>
  return
}

// -----

func.func @load_field_c3_bits(%p: tensor<4x320xi8>, %b: index) {
  // expected-error @below {{(C3)}}
  %s = tile.load_field %p[%b] at 0 : tensor<4x320xi8> -> tensor<16xi4>
  return
}

// -----

func.func @load_field_c4_end(%p: tensor<4x320xi8>, %b: index) {
  // expected-error @below {{field of 32 bytes at offset 289 is outside of a block of 320 bytes (C4)}}
  %s = tile.load_field %p[%b] at 289 : tensor<4x320xi8> -> tensor<16xf16>
  return
}

// -----

func.func @load_field_c4_negative(%p: tensor<4x320xi8>, %b: index) {
  // expected-error @below {{field of 32 bytes at offset -1 is outside of a block of 320 bytes (C4)}}
  %s = tile.load_field %p[%b] at -1 : tensor<4x320xi8> -> tensor<16xf16>
  return
}

// -----

func.func @load_field_c4_overflow(%p: tensor<4x320xi8>, %b: index) {
  // expected-error @below {{is larger than a block of 320 bytes (C4)}}
  %s = tile.load_field %p[%b] at 0 : tensor<4x320xi8> -> tensor<4611686018427387904x4xf16>
  return
}

// -----

func.func @load_nibbles_c1(%p: tensor<4x320xi4>, %b: index) {
  // expected-error @below {{packed tensor is 'tensor<4x320xi4>', wanted i8 elements and a static last dimension (C1)}}
  %s = tile.load_nibbles %p[%b] at 0 : tensor<4x320xi4> -> tensor<16xi8>
  return
}

// -----

func.func @load_nibbles_c2(%p: tensor<4x320xi8>) {
  // expected-error @below {{has 0 indices, wanted 1}}
  %s = tile.load_nibbles %p[] at 0 : tensor<4x320xi8> -> tensor<16xi8>
  return
}

// -----

func.func @load_nibbles_c3_odd(%p: tensor<4x320xi8>, %b: index) {
  // expected-error @below {{result is 'tensor<3x6xi8>', wanted i8 and a static shape with an even outermost extent (C3)}}
  %s = tile.load_nibbles %p[%b] at 0 : tensor<4x320xi8> -> tensor<3x6xi8>
  return
}

// -----

func.func @load_nibbles_c4(%p: tensor<4x320xi8>, %b: index) {
  // expected-error @below {{field of 256 bytes at offset 65 is outside of a block of 320 bytes (C4)}}
  %s = tile.load_nibbles %p[%b] at 65 : tensor<4x320xi8> -> tensor<8x16x4xi8>
  return
}

// -----

func.func @load_nibbles_c5(%p: tensor<4x320xi8>, %b: index) {
  // expected-error @below {{half is 'middle', wanted 'low' or 'high' (C5)}}
  %s = tile.load_nibbles %p[%b] at 0 {half = "middle"} : tensor<4x320xi8> -> tensor<4x16x4xi8>
  return
}

// -----

func.func @load_nibbles_c4_overflow(%p: tensor<4x320xi8>, %b: index) {
  // expected-error @below {{is larger than a block of 320 bytes (C4)}}
  %s = tile.load_nibbles %p[%b] at 0 : tensor<4x320xi8> -> tensor<4611686018427387904x4xi8>
  return
}
