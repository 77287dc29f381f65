// REQUIRES: plugin-rotary_embedding
// Small cases of what goes wrong with rotary positions, and the properties that they are used for.
// RUN: %python %golden/fill.py %golden/cases %s | %tw-opt --reference-interpret -o /dev/null

// Which elements are a pair: at position 1 the first pair turns by 1 radian, the second by 1/100.
func.func @test_pairs() {
  %x = tw.constant dense<[[[1.0, 0.0, 0.0, 0.0]], [[0.0, 1.0, 0.0, 0.0]]]> : tensor<2x1x4xf32>
  %p = tw.constant dense<1> : tensor<2xi32>
  %i = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 4 : i64, layout = "interleaved"} : tensor<2x1x4xf32>, tensor<2xi32>
  %i_w = tw.constant dense<[[[0.54030231, 0.84147098, 0.0, 0.0]], [[-0.84147098, 0.54030231, 0.0, 0.0]]]> : tensor<2x1x4xf32>
  check.expect_close %i, %i_w {absolute = 1.0e-06 : f64} : tensor<2x1x4xf32>
  %h = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 4 : i64, layout = "half"} : tensor<2x1x4xf32>, tensor<2xi32>
  %h_w = tw.constant dense<[[[0.54030231, 0.0, 0.84147098, 0.0]], [[0.0, 0.99995000, 0.0, 0.00999983]]]> : tensor<2x1x4xf32>
  check.expect_close %h, %h_w {absolute = 1.0e-06 : f64} : tensor<2x1x4xf32>
  return
}

// The same elements in the other layout's order give the same scores in the other layout.
func.func @test_layouts_permuted() {
  %q = tw.constant {{rope_half:in.q}}
  %k = tw.constant {{rope_half:in.q}}
  %p = tw.constant {{rope_position_ids:in.position_ids as i32}}
  %qh = rotary_embedding.rotate %q, %p {base = 10000.0 : f64, rotary_dim = 16 : i64, layout = "half"} : tensor<2x3x6x16xf32>, tensor<2x6xi32>
  %kh = rotary_embedding.rotate %k, %p {base = 10000.0 : f64, rotary_dim = 16 : i64, layout = "half"} : tensor<2x3x6x16xf32>, tensor<2x6xi32>
  %sh = tw.batch_matmul %qh, %kh {transpose_b = true} : tensor<2x3x6x16xf32>, tensor<2x3x6x16xf32> -> tensor<2x3x6x6xf32>
  // (i, i + 8) -> (2i, 2i + 1)
  %qp = func.call @interleave(%q) : (tensor<2x3x6x16xf32>) -> tensor<2x3x6x16xf32>
  %kp = func.call @interleave(%k) : (tensor<2x3x6x16xf32>) -> tensor<2x3x6x16xf32>
  %qi = rotary_embedding.rotate %qp, %p {base = 10000.0 : f64, rotary_dim = 16 : i64, layout = "interleaved"} : tensor<2x3x6x16xf32>, tensor<2x6xi32>
  %ki = rotary_embedding.rotate %kp, %p {base = 10000.0 : f64, rotary_dim = 16 : i64, layout = "interleaved"} : tensor<2x3x6x16xf32>, tensor<2x6xi32>
  %si = tw.batch_matmul %qi, %ki {transpose_b = true} : tensor<2x3x6x16xf32>, tensor<2x3x6x16xf32> -> tensor<2x3x6x6xf32>
  check.expect_close %si, %sh {absolute = 2.0e-05 : f64} : tensor<2x3x6x6xf32>
  return
}
func.func private @interleave(%x: tensor<2x3x6x16xf32>) -> tensor<2x3x6x16xf32> {
  %pairs = tw.reshape %x : tensor<2x3x6x16xf32> -> tensor<2x3x6x2x8xf32>
  %turned = tw.transpose %pairs perm [0, 1, 2, 4, 3] : tensor<2x3x6x2x8xf32> -> tensor<2x3x6x8x2xf32>
  %y = tw.reshape %turned : tensor<2x3x6x8x2xf32> -> tensor<2x3x6x16xf32>
  return %y : tensor<2x3x6x16xf32>
}

// A rotation keeps norms.
func.func @test_norms() {
  %x = tw.constant {{rope_half:in.q}}
  %p = tw.constant {{rope_position_ids:in.position_ids as i32}}
  %f = rotary_embedding.factors {kind = "yarn", base = 10000.0 : f64, rotary_dim = 12 : i64, factor = 8.0 : f64, original_max_position_embeddings = 64 : i64} : tensor<6xf64>
  %y = rotary_embedding.rotate %x, %p factors(%f : tensor<6xf64>) {base = 10000.0 : f64, rotary_dim = 12 : i64} : tensor<2x3x6x16xf32>, tensor<2x6xi32>
  %xx = tw.mul %x, %x : tensor<2x3x6x16xf32>
  %yy = tw.mul %y, %y : tensor<2x3x6x16xf32>
  %a = tw.reduce "sum" %xx dims [3] : tensor<2x3x6x16xf32> -> tensor<2x3x6xf32>
  %b = tw.reduce "sum" %yy dims [3] : tensor<2x3x6x16xf32> -> tensor<2x3x6xf32>
  check.expect_close %b, %a {absolute = 1.0e-05 : f64} : tensor<2x3x6xf32>
  return
}

// Scores depend on distances alone: all positions may shift.
func.func @test_shifted() {
  %q = tw.constant {{rope_half:in.q}}
  %k = tw.constant {{rope_interleaved:in.q}}
  %p = tw.constant dense<[3, 1, 4, 1, 5, 9]> : tensor<6xi32>
  %s = tw.constant dense<[1003, 1001, 1004, 1001, 1005, 1009]> : tensor<6xi32>
  %q1 = rotary_embedding.rotate %q, %p {base = 10000.0 : f64, rotary_dim = 16 : i64} : tensor<2x3x6x16xf32>, tensor<6xi32>
  %k1 = rotary_embedding.rotate %k, %p {base = 10000.0 : f64, rotary_dim = 16 : i64} : tensor<2x3x6x16xf32>, tensor<6xi32>
  %q2 = rotary_embedding.rotate %q, %s {base = 10000.0 : f64, rotary_dim = 16 : i64} : tensor<2x3x6x16xf32>, tensor<6xi32>
  %k2 = rotary_embedding.rotate %k, %s {base = 10000.0 : f64, rotary_dim = 16 : i64} : tensor<2x3x6x16xf32>, tensor<6xi32>
  %s1 = tw.batch_matmul %q1, %k1 {transpose_b = true} : tensor<2x3x6x16xf32>, tensor<2x3x6x16xf32> -> tensor<2x3x6x6xf32>
  %s2 = tw.batch_matmul %q2, %k2 {transpose_b = true} : tensor<2x3x6x16xf32>, tensor<2x3x6x16xf32> -> tensor<2x3x6x6xf32>
  check.expect_close %s2, %s1 {absolute = 2.0e-05 : f64} : tensor<2x3x6x6xf32>
  return
}

// Elements behind the rotary part pass bit for bit, however many layers turn the others.
func.func @test_partial() {
  %x = tw.constant dense<[[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 0.1]]]> : tensor<1x1x8xf32>
  %p = tw.constant dense<[5]> : tensor<1xi32>
  %1 = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 4 : i64} : tensor<1x1x8xf32>, tensor<1xi32>
  %2 = rotary_embedding.rotate %1, %p {base = 10000.0 : f64, rotary_dim = 4 : i64} : tensor<1x1x8xf32>, tensor<1xi32>
  %3 = rotary_embedding.rotate %2, %p {base = 10000.0 : f64, rotary_dim = 4 : i64} : tensor<1x1x8xf32>, tensor<1xi32>
  %4 = rotary_embedding.rotate %3, %p {base = 10000.0 : f64, rotary_dim = 4 : i64} : tensor<1x1x8xf32>, tensor<1xi32>
  %rest = tw.slice %x dim 2 start 4 size 4 : tensor<1x1x8xf32> -> tensor<1x1x4xf32>
  %rest4 = tw.slice %4 dim 2 start 4 size 4 : tensor<1x1x8xf32> -> tensor<1x1x4xf32>
  check.expect_eq %rest4, %rest : tensor<1x1x4xf32>
  // Four turns by 5 positions are one by 20, with rates of 4 dimensions.
  %p20 = tw.constant dense<[20]> : tensor<1xi32>
  %once = rotary_embedding.rotate %x, %p20 {base = 10000.0 : f64, rotary_dim = 4 : i64} : tensor<1x1x8xf32>, tensor<1xi32>
  check.expect_close %4, %once {absolute = 1.0e-05 : f64} : tensor<1x1x8xf32>
  %front = tw.slice %x dim 2 start 0 size 4 : tensor<1x1x8xf32> -> tensor<1x1x4xf32>
  %front1 = tw.slice %1 dim 2 start 0 size 4 : tensor<1x1x8xf32> -> tensor<1x1x4xf32>
  %alone = rotary_embedding.rotate %front, %p {base = 10000.0 : f64, rotary_dim = 4 : i64} : tensor<1x1x4xf32>, tensor<1xi32>
  check.expect_eq %front1, %alone : tensor<1x1x4xf32>
  return
}

// bf16 cannot hold 257: positions are integers until the angle is formed, and only cosine and sine are rounded.
func.func @test_narrow_positions() {
  %p = tw.constant dense<[256, 257]> : tensor<2xi32>
  %c, %s = rotary_embedding.tables %p {dim = 128 : i64} : tensor<2xi32> -> tensor<2x128xbf16>
  %row = tw.slice %s dim 1 start 0 size 2 : tensor<2x128xbf16> -> tensor<2x2xbf16>
  %w = tw.constant dense<[[-0.99920803, 0.97914544], [-0.57335717, 0.47964255]]> : tensor<2x2xf32>
  %got = tw.cast %row : tensor<2x2xbf16> -> tensor<2x2xf32>
  check.expect_close %got, %w {absolute = 4.0e-03 : f64} : tensor<2x2xf32>
  return
}

// Cosines and sines that are m times larger make scores that are m^2 times larger.
func.func @test_attention_factor() {
  %q = tw.constant {{rope_half:in.q}}
  %p = tw.constant {{rope_position_ids:in.position_ids as i32}}
  %a = rotary_embedding.rotate %q, %p {base = 10000.0 : f64, rotary_dim = 16 : i64} : tensor<2x3x6x16xf32>, tensor<2x6xi32>
  %b = rotary_embedding.rotate %q, %p {base = 10000.0 : f64, rotary_dim = 16 : i64, attention_factor = 1.5 : f64} : tensor<2x3x6x16xf32>, tensor<2x6xi32>
  %aa = tw.batch_matmul %a, %a {transpose_b = true} : tensor<2x3x6x16xf32>, tensor<2x3x6x16xf32> -> tensor<2x3x6x6xf32>
  %bb = tw.batch_matmul %b, %b {transpose_b = true} : tensor<2x3x6x16xf32>, tensor<2x3x6x16xf32> -> tensor<2x3x6x6xf32>
  %m = tw.constant dense<2.25> : tensor<2x3x6x6xf32>
  %w = tw.mul %aa, %m : tensor<2x3x6x6xf32>
  check.expect_close %bb, %w {absolute = 1.0e-04 : f64} : tensor<2x3x6x6xf32>
  return
}

// Keys that were stored before rotation: each step turns all of them by the factors of its largest position, and its scores
// are those of a run from the beginning, on both sides of the length where LongRoPE's factors change. One length, the same to
// all rows.
func.func private @scores(%q: tensor<?x1x4xf32>, %k: tensor<?x1x4xf32>, %qp: tensor<?xi32>, %kp: tensor<?xi32>) -> tensor<1x?x?xf32> {
  %places = tw.cast %kp : tensor<?xi32> -> tensor<?xf32>
  %largest = tw.reduce "max" %places dims [0] : tensor<?xf32> -> tensor<f32>
  %one = tw.constant dense<1.0> : tensor<f32>
  %count = tw.add %largest, %one : tensor<f32>
  %n = tw.cast %count : tensor<f32> -> tensor<i32>
  %f = rotary_embedding.factors lengths(%n : tensor<i32>) {kind = "longrope", base = 10000.0 : f64, rotary_dim = 4 : i64, short_factor = array<f64: 1.0, 1.5>, long_factor = array<f64: 2.0, 8.0>, original_max_position_embeddings = 3 : i64} : tensor<2xf64>
  %a = rotary_embedding.rotate %q, %qp factors(%f : tensor<2xf64>) {base = 10000.0 : f64, rotary_dim = 4 : i64} : tensor<?x1x4xf32>, tensor<?xi32>
  %b = rotary_embedding.rotate %k, %kp factors(%f : tensor<2xf64>) {base = 10000.0 : f64, rotary_dim = 4 : i64} : tensor<?x1x4xf32>, tensor<?xi32>
  %at = tw.transpose %a perm [1, 0, 2] : tensor<?x1x4xf32> -> tensor<1x?x4xf32>
  %bt = tw.transpose %b perm [1, 0, 2] : tensor<?x1x4xf32> -> tensor<1x?x4xf32>
  %s = tw.batch_matmul %at, %bt {transpose_b = true} : tensor<1x?x4xf32>, tensor<1x?x4xf32> -> tensor<1x?x?xf32>
  return %s : tensor<1x?x?xf32>
}
func.func @test_keys_stored_before_rotation() {
  %x = tw.constant dense<[[[1.0, 2.0, 3.0, 4.0]], [[-1.0, 0.5, 2.0, -3.0]], [[0.25, 1.0, -2.0, 1.5]], [[2.0, -1.0, 0.5, 3.0]]]> : tensor<4x1x4xf32>
  %p = tw.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
  %x4 = tw.reshape %x : tensor<4x1x4xf32> -> tensor<?x1x4xf32>
  %p4 = tw.reshape %p : tensor<4xi32> -> tensor<?xi32>
  %x3 = tw.slice %x4 dim 0 start 0 size 3 : tensor<?x1x4xf32> -> tensor<?x1x4xf32>
  %p3 = tw.slice %p4 dim 0 start 0 size 3 : tensor<?xi32> -> tensor<?xi32>
  // Within the original 3 positions the short factors: position 2, with keys at 0 and 2.
  %q3 = tw.slice %x4 dim 0 start 2 size 1 : tensor<?x1x4xf32> -> tensor<?x1x4xf32>
  %qp3 = tw.slice %p4 dim 0 start 2 size 1 : tensor<?xi32> -> tensor<?xi32>
  %step3 = func.call @scores(%q3, %x3, %qp3, %p3) : (tensor<?x1x4xf32>, tensor<?x1x4xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<1x?x?xf32>
  %whole3 = func.call @scores(%x3, %x3, %p3, %p3) : (tensor<?x1x4xf32>, tensor<?x1x4xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<1x?x?xf32>
  %last3 = tw.slice %whole3 dim 1 start 2 size 1 : tensor<1x?x?xf32> -> tensor<1x?x?xf32>
  check.expect_eq %step3, %last3 : tensor<1x?x?xf32>
  %short = tw.constant dense<[1.0, 1.5]> : tensor<2xf64>
  %want3 = func.call @scores_by(%x3, %p3, %short) : (tensor<?x1x4xf32>, tensor<?xi32>, tensor<2xf64>) -> tensor<1x?x?xf32>
  check.expect_eq %whole3, %want3 : tensor<1x?x?xf32>
  // One more token: the long ones, for the old keys as well.
  %q4 = tw.slice %x4 dim 0 start 3 size 1 : tensor<?x1x4xf32> -> tensor<?x1x4xf32>
  %qp4 = tw.slice %p4 dim 0 start 3 size 1 : tensor<?xi32> -> tensor<?xi32>
  %step4 = func.call @scores(%q4, %x4, %qp4, %p4) : (tensor<?x1x4xf32>, tensor<?x1x4xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<1x?x?xf32>
  %whole4 = func.call @scores(%x4, %x4, %p4, %p4) : (tensor<?x1x4xf32>, tensor<?x1x4xf32>, tensor<?xi32>, tensor<?xi32>) -> tensor<1x?x?xf32>
  %last4 = tw.slice %whole4 dim 1 start 3 size 1 : tensor<1x?x?xf32> -> tensor<1x?x?xf32>
  check.expect_eq %step4, %last4 : tensor<1x?x?xf32>
  %long = tw.constant dense<[2.0, 8.0]> : tensor<2xf64>
  %want4 = func.call @scores_by(%x4, %p4, %long) : (tensor<?x1x4xf32>, tensor<?xi32>, tensor<2xf64>) -> tensor<1x?x?xf32>
  check.expect_eq %whole4, %want4 : tensor<1x?x?xf32>
  return
}
func.func private @scores_by(%x: tensor<?x1x4xf32>, %p: tensor<?xi32>, %f: tensor<2xf64>) -> tensor<1x?x?xf32> {
  %a = rotary_embedding.rotate %x, %p factors(%f : tensor<2xf64>) {base = 10000.0 : f64, rotary_dim = 4 : i64} : tensor<?x1x4xf32>, tensor<?xi32>
  %t = tw.transpose %a perm [1, 0, 2] : tensor<?x1x4xf32> -> tensor<1x?x4xf32>
  %s = tw.batch_matmul %t, %t {transpose_b = true} : tensor<1x?x4xf32>, tensor<1x?x4xf32> -> tensor<1x?x?xf32>
  return %s : tensor<1x?x?xf32>
}

// Two sequences of 2 and 4 tokens, padded on the left: positions of each begin at its first token, and each attends as if it
// were alone.
func.func @test_left_padding() {
  %pad = tw.constant dense<9.0> : tensor<1x1x2x4xf32>
  %a = tw.constant dense<[[[[1.0, 2.0, 3.0, 4.0], [-1.0, 0.5, 2.0, -3.0]]]]> : tensor<1x1x2x4xf32>
  %b = tw.constant dense<[[[[0.5, -2.0, 1.0, 1.0], [1.0, 0.5, 0.0, 3.0], [0.25, 1.0, -2.0, 1.5], [2.0, -1.0, 0.5, 3.0]]]]> : tensor<1x1x4x4xf32>
  %padded = tw.concat dim 2 %pad, %a : tensor<1x1x2x4xf32>, tensor<1x1x2x4xf32> -> tensor<1x1x4x4xf32>
  %both = tw.concat dim 0 %padded, %b : tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32> -> tensor<2x1x4x4xf32>
  %p = tw.constant dense<[[0, 0, 0, 1], [0, 1, 2, 3]]> : tensor<2x4xi32>
  %r = rotary_embedding.rotate %both, %p {base = 10.0 : f64, rotary_dim = 4 : i64} : tensor<2x1x4x4xf32>, tensor<2x4xi32>
  %shown = tw.constant dense<[[[[false, false, true, true]]], [[[true, true, true, true]]]]> : tensor<2x1x1x4xi1>
  %flat = tw.reshape %shown : tensor<2x1x1x4xi1> -> tensor<2x4xi1>
  %mask = tw.broadcast %flat like %r dims [0, 3] : tensor<2x4xi1>, tensor<2x1x4x4xf32> -> tensor<2x1x4x4xi1>
  %o = tw.attention query(%r : tensor<2x1x4x4xf32>) key(%r : tensor<2x1x4x4xf32>) value(%both : tensor<2x1x4x4xf32>) mask(%mask : tensor<2x1x4x4xi1>) {scale = 0.5 : f64, causal = "end"} -> tensor<2x1x4x4xf32>
  %pa = tw.constant dense<[0, 1]> : tensor<2xi32>
  %ra = rotary_embedding.rotate %a, %pa {base = 10.0 : f64, rotary_dim = 4 : i64} : tensor<1x1x2x4xf32>, tensor<2xi32>
  %oa = tw.attention query(%ra : tensor<1x1x2x4xf32>) key(%ra : tensor<1x1x2x4xf32>) value(%a : tensor<1x1x2x4xf32>) {scale = 0.5 : f64, causal = "end"} -> tensor<1x1x2x4xf32>
  %first = tw.slice %o dim 0 start 0 size 1 : tensor<2x1x4x4xf32> -> tensor<1x1x4x4xf32>
  %tokens = tw.slice %first dim 2 start 2 size 2 : tensor<1x1x4x4xf32> -> tensor<1x1x2x4xf32>
  check.expect_close %tokens, %oa {absolute = 1.0e-06 : f64} : tensor<1x1x2x4xf32>
  // What sees padding alone is 0.
  %none = tw.slice %first dim 2 start 0 size 2 : tensor<1x1x4x4xf32> -> tensor<1x1x2x4xf32>
  %zero = tw.constant dense<0.0> : tensor<1x1x2x4xf32>
  check.expect_eq %none, %zero : tensor<1x1x2x4xf32>
  return
}
