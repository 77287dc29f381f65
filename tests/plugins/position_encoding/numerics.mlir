// REQUIRES: plugin-position_encoding
// Relations against what Transformers stored for them, and small cases by hand.
// RUN: %python %golden/fill.py %golden/cases %s | %tw-opt --reference-interpret -o /dev/null

// Buckets of all distances from -300 to 300, of one query at position 0.
func.func @test_buckets_bidirectional() {
  %q = tw.constant dense<0> : tensor<1xi32>
  %k = tw.constant {{pos_t5_bidirectional_32_128:aux.rel as i32}}
  %w = tw.constant {{pos_t5_bidirectional_32_128:aux.bucket as i32}}
  %r = position_encoding.t5_buckets %q, %k {bidirectional = true, num_buckets = 32 : i64, max_distance = 128 : i64} : tensor<1xi32>, tensor<601xi32> -> tensor<1x601xi32>
  %row = tw.reshape %r : tensor<1x601xi32> -> tensor<601xi32>
  check.expect_eq %row, %w : tensor<601xi32>
  return
}

func.func @test_buckets_causal() {
  %q = tw.constant dense<0> : tensor<1xi32>
  %k = tw.constant {{pos_t5_causal_32_128:aux.rel as i32}}
  %w = tw.constant {{pos_t5_causal_32_128:aux.bucket as i32}}
  %r = position_encoding.t5_buckets %q, %k {bidirectional = false, num_buckets = 32 : i64, max_distance = 128 : i64} : tensor<1xi32>, tensor<601xi32> -> tensor<1x601xi32>
  %row = tw.reshape %r : tensor<1x601xi32> -> tensor<601xi32>
  check.expect_eq %row, %w : tensor<601xi32>
  return
}

func.func @test_buckets_few() {
  %q = tw.constant dense<0> : tensor<1xi32>
  %k = tw.constant {{pos_t5_bidirectional_12_20:aux.rel as i32}}
  %w = tw.constant {{pos_t5_bidirectional_12_20:aux.bucket as i32}}
  %r = position_encoding.t5_buckets %q, %k {bidirectional = true, num_buckets = 12 : i64, max_distance = 20 : i64} : tensor<1xi32>, tensor<601xi32> -> tensor<1x601xi32>
  %row = tw.reshape %r : tensor<1x601xi32> -> tensor<601xi32>
  check.expect_eq %row, %w : tensor<601xi32>
  return
}

// Offsets as the golden case of clipped distances has them, for decoding: 4 queries at the end of 9 keys.
func.func @test_offsets() {
  %q = tw.constant dense<[5, 6, 7, 8]> : tensor<4xi32>
  %k = tw.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8]> : tensor<9xi32>
  %w = tw.constant {{pos_shaw_causal_T4_S9:aux.index as i32}}
  %r = position_encoding.offsets %q, %k {clip = 3 : i64} : tensor<4xi32>, tensor<9xi32> -> tensor<4x9xi32>
  check.expect_eq %r, %w : tensor<4x9xi32>
  return
}

// Positions are exact integers however large they are, and those of each sequence are its own.
func.func @test_offsets_of_large_positions() {
  %q = tw.constant dense<[[2147483647], [100]]> : tensor<2x1xi32>
  %k = tw.constant dense<[[2147483646, 0], [101, 100]]> : tensor<2x2xi32>
  %w = tw.constant dense<[[[1, 0]], [[3, 2]]]> : tensor<2x1x2xi32>
  %r = position_encoding.offsets %q, %k {clip = 2 : i64} : tensor<2x1xi32>, tensor<2x2xi32> -> tensor<2x1x2xi32>
  check.expect_eq %r, %w : tensor<2x1x2xi32>
  return
}

// Slopes of 12 heads: those of 8, then every other one of 16. The query is one ahead of its key.
func.func @test_slopes() {
  %q = tw.constant dense<1> : tensor<1xi32>
  %k = tw.constant dense<[0, 3]> : tensor<2xi32>
  %s = tw.constant {{pos_alibi_H12:aux.slopes}}
  %b = position_encoding.alibi %q, %k {heads = 12 : i64} : tensor<1xi32>, tensor<2xi32> -> tensor<1x12x1x2xf32>
  %before = tw.slice %b dim 3 start 0 size 1 : tensor<1x12x1x2xf32> -> tensor<1x12x1x1xf32>
  %row = tw.reshape %before : tensor<1x12x1x1xf32> -> tensor<12xf32>
  %w = tw.neg %s : tensor<12xf32>
  check.expect_close %row, %w {relative = 1.0e-06 : f64} : tensor<12xf32>
  // The same on both sides.
  %both = position_encoding.alibi %q, %k {heads = 12 : i64, symmetric = true} : tensor<1xi32>, tensor<2xi32> -> tensor<1x12x1x2xf32>
  %after = tw.slice %both dim 3 start 1 size 1 : tensor<1x12x1x2xf32> -> tensor<1x12x1x1xf32>
  %row2 = tw.reshape %after : tensor<1x12x1x1xf32> -> tensor<12xf32>
  %two = tw.constant dense<2.0> : tensor<12xf32>
  %w2 = tw.mul %w, %two : tensor<12xf32>
  check.expect_close %row2, %w2 {relative = 1.0e-06 : f64} : tensor<12xf32>
  return
}

// An odd dimension has one more sine; position 0 is 0 and 1.
func.func @test_sinusoidal_odd() {
  %p = tw.constant dense<[0, 1]> : tensor<2xi32>
  %i = position_encoding.sinusoidal %p {dim = 3 : i64, base = 1.0 : f64} : tensor<2xi32> -> tensor<2x3xf32>
  %i_w = tw.constant dense<[[0.0, 1.0, 0.0], [0.84147098, 0.54030231, 0.84147098]]> : tensor<2x3xf32>
  check.expect_close %i, %i_w {absolute = 1.0e-06 : f64} : tensor<2x3xf32>
  %h = position_encoding.sinusoidal %p {dim = 3 : i64, base = 1.0 : f64, layout = "half"} : tensor<2xi32> -> tensor<2x3xf32>
  %h_w = tw.constant dense<[[0.0, 0.0, 1.0], [0.84147098, 0.84147098, 0.54030231]]> : tensor<2x3xf32>
  check.expect_close %h, %h_w {absolute = 1.0e-06 : f64} : tensor<2x3xf32>
  return
}

// A relation with tables of zeros changes nothing, also with fewer key heads than query heads; a row whose keys are all
// hidden gives 0.
func.func @test_zero_tables() {
  %x = tw.constant {{pos_shaw:in.q}}
  %k = tw.slice %x dim 1 start 0 size 1 : tensor<2x3x9x8xf32> -> tensor<2x1x9x8xf32>
  %r = tw.constant dense<1> : tensor<9x9xi32>
  %z = tw.constant dense<0.0> : tensor<2x8xf32>
  %a = position_encoding.relation_attention query(%x : tensor<2x3x9x8xf32>) key(%k : tensor<2x1x9x8xf32>) value(%k : tensor<2x1x9x8xf32>) relation(%r : tensor<9x9xi32>) key_table(%z : tensor<2x8xf32>) value_table(%z : tensor<2x8xf32>) {scale = 0.5 : f64, causal = "end"} -> tensor<2x3x9x8xf32>
  %w = tw.attention query(%x : tensor<2x3x9x8xf32>) key(%k : tensor<2x1x9x8xf32>) value(%k : tensor<2x1x9x8xf32>) {scale = 0.5 : f64, causal = "end"} -> tensor<2x3x9x8xf32>
  check.expect_close %a, %w {absolute = 1.0e-06 : f64} : tensor<2x3x9x8xf32>
  %one = tw.constant dense<1.0> : tensor<2x8xf32>
  %none = tw.constant dense<false> : tensor<9x9xi1>
  %h = position_encoding.relation_attention query(%x : tensor<2x3x9x8xf32>) key(%k : tensor<2x1x9x8xf32>) value(%k : tensor<2x1x9x8xf32>) relation(%r : tensor<9x9xi32>) key_table(%one : tensor<2x8xf32>) value_table(%one : tensor<2x8xf32>) mask(%none : tensor<9x9xi1>) {scale = 0.5 : f64} -> tensor<2x3x9x8xf32>
  %zero = tw.constant dense<0.0> : tensor<2x3x9x8xf32>
  check.expect_eq %h, %zero : tensor<2x3x9x8xf32>
  return
}

// Scores of ALiBi, T5 and clipped distances do not change when all positions shift.
func.func @test_shifted() {
  %p = tw.constant dense<[3, 1, 4, 1, 5, 9]> : tensor<6xi32>
  %s = tw.constant dense<[103, 101, 104, 101, 105, 109]> : tensor<6xi32>
  %a = position_encoding.alibi %p, %p {heads = 3 : i64} : tensor<6xi32>, tensor<6xi32> -> tensor<1x3x6x6xf32>
  %b = position_encoding.alibi %s, %s {heads = 3 : i64} : tensor<6xi32>, tensor<6xi32> -> tensor<1x3x6x6xf32>
  check.expect_eq %b, %a : tensor<1x3x6x6xf32>
  %c = position_encoding.t5_buckets %p, %p {bidirectional = true, num_buckets = 8 : i64, max_distance = 16 : i64} : tensor<6xi32>, tensor<6xi32> -> tensor<6x6xi32>
  %d = position_encoding.t5_buckets %s, %s {bidirectional = true, num_buckets = 8 : i64, max_distance = 16 : i64} : tensor<6xi32>, tensor<6xi32> -> tensor<6x6xi32>
  check.expect_eq %d, %c : tensor<6x6xi32>
  return
}
