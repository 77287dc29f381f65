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
  // expected-error @below {{has 1 indices, wanted 2 or 3: one for every dimension of the packed tensor, or for all but the last (C2)}}
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

func.func @load_bits_c1(%p: tensor<4x320xi4>, %b: index) {
  // expected-error @below {{packed tensor is 'tensor<4x320xi4>', wanted i8 elements and a static last dimension (C1)}}
  %s = tile.load_bits %p[%b] at 0 width 4 items 0, 2 : tensor<4x320xi4> -> tensor<16xi8>
  return
}

// -----

func.func @load_bits_c2(%p: tensor<4x320xi8>) {
  // expected-error @below {{has 0 indices, wanted 1 or 2}}
  %s = tile.load_bits %p[] at 0 width 4 items 0, 2 : tensor<4x320xi8> -> tensor<16xi8>
  return
}

// -----

func.func @load_bits_c3_odd(%p: tensor<4x320xi8>, %b: index) {
  // expected-error @below {{result is 'tensor<3x6xi8>', wanted i8 and a static shape with an outermost extent in 2 parts (C3)}}
  %s = tile.load_bits %p[%b] at 0 width 4 items 0, 2 : tensor<4x320xi8> -> tensor<3x6xi8>
  return
}

// -----

func.func @load_bits_c4(%p: tensor<4x320xi8>, %b: index) {
  // expected-error @below {{field of 256 bytes at offset 65 is outside of a block of 320 bytes (C4)}}
  %s = tile.load_bits %p[%b] at 65 width 4 items 0, 2 : tensor<4x320xi8> -> tensor<8x16x4xi8>
  return
}

// -----

func.func @load_bits_c4_overflow(%p: tensor<4x320xi8>, %b: index) {
  // expected-error @below {{is larger than a block of 320 bytes (C4)}}
  %s = tile.load_bits %p[%b] at 0 width 4 items 0, 2 : tensor<4x320xi8> -> tensor<4611686018427387904x4xi8>
  return
}

// -----

func.func @load_bits_c5_width(%p: tensor<4x320xi8>, %b: index) {
  // expected-error @below {{reads 1 items of 3 bits from number 0 on, wanted items of 1, 2 or 4 bits that are in a byte (C5)}}
  %s = tile.load_bits %p[%b] at 0 width 3 items 0, 1 : tensor<4x320xi8> -> tensor<4x16xi8>
  return
}

// -----

func.func @load_bits_c5_items(%p: tensor<4x320xi8>, %b: index) {
  // expected-error @below {{reads 3 items of 2 bits from number 2 on, wanted items of 1, 2 or 4 bits that are in a byte (C5)}}
  %s = tile.load_bits %p[%b] at 0 width 2 items 2, 3 : tensor<4x320xi8> -> tensor<3x16xi8>
  return
}

// -----

func.func @load_bits_c5_none(%p: tensor<4x320xi8>, %b: index) {
  // expected-error @below {{reads 0 items of 4 bits from number 1 on}}
  %s = tile.load_bits %p[%b] at 0 width 4 items 1, 0 : tensor<4x320xi8> -> tensor<4x16xi8>
  return
}
