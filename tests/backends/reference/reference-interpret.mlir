// RUN: %tw-opt --reference-interpret %s | FileCheck %s
// RUN: %tw-opt --reference-interpret=precision=f32 -o /dev/null %s

// The module stays as it is.
// CHECK-LABEL: func.func @test_unary
// CHECK: tw.sigmoid
func.func @test_unary() {
  %x = tw.constant dense<[-1.0, 0.0, 2.0]> : tensor<3xf32>
  %p = tw.constant dense<[0.25, 1.0, 4.0]> : tensor<3xf32>
  %neg = tw.neg %x : tensor<3xf32>
  %neg_w = tw.constant dense<[1.0, 0.0, -2.0]> : tensor<3xf32>
  check.expect_eq %neg, %neg_w : tensor<3xf32>
  %abs = tw.abs %x : tensor<3xf32>
  %abs_w = tw.constant dense<[1.0, 0.0, 2.0]> : tensor<3xf32>
  check.expect_eq %abs, %abs_w : tensor<3xf32>
  %sigmoid = tw.sigmoid %x : tensor<3xf32>
  %sigmoid_w = tw.constant dense<[0.26894142137, 0.5, 0.88079707798]> : tensor<3xf32>
  check.expect_close %sigmoid, %sigmoid_w {absolute = 1.0e-07 : f64} : tensor<3xf32>
  %exp = tw.exp %x : tensor<3xf32>
  %exp_w = tw.constant dense<[0.36787944117, 1.0, 7.38905609893]> : tensor<3xf32>
  check.expect_close %exp, %exp_w {relative = 1.0e-07 : f64} : tensor<3xf32>
  %log = tw.log %exp : tensor<3xf32>
  check.expect_close %log, %x {absolute = 1.0e-06 : f64} : tensor<3xf32>
  %sqrt = tw.sqrt %p : tensor<3xf32>
  %sqrt_w = tw.constant dense<[0.5, 1.0, 2.0]> : tensor<3xf32>
  check.expect_eq %sqrt, %sqrt_w : tensor<3xf32>
  %rsqrt = tw.rsqrt %p : tensor<3xf32>
  %rsqrt_w = tw.constant dense<[2.0, 1.0, 0.5]> : tensor<3xf32>
  check.expect_eq %rsqrt, %rsqrt_w : tensor<3xf32>
  %tanh = tw.tanh %x : tensor<3xf32>
  %tanh_w = tw.constant dense<[-0.76159415595, 0.0, 0.96402758007]> : tensor<3xf32>
  check.expect_close %tanh, %tanh_w {absolute = 1.0e-07 : f64} : tensor<3xf32>
  %erf = tw.erf %x : tensor<3xf32>
  %erf_w = tw.constant dense<[-0.84270079295, 0.0, 0.99532226502]> : tensor<3xf32>
  check.expect_close %erf, %erf_w {absolute = 1.0e-07 : f64} : tensor<3xf32>
  %sin = tw.sin %x : tensor<3xf32>
  %sin_w = tw.constant dense<[-0.84147098481, 0.0, 0.90929742683]> : tensor<3xf32>
  check.expect_close %sin, %sin_w {absolute = 1.0e-07 : f64} : tensor<3xf32>
  %cos = tw.cos %x : tensor<3xf32>
  %cos_w = tw.constant dense<[0.54030230587, 1.0, -0.41614683655]> : tensor<3xf32>
  check.expect_close %cos, %cos_w {absolute = 1.0e-07 : f64} : tensor<3xf32>
  return
}

func.func @test_binary() {
  %a = tw.constant dense<[1.0, 5.0, 0x7FC00000]> : tensor<3xf32>
  %b = tw.constant dense<[2.0, 4.0, 1.0]> : tensor<3xf32>
  %add = tw.add %a, %b : tensor<3xf32>
  %add_w = tw.constant dense<[3.0, 9.0, 0x7FC00000]> : tensor<3xf32>
  check.expect_eq %add, %add_w : tensor<3xf32>
  %sub = tw.sub %a, %b : tensor<3xf32>
  %sub_w = tw.constant dense<[-1.0, 1.0, 0x7FC00000]> : tensor<3xf32>
  check.expect_eq %sub, %sub_w : tensor<3xf32>
  %mul = tw.mul %a, %b : tensor<3xf32>
  %mul_w = tw.constant dense<[2.0, 20.0, 0x7FC00000]> : tensor<3xf32>
  check.expect_eq %mul, %mul_w : tensor<3xf32>
  %div = tw.div %a, %b : tensor<3xf32>
  %div_w = tw.constant dense<[0.5, 1.25, 0x7FC00000]> : tensor<3xf32>
  check.expect_eq %div, %div_w : tensor<3xf32>
  %max = tw.maximum %b, %a : tensor<3xf32>
  %max_w = tw.constant dense<[2.0, 5.0, 0x7FC00000]> : tensor<3xf32>
  check.expect_eq %max, %max_w : tensor<3xf32>
  %min = tw.minimum %b, %a : tensor<3xf32>
  %min_w = tw.constant dense<[1.0, 4.0, 0x7FC00000]> : tensor<3xf32>
  check.expect_eq %min, %min_w : tensor<3xf32>
  return
}

func.func @test_compare_and_select() {
  %a = tw.constant dense<[1.0, 2.0, 3.0, 0x7FC00000]> : tensor<4xf32>
  %b = tw.constant dense<[2.0, 2.0, 2.0, 2.0]> : tensor<4xf32>
  %lt = tw.compare "lt", %a, %b : tensor<4xf32> -> tensor<4xi1>
  %lt_w = tw.constant dense<[true, false, false, false]> : tensor<4xi1>
  check.expect_eq %lt, %lt_w : tensor<4xi1>
  %le = tw.compare "le", %a, %b : tensor<4xf32> -> tensor<4xi1>
  %le_w = tw.constant dense<[true, true, false, false]> : tensor<4xi1>
  check.expect_eq %le, %le_w : tensor<4xi1>
  %gt = tw.compare "gt", %a, %b : tensor<4xf32> -> tensor<4xi1>
  %gt_w = tw.constant dense<[false, false, true, false]> : tensor<4xi1>
  check.expect_eq %gt, %gt_w : tensor<4xi1>
  %ge = tw.compare "ge", %a, %b : tensor<4xf32> -> tensor<4xi1>
  %ge_w = tw.constant dense<[false, true, true, false]> : tensor<4xi1>
  check.expect_eq %ge, %ge_w : tensor<4xi1>
  %eq = tw.compare "eq", %a, %b : tensor<4xf32> -> tensor<4xi1>
  %eq_w = tw.constant dense<[false, true, false, false]> : tensor<4xi1>
  check.expect_eq %eq, %eq_w : tensor<4xi1>
  %ne = tw.compare "ne", %a, %b : tensor<4xf32> -> tensor<4xi1>
  %ne_w = tw.constant dense<[true, false, true, true]> : tensor<4xi1>
  check.expect_eq %ne, %ne_w : tensor<4xi1>
  %y = tw.select %lt, %a, %b : tensor<4xi1>, tensor<4xf32>
  %y_w = tw.constant dense<[1.0, 2.0, 2.0, 2.0]> : tensor<4xf32>
  check.expect_eq %y, %y_w : tensor<4xf32>
  return
}

func.func @test_cast() {
  %x = tw.constant dense<[-1.5, 2.9, 300.0, -1.0e+20, 0x7FC00000]> : tensor<5xf32>
  %i8 = tw.cast %x : tensor<5xf32> -> tensor<5xi8>
  %i8_w = tw.constant dense<[-1, 2, 127, -128, 0]> : tensor<5xi8>
  check.expect_eq %i8, %i8_w : tensor<5xi8>
  %i64 = tw.cast %x : tensor<5xf32> -> tensor<5xi64>
  %i64_w = tw.constant dense<[-1, 2, 300, -9223372036854775808, 0]> : tensor<5xi64>
  check.expect_eq %i64, %i64_w : tensor<5xi64>
  // 257 has nine significant bits, bf16 eight: ties go to the even neighbour.
  %y = tw.constant dense<[257.0, 259.0, 1.0]> : tensor<3xf32>
  %b = tw.cast %y : tensor<3xf32> -> tensor<3xbf16>
  %f = tw.cast %b : tensor<3xbf16> -> tensor<3xf32>
  %f_w = tw.constant dense<[256.0, 260.0, 1.0]> : tensor<3xf32>
  check.expect_eq %f, %f_w : tensor<3xf32>
  %t = tw.constant dense<[true, false]> : tensor<2xi1>
  %tf = tw.cast %t : tensor<2xi1> -> tensor<2xf32>
  %tf_w = tw.constant dense<[1.0, 0.0]> : tensor<2xf32>
  check.expect_eq %tf, %tf_w : tensor<2xf32>
  return
}

func.func @test_shapes() {
  %x = tw.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %i = tw.iota %x dim 1 : tensor<2x3xf32> -> tensor<2x3xi32>
  %i_w = tw.constant dense<[[0, 1, 2], [0, 1, 2]]> : tensor<2x3xi32>
  check.expect_eq %i, %i_w : tensor<2x3xi32>
  %r = tw.reshape %x : tensor<2x3xf32> -> tensor<3x2xf32>
  %r_w = tw.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  check.expect_eq %r, %r_w : tensor<3x2xf32>
  %t = tw.transpose %x perm [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
  %t_w = tw.constant dense<[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]> : tensor<3x2xf32>
  check.expect_eq %t, %t_w : tensor<3x2xf32>
  %s = tw.slice %x dim 1 start 1 size -1 : tensor<2x3xf32> -> tensor<2x2xf32>
  %s_w = tw.constant dense<[[2.0, 3.0], [5.0, 6.0]]> : tensor<2x2xf32>
  check.expect_eq %s, %s_w : tensor<2x2xf32>
  %c = tw.concat dim 1 %s, %x : tensor<2x2xf32>, tensor<2x3xf32> -> tensor<2x5xf32>
  %c_w = tw.constant dense<[[2.0, 3.0, 1.0, 2.0, 3.0], [5.0, 6.0, 4.0, 5.0, 6.0]]> : tensor<2x5xf32>
  check.expect_eq %c, %c_w : tensor<2x5xf32>
  %v = tw.constant dense<[7.0, 8.0]> : tensor<2xf32>
  %b = tw.broadcast %v like %x dims [0] : tensor<2xf32>, tensor<2x3xf32> -> tensor<2x3xf32>
  %b_w = tw.constant dense<[[7.0, 7.0, 7.0], [8.0, 8.0, 8.0]]> : tensor<2x3xf32>
  check.expect_eq %b, %b_w : tensor<2x3xf32>
  %ids = tw.constant dense<[1, 0, 1]> : tensor<3xi32>
  %g = tw.gather %x, %ids : tensor<2x3xf32>, tensor<3xi32> -> tensor<3x3xf32>
  %g_w = tw.constant dense<[[4.0, 5.0, 6.0], [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<3x3xf32>
  check.expect_eq %g, %g_w : tensor<3x3xf32>
  // Ids of more dimensions, and rows of a table for each place.
  %places = tw.constant dense<[[1, 0], [0, 0]]> : tensor<2x2xi32>
  %h = tw.gather %v, %places : tensor<2xf32>, tensor<2x2xi32> -> tensor<2x2xf32>
  %h_w = tw.constant dense<[[8.0, 7.0], [7.0, 7.0]]> : tensor<2x2xf32>
  check.expect_eq %h, %h_w : tensor<2x2xf32>
  %own = tw.constant dense<[[2, 0, 0], [1, 1, 2]]> : tensor<2x3xi32>
  %o = tw.gather %x, %own {batch_dims = 1 : i64} : tensor<2x3xf32>, tensor<2x3xi32> -> tensor<2x3xf32>
  %o_w = tw.constant dense<[[3.0, 1.0, 1.0], [5.0, 5.0, 6.0]]> : tensor<2x3xf32>
  check.expect_eq %o, %o_w : tensor<2x3xf32>
  return
}

func.func @test_reduce() {
  %x = tw.constant dense<[[1.0, 2.0, 6.0], [4.0, 5.0, 0x7FC00000]]> : tensor<2x3xf32>
  %s = tw.reduce "sum" %x dims [1] : tensor<2x3xf32> -> tensor<2xf32>
  %s_w = tw.constant dense<[9.0, 0x7FC00000]> : tensor<2xf32>
  check.expect_eq %s, %s_w : tensor<2xf32>
  %m = tw.reduce "mean" %x dims [0] : tensor<2x3xf32> -> tensor<3xf32>
  %m_w = tw.constant dense<[2.5, 3.5, 0x7FC00000]> : tensor<3xf32>
  check.expect_eq %m, %m_w : tensor<3xf32>
  %h = tw.reduce "max" %x dims [1] : tensor<2x3xf32> -> tensor<2xf32>
  %h_w = tw.constant dense<[6.0, 0x7FC00000]> : tensor<2xf32>
  check.expect_eq %h, %h_w : tensor<2xf32>
  %l = tw.reduce "min" %x dims [0] : tensor<2x3xf32> -> tensor<3xf32>
  %l_w = tw.constant dense<[1.0, 2.0, 0x7FC00000]> : tensor<3xf32>
  check.expect_eq %l, %l_w : tensor<3xf32>
  %all = tw.reduce "sum" %x dims [0, 1] : tensor<2x3xf32> -> tensor<f32>
  %all_w = tw.constant dense<0x7FC00000> : tensor<f32>
  check.expect_eq %all, %all_w : tensor<f32>
  // Nothing to reduce.
  %none = tw.constant dense<> : tensor<2x0xf32>
  %zero = tw.reduce "sum" %none dims [1] : tensor<2x0xf32> -> tensor<2xf32>
  %zero_w = tw.constant dense<0.0> : tensor<2xf32>
  check.expect_eq %zero, %zero_w : tensor<2xf32>
  return
}

ml_program.global private @weight(dense<[[1.0, 0.0, 2.0], [0.0, -1.0, 1.0]]> : tensor<2x3xf32>) : tensor<2x3xf32>

func.func private @project(%x: tensor<?x3xf32>) -> tensor<?x2xf32> {
  %w = ml_program.global_load_const @weight : tensor<2x3xf32>
  %b = tw.constant dense<[0.5, 0.0]> : tensor<2xf32>
  %y = tw.linear %x, %w bias %b : tensor<?x3xf32>, tensor<2x3xf32>, tensor<2xf32> -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}

func.func @test_linear_and_call() {
  %flat = tw.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>
  %x = tw.reshape %flat : tensor<6xf32> -> tensor<?x3xf32>
  %y = func.call @project(%x) : (tensor<?x3xf32>) -> tensor<?x2xf32>
  %y2 = tw.reshape %y : tensor<?x2xf32> -> tensor<2x2xf32>
  %w = tw.constant dense<[[7.5, 1.0], [16.5, 1.0]]> : tensor<2x2xf32>
  check.expect_eq %y2, %w : tensor<2x2xf32>
  return
}

func.func @test_quantize_rows() {
  // Scale 1: halves go to the even neighbour; a block of zeros has scale 0; NaN spoils its block alone.
  %x = tw.constant dense<[[127.0, 0.5, 1.5, -2.5, 0.0, 0.0, 0.0, 0.0, 1.0, 0x7FC00000, 0.0, 0.0]]> : tensor<1x12xf32>
  %q, %s, %z = tw.quantize_rows %x block 4 : tensor<1x12xf32> -> tensor<1x12xi8>, tensor<1x3xf32>, tensor<1x3xf32>
  %q_w = tw.constant dense<[[127, 0, 2, -2, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<1x12xi8>
  check.expect_eq %q, %q_w : tensor<1x12xi8>
  %s_w = tw.constant dense<[[1.0, 0.0, 0x7FC00000]]> : tensor<1x3xf32>
  check.expect_eq %s, %s_w : tensor<1x3xf32>
  %z_w = tw.constant dense<[[127.0, 0.0, 0x7FC00000]]> : tensor<1x3xf32>
  check.expect_eq %z, %z_w : tensor<1x3xf32>
  return
}
