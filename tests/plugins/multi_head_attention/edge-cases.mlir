// REQUIRES: plugin-multi_head_attention
// Cases from public reports in which attention that was recognised gave other numbers than it should.
// RUN: %tw-opt --multi-head-attention-recognise %s | FileCheck %s
// RUN: %tw-opt --multi-head-attention-recognise --reference-interpret %s -o /dev/null
// RUN: %tw-opt --multi-head-attention-recognise --reference-interpret=precision=f32 %s -o /dev/null

// A row whose keys are all masked is zero, the others are untouched: neither NaN nor the mean of the values.
// CHECK-LABEL: func.func @test_fully_masked_row
// CHECK: tw.attention {{.*}} mask(
func.func @test_fully_masked_row() {
  %q = tw.constant dense<1.0> : tensor<1x1x2x4xf32>
  %k = tw.constant dense<0.5> : tensor<1x1x3x4xf32>
  %v = tw.constant dense<[[[[1.0, 1.0, 1.0, 1.0], [2.0, 2.0, 2.0, 2.0], [4.0, 4.0, 4.0, 4.0]]]]> : tensor<1x1x3x4xf32>
  %m = tw.constant dense<[[[[true, false, false], [false, false, false]]]]> : tensor<1x1x2x3xi1>
  %s = tw.batch_matmul %q, %k {transpose_b = true} : tensor<1x1x2x4xf32>, tensor<1x1x3x4xf32> -> tensor<1x1x2x3xf32>
  %f = tw.constant dense<0xFF800000> : tensor<1x1x2x3xf32>
  %x = tw.select %m, %s, %f : tensor<1x1x2x3xi1>, tensor<1x1x2x3xf32>
  %p = tw.softmax %x dim 3 : tensor<1x1x2x3xf32>
  %o = tw.batch_matmul %p, %v : tensor<1x1x2x3xf32>, tensor<1x1x3x4xf32> -> tensor<1x1x2x4xf32>
  %w = tw.constant dense<[[[[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0]]]]> : tensor<1x1x2x4xf32>
  check.expect_eq %o, %w : tensor<1x1x2x4xf32>
  return
}

// The same by an additive mask of -inf.
// CHECK-LABEL: func.func @test_fully_masked_row_added
// CHECK: tw.attention
func.func @test_fully_masked_row_added() {
  %q = tw.constant dense<1.0> : tensor<1x1x2x4xf32>
  %k = tw.constant dense<0.5> : tensor<1x1x3x4xf32>
  %v = tw.constant dense<[[[[1.0, 1.0, 1.0, 1.0], [2.0, 2.0, 2.0, 2.0], [4.0, 4.0, 4.0, 4.0]]]]> : tensor<1x1x3x4xf32>
  %b = tw.constant dense<[[[[0.0, 0xFF800000, 0xFF800000], [0xFF800000, 0xFF800000, 0xFF800000]]]]> : tensor<1x1x2x3xf32>
  %s = tw.batch_matmul %q, %k {transpose_b = true} : tensor<1x1x2x4xf32>, tensor<1x1x3x4xf32> -> tensor<1x1x2x3xf32>
  %x = tw.add %s, %b : tensor<1x1x2x3xf32>
  %p = tw.softmax %x dim 3 : tensor<1x1x2x3xf32>
  %o = tw.batch_matmul %p, %v : tensor<1x1x2x3xf32>, tensor<1x1x3x4xf32> -> tensor<1x1x2x4xf32>
  %w = tw.constant dense<[[[[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0]]]]> : tensor<1x1x2x4xf32>
  check.expect_eq %o, %w : tensor<1x1x2x4xf32>
  return
}

// A causal plane and a plane of left padding, each of the lowest finite number: their sum is no number to compute with. Padded
// rows are zero, the two tokens see each other alone.
// CHECK-LABEL: func.func @test_two_saturated_masks
// CHECK: tw.attention {{.*}} mask(%{{.*}} : tensor<5x5xi1>) {causal = "end", scale = 1.000000e+00 : f64}
func.func @test_two_saturated_masks() {
  %q = tw.constant dense<0.0> : tensor<1x1x5x2xf32>
  %v = tw.constant dense<[[[[1.0, 1.0], [2.0, 2.0], [4.0, 4.0], [8.0, 8.0], [16.0, 16.0]]]]> : tensor<1x1x5x2xf32>
  %s = tw.batch_matmul %q, %q {transpose_b = true} : tensor<1x1x5x2xf32>, tensor<1x1x5x2xf32> -> tensor<1x1x5x5xf32>
  %zero = tw.constant dense<0.0> : tensor<5x5xf32>
  %low = tw.constant dense<0xFF7FFFFF> : tensor<5x5xf32>
  %i = tw.iota %zero dim 0 : tensor<5x5xf32> -> tensor<5x5xi32>
  %j = tw.iota %zero dim 1 : tensor<5x5xf32> -> tensor<5x5xi32>
  %after = tw.compare "gt", %j, %i : tensor<5x5xi32> -> tensor<5x5xi1>
  %causal = tw.select %after, %low, %zero : tensor<5x5xi1>, tensor<5x5xf32>
  %real = tw.constant dense<[false, false, false, true, true]> : tensor<5xi1>
  %reals = tw.broadcast %real like %zero dims [1] : tensor<5xi1>, tensor<5x5xf32> -> tensor<5x5xi1>
  %padding = tw.select %reals, %zero, %low : tensor<5x5xi1>, tensor<5x5xf32>
  %cb = tw.broadcast %causal like %s dims [2, 3] : tensor<5x5xf32>, tensor<1x1x5x5xf32> -> tensor<1x1x5x5xf32>
  %pb = tw.broadcast %padding like %s dims [2, 3] : tensor<5x5xf32>, tensor<1x1x5x5xf32> -> tensor<1x1x5x5xf32>
  %x = tw.add %s, %cb : tensor<1x1x5x5xf32>
  %y = tw.add %x, %pb : tensor<1x1x5x5xf32>
  %p = tw.softmax %y dim 3 : tensor<1x1x5x5xf32>
  %o = tw.batch_matmul %p, %v : tensor<1x1x5x5xf32>, tensor<1x1x5x2xf32> -> tensor<1x1x5x2xf32>
  %w = tw.constant dense<[[[[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [8.0, 8.0], [12.0, 12.0]]]]> : tensor<1x1x5x2xf32>
  check.expect_eq %o, %w : tensor<1x1x5x2xf32>
  return
}

// The same in f16, where the planes add up to minus infinity ...
// CHECK-LABEL: func.func @test_two_saturated_masks_f16
// CHECK: tw.attention {{.*}} mask(%{{.*}} : tensor<5x5xi1>) {causal = "end", scale = 1.000000e+00 : f64}
func.func @test_two_saturated_masks_f16() {
  %q = tw.constant dense<0.0> : tensor<1x1x5x2xf16>
  %v = tw.constant dense<[[[[1.0, 1.0], [2.0, 2.0], [4.0, 4.0], [8.0, 8.0], [16.0, 16.0]]]]> : tensor<1x1x5x2xf16>
  %s = tw.batch_matmul %q, %q {transpose_b = true} : tensor<1x1x5x2xf16>, tensor<1x1x5x2xf16> -> tensor<1x1x5x5xf16>
  %zero = tw.constant dense<0.0> : tensor<5x5xf16>
  %low = tw.constant dense<0xFBFF> : tensor<5x5xf16>
  %i = tw.iota %zero dim 0 : tensor<5x5xf16> -> tensor<5x5xi32>
  %j = tw.iota %zero dim 1 : tensor<5x5xf16> -> tensor<5x5xi32>
  %after = tw.compare "gt", %j, %i : tensor<5x5xi32> -> tensor<5x5xi1>
  %causal = tw.select %after, %low, %zero : tensor<5x5xi1>, tensor<5x5xf16>
  %real = tw.constant dense<[false, false, false, true, true]> : tensor<5xi1>
  %reals = tw.broadcast %real like %zero dims [1] : tensor<5xi1>, tensor<5x5xf16> -> tensor<5x5xi1>
  %padding = tw.select %reals, %zero, %low : tensor<5x5xi1>, tensor<5x5xf16>
  %cb = tw.broadcast %causal like %s dims [2, 3] : tensor<5x5xf16>, tensor<1x1x5x5xf16> -> tensor<1x1x5x5xf16>
  %pb = tw.broadcast %padding like %s dims [2, 3] : tensor<5x5xf16>, tensor<1x1x5x5xf16> -> tensor<1x1x5x5xf16>
  %x = tw.add %s, %cb : tensor<1x1x5x5xf16>
  %y = tw.add %x, %pb : tensor<1x1x5x5xf16>
  %p = tw.softmax %y dim 3 : tensor<1x1x5x5xf16>
  %o = tw.batch_matmul %p, %v : tensor<1x1x5x5xf16>, tensor<1x1x5x2xf16> -> tensor<1x1x5x2xf16>
  %w = tw.constant dense<[[[[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [8.0, 8.0], [12.0, 12.0]]]]> : tensor<1x1x5x2xf16>
  check.expect_eq %o, %w : tensor<1x1x5x2xf16>
  return
}

// ... and in bf16.
// CHECK-LABEL: func.func @test_two_saturated_masks_bf16
// CHECK: tw.attention {{.*}} mask(%{{.*}} : tensor<5x5xi1>) {causal = "end", scale = 1.000000e+00 : f64}
func.func @test_two_saturated_masks_bf16() {
  %q = tw.constant dense<0.0> : tensor<1x1x5x2xbf16>
  %v = tw.constant dense<[[[[1.0, 1.0], [2.0, 2.0], [4.0, 4.0], [8.0, 8.0], [16.0, 16.0]]]]> : tensor<1x1x5x2xbf16>
  %s = tw.batch_matmul %q, %q {transpose_b = true} : tensor<1x1x5x2xbf16>, tensor<1x1x5x2xbf16> -> tensor<1x1x5x5xbf16>
  %zero = tw.constant dense<0.0> : tensor<5x5xbf16>
  %low = tw.constant dense<0xFF7F> : tensor<5x5xbf16>
  %i = tw.iota %zero dim 0 : tensor<5x5xbf16> -> tensor<5x5xi32>
  %j = tw.iota %zero dim 1 : tensor<5x5xbf16> -> tensor<5x5xi32>
  %after = tw.compare "gt", %j, %i : tensor<5x5xi32> -> tensor<5x5xi1>
  %causal = tw.select %after, %low, %zero : tensor<5x5xi1>, tensor<5x5xbf16>
  %real = tw.constant dense<[false, false, false, true, true]> : tensor<5xi1>
  %reals = tw.broadcast %real like %zero dims [1] : tensor<5xi1>, tensor<5x5xbf16> -> tensor<5x5xi1>
  %padding = tw.select %reals, %zero, %low : tensor<5x5xi1>, tensor<5x5xbf16>
  %cb = tw.broadcast %causal like %s dims [2, 3] : tensor<5x5xbf16>, tensor<1x1x5x5xbf16> -> tensor<1x1x5x5xbf16>
  %pb = tw.broadcast %padding like %s dims [2, 3] : tensor<5x5xbf16>, tensor<1x1x5x5xbf16> -> tensor<1x1x5x5xbf16>
  %x = tw.add %s, %cb : tensor<1x1x5x5xbf16>
  %y = tw.add %x, %pb : tensor<1x1x5x5xbf16>
  %p = tw.softmax %y dim 3 : tensor<1x1x5x5xbf16>
  %o = tw.batch_matmul %p, %v : tensor<1x1x5x5xbf16>, tensor<1x1x5x2xbf16> -> tensor<1x1x5x2xbf16>
  %w = tw.constant dense<[[[[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [8.0, 8.0], [12.0, 12.0]]]]> : tensor<1x1x5x2xbf16>
  check.expect_eq %o, %w : tensor<1x1x5x2xbf16>
  return
}

// A fill of -1e9 is minus infinity in f16 already.
// CHECK-LABEL: func.func @test_two_infinite_masks_f16
// CHECK: tw.attention {{.*}} mask(%{{.*}} : tensor<5x5xi1>) {causal = "end", scale = 1.000000e+00 : f64}
func.func @test_two_infinite_masks_f16() {
  %q = tw.constant dense<0.0> : tensor<1x1x5x2xf16>
  %v = tw.constant dense<[[[[1.0, 1.0], [2.0, 2.0], [4.0, 4.0], [8.0, 8.0], [16.0, 16.0]]]]> : tensor<1x1x5x2xf16>
  %s = tw.batch_matmul %q, %q {transpose_b = true} : tensor<1x1x5x2xf16>, tensor<1x1x5x2xf16> -> tensor<1x1x5x5xf16>
  %zero = tw.constant dense<0.0> : tensor<5x5xf16>
  %low = tw.constant dense<0xFC00> : tensor<5x5xf16>
  %i = tw.iota %zero dim 0 : tensor<5x5xf16> -> tensor<5x5xi32>
  %j = tw.iota %zero dim 1 : tensor<5x5xf16> -> tensor<5x5xi32>
  %after = tw.compare "gt", %j, %i : tensor<5x5xi32> -> tensor<5x5xi1>
  %causal = tw.select %after, %low, %zero : tensor<5x5xi1>, tensor<5x5xf16>
  %real = tw.constant dense<[false, false, false, true, true]> : tensor<5xi1>
  %reals = tw.broadcast %real like %zero dims [1] : tensor<5xi1>, tensor<5x5xf16> -> tensor<5x5xi1>
  %padding = tw.select %reals, %zero, %low : tensor<5x5xi1>, tensor<5x5xf16>
  %cb = tw.broadcast %causal like %s dims [2, 3] : tensor<5x5xf16>, tensor<1x1x5x5xf16> -> tensor<1x1x5x5xf16>
  %pb = tw.broadcast %padding like %s dims [2, 3] : tensor<5x5xf16>, tensor<1x1x5x5xf16> -> tensor<1x1x5x5xf16>
  %x = tw.add %s, %cb : tensor<1x1x5x5xf16>
  %y = tw.add %x, %pb : tensor<1x1x5x5xf16>
  %p = tw.softmax %y dim 3 : tensor<1x1x5x5xf16>
  %o = tw.batch_matmul %p, %v : tensor<1x1x5x5xf16>, tensor<1x1x5x2xf16> -> tensor<1x1x5x2xf16>
  %w = tw.constant dense<[[[[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [8.0, 8.0], [12.0, 12.0]]]]> : tensor<1x1x5x2xf16>
  check.expect_eq %o, %w : tensor<1x1x5x2xf16>
  return
}

// Two queries, five keys, values j: with the offset of a past of 3 the means 1.5 and 2.0 ...
// CHECK-LABEL: func.func @test_causal_from_the_end
// CHECK: tw.attention {{.*}} {causal = "end", scale
func.func @test_causal_from_the_end() {
  %q = tw.constant dense<0.0> : tensor<1x1x2x2xf32>
  %k = tw.constant dense<1.0> : tensor<1x1x5x2xf32>
  %v = tw.constant dense<[[[[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [4.0, 4.0]]]]> : tensor<1x1x5x2xf32>
  %s = tw.batch_matmul %q, %k {transpose_b = true} : tensor<1x1x2x2xf32>, tensor<1x1x5x2xf32> -> tensor<1x1x2x5xf32>
  %m = tw.constant dense<[[[[true, true, true, true, false], [true, true, true, true, true]]]]> : tensor<1x1x2x5xi1>
  %f = tw.constant dense<0xFF800000> : tensor<1x1x2x5xf32>
  %x = tw.select %m, %s, %f : tensor<1x1x2x5xi1>, tensor<1x1x2x5xf32>
  %p = tw.softmax %x dim 3 : tensor<1x1x2x5xf32>
  %o = tw.batch_matmul %p, %v : tensor<1x1x2x5xf32>, tensor<1x1x5x2xf32> -> tensor<1x1x2x2xf32>
  %w = tw.constant dense<[[[[1.5, 1.5], [2.0, 2.0]]]]> : tensor<1x1x2x2xf32>
  check.expect_close %o, %w {absolute = 1.0e-06 : f64} : tensor<1x1x2x2xf32>
  return
}

// ... and without one 0.0 and 0.5.
// CHECK-LABEL: func.func @test_causal_from_the_start
// CHECK: tw.attention {{.*}} {causal = "start", scale
func.func @test_causal_from_the_start() {
  %q = tw.constant dense<0.0> : tensor<1x1x2x2xf32>
  %k = tw.constant dense<1.0> : tensor<1x1x5x2xf32>
  %v = tw.constant dense<[[[[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [4.0, 4.0]]]]> : tensor<1x1x5x2xf32>
  %s = tw.batch_matmul %q, %k {transpose_b = true} : tensor<1x1x2x2xf32>, tensor<1x1x5x2xf32> -> tensor<1x1x2x5xf32>
  %m = tw.constant dense<[[[[true, false, false, false, false], [true, true, false, false, false]]]]> : tensor<1x1x2x5xi1>
  %f = tw.constant dense<0xFF800000> : tensor<1x1x2x5xf32>
  %x = tw.select %m, %s, %f : tensor<1x1x2x5xi1>, tensor<1x1x2x5xf32>
  %p = tw.softmax %x dim 3 : tensor<1x1x2x5xf32>
  %o = tw.batch_matmul %p, %v : tensor<1x1x2x5xf32>, tensor<1x1x5x2xf32> -> tensor<1x1x2x2xf32>
  %w = tw.constant dense<[[[[0.0, 0.0], [0.5, 0.5]]]]> : tensor<1x1x2x2xf32>
  check.expect_close %o, %w {absolute = 1.0e-06 : f64} : tensor<1x1x2x2xf32>
  return
}

// More queries than keys, aligned at the end: the first rows see nothing.
// CHECK-LABEL: func.func @test_more_queries_than_keys
// CHECK: tw.attention {{.*}} {causal = "end", scale
func.func @test_more_queries_than_keys() {
  %q = tw.constant dense<0.0> : tensor<1x1x5x8xf32>
  %k = tw.constant dense<1.0> : tensor<1x1x2x8xf32>
  %v = tw.constant dense<[[[[3.0], [5.0]]]]> : tensor<1x1x2x1xf32>
  %s = tw.batch_matmul %q, %k {transpose_b = true} : tensor<1x1x5x8xf32>, tensor<1x1x2x8xf32> -> tensor<1x1x5x2xf32>
  %like = tw.constant dense<0.0> : tensor<5x2xf32>
  %i = tw.iota %like dim 0 : tensor<5x2xf32> -> tensor<5x2xi32>
  %j = tw.iota %like dim 1 : tensor<5x2xf32> -> tensor<5x2xi32>
  %if = tw.cast %i : tensor<5x2xi32> -> tensor<5x2xf32>
  %jf = tw.cast %j : tensor<5x2xi32> -> tensor<5x2xf32>
  %three = tw.constant dense<3.0> : tensor<5x2xf32>
  %last = tw.sub %if, %three : tensor<5x2xf32>
  %c = tw.compare "le", %jf, %last : tensor<5x2xf32> -> tensor<5x2xi1>
  %m = tw.broadcast %c like %s dims [2, 3] : tensor<5x2xi1>, tensor<1x1x5x2xf32> -> tensor<1x1x5x2xi1>
  %f = tw.constant dense<0xFF800000> : tensor<1x1x5x2xf32>
  %x = tw.select %m, %s, %f : tensor<1x1x5x2xi1>, tensor<1x1x5x2xf32>
  %p = tw.softmax %x dim 3 : tensor<1x1x5x2xf32>
  %o = tw.batch_matmul %p, %v : tensor<1x1x5x2xf32>, tensor<1x1x2x1xf32> -> tensor<1x1x5x1xf32>
  %w = tw.constant dense<[[[[0.0], [0.0], [0.0], [3.0], [4.0]]]]> : tensor<1x1x5x1xf32>
  check.expect_close %o, %w {absolute = 1.0e-06 : f64} : tensor<1x1x5x1xf32>
  return
}

// A window of 4 keys counts the own one: row 9 averages keys 6 to 9.
// CHECK-LABEL: func.func @test_window_of_four
// CHECK: tw.attention {{.*}} {causal = "end", scale = 1.000000e+00 : f64, window = 4 : i64}
func.func @test_window_of_four() {
  %q = tw.constant dense<0.0> : tensor<1x1x10x1xf32>
  %v = tw.constant dense<[[[[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0], [9.0]]]]> : tensor<1x1x10x1xf32>
  %s = tw.batch_matmul %q, %v {transpose_b = true} : tensor<1x1x10x1xf32>, tensor<1x1x10x1xf32> -> tensor<1x1x10x10xf32>
  %i = tw.iota %s dim 2 : tensor<1x1x10x10xf32> -> tensor<1x1x10x10xi32>
  %j = tw.iota %s dim 3 : tensor<1x1x10x10xf32> -> tensor<1x1x10x10xi32>
  %causal = tw.compare "ge", %i, %j : tensor<1x1x10x10xi32> -> tensor<1x1x10x10xi1>
  %if = tw.cast %i : tensor<1x1x10x10xi32> -> tensor<1x1x10x10xf32>
  %jf = tw.cast %j : tensor<1x1x10x10xi32> -> tensor<1x1x10x10xf32>
  %distance = tw.sub %if, %jf : tensor<1x1x10x10xf32>
  %four = tw.constant dense<4.0> : tensor<1x1x10x10xf32>
  %near = tw.compare "lt", %distance, %four : tensor<1x1x10x10xf32> -> tensor<1x1x10x10xi1>
  %f = tw.constant dense<0xFF800000> : tensor<1x1x10x10xf32>
  %x = tw.select %causal, %s, %f : tensor<1x1x10x10xi1>, tensor<1x1x10x10xf32>
  %y = tw.select %near, %x, %f : tensor<1x1x10x10xi1>, tensor<1x1x10x10xf32>
  %p = tw.softmax %y dim 3 : tensor<1x1x10x10xf32>
  %o = tw.batch_matmul %p, %v : tensor<1x1x10x10xf32>, tensor<1x1x10x1xf32> -> tensor<1x1x10x1xf32>
  %w = tw.constant dense<[[[[0.0], [0.5], [1.0], [1.5], [2.5], [3.5], [4.5], [5.5], [6.5], [7.5]]]]> : tensor<1x1x10x1xf32>
  check.expect_close %o, %w {absolute = 1.0e-06 : f64} : tensor<1x1x10x1xf32>
  return
}
