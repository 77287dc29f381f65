// REQUIRES: plugin-position_encoding
// A model with a learned table and padded sequences: each sequence has positions of its own, whichever side is padded, and
// attends as if it were alone; one that is padding alone gives 0.
// RUN: %tw-opt --reference-interpret %s -o /dev/null

// Tokens x, positions p, and which keys are no padding.
func.func private @padded(%x: tensor<2x4x4xf32>, %p: tensor<2x4xi32>, %shown: tensor<2x4xi1>) -> tensor<2x4x4xf32> {
  %t = tw.constant dense<[[0.5, 1.0, -1.0, 2.0], [2.0, 0.0, 1.0, -1.0], [-1.0, 3.0, 0.5, 1.0], [1.0, 1.0, 2.0, 0.0]]> : tensor<4x4xf32>
  %e = position_encoding.learned %t, %p : tensor<4x4xf32>, tensor<2x4xi32> -> tensor<2x4x4xf32>
  %y = tw.add %x, %e : tensor<2x4x4xf32>
  %h = tw.reshape %y : tensor<2x4x4xf32> -> tensor<2x1x4x4xf32>
  %mask = tw.broadcast %shown like %h dims [0, 3] : tensor<2x4xi1>, tensor<2x1x4x4xf32> -> tensor<2x1x4x4xi1>
  %o = tw.attention query(%h : tensor<2x1x4x4xf32>) key(%h : tensor<2x1x4x4xf32>) value(%h : tensor<2x1x4x4xf32>) mask(%mask : tensor<2x1x4x4xi1>) {scale = 0.5 : f64, causal = "end"} -> tensor<2x1x4x4xf32>
  %r = tw.reshape %o : tensor<2x1x4x4xf32> -> tensor<2x4x4xf32>
  return %r : tensor<2x4x4xf32>
}

// The sequence of 2 tokens alone.
func.func private @alone(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %p = tw.constant dense<[0, 1]> : tensor<2xi32>
  %t = tw.constant dense<[[0.5, 1.0, -1.0, 2.0], [2.0, 0.0, 1.0, -1.0]]> : tensor<2x4xf32>
  %e = position_encoding.learned %t, %p : tensor<2x4xf32>, tensor<2xi32> -> tensor<2x4xf32>
  %y = tw.add %x, %e : tensor<2x4xf32>
  %h = tw.reshape %y : tensor<2x4xf32> -> tensor<1x1x2x4xf32>
  %o = tw.attention query(%h : tensor<1x1x2x4xf32>) key(%h : tensor<1x1x2x4xf32>) value(%h : tensor<1x1x2x4xf32>) {scale = 0.5 : f64, causal = "end"} -> tensor<1x1x2x4xf32>
  %r = tw.reshape %o : tensor<1x1x2x4xf32> -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

func.func @test_left_padding() {
  %x = tw.constant dense<[[[9.0, 9.0, 9.0, 9.0], [9.0, 9.0, 9.0, 9.0], [1.0, 2.0, 3.0, 4.0], [-1.0, 0.5, 2.0, -3.0]], [[0.5, -2.0, 1.0, 1.0], [1.0, 0.5, 0.0, 3.0], [0.25, 1.0, -2.0, 1.5], [2.0, -1.0, 0.5, 3.0]]]> : tensor<2x4x4xf32>
  %p = tw.constant dense<[[0, 0, 0, 1], [0, 1, 2, 3]]> : tensor<2x4xi32>
  %shown = tw.constant dense<[[false, false, true, true], [true, true, true, true]]> : tensor<2x4xi1>
  %y = func.call @padded(%x, %p, %shown) : (tensor<2x4x4xf32>, tensor<2x4xi32>, tensor<2x4xi1>) -> tensor<2x4x4xf32>
  %first = tw.slice %y dim 0 start 0 size 1 : tensor<2x4x4xf32> -> tensor<1x4x4xf32>
  %rows = tw.reshape %first : tensor<1x4x4xf32> -> tensor<4x4xf32>
  %got = tw.slice %rows dim 0 start 2 size 2 : tensor<4x4xf32> -> tensor<2x4xf32>
  %a = tw.constant dense<[[1.0, 2.0, 3.0, 4.0], [-1.0, 0.5, 2.0, -3.0]]> : tensor<2x4xf32>
  %w = func.call @alone(%a) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  check.expect_close %got, %w {absolute = 1.0e-06 : f64} : tensor<2x4xf32>
  %padding = tw.slice %rows dim 0 start 0 size 2 : tensor<4x4xf32> -> tensor<2x4xf32>
  %zero = tw.constant dense<0.0> : tensor<2x4xf32>
  check.expect_eq %padding, %zero : tensor<2x4xf32>
  return
}

func.func @test_right_padding_and_nothing_but_padding() {
  %x = tw.constant dense<[[[1.0, 2.0, 3.0, 4.0], [-1.0, 0.5, 2.0, -3.0], [9.0, 9.0, 9.0, 9.0], [9.0, 9.0, 9.0, 9.0]], [[0.5, -2.0, 1.0, 1.0], [1.0, 0.5, 0.0, 3.0], [0.25, 1.0, -2.0, 1.5], [2.0, -1.0, 0.5, 3.0]]]> : tensor<2x4x4xf32>
  %p = tw.constant dense<[[0, 1, 0, 0], [0, 0, 0, 0]]> : tensor<2x4xi32>
  %shown = tw.constant dense<[[true, true, false, false], [false, false, false, false]]> : tensor<2x4xi1>
  %y = func.call @padded(%x, %p, %shown) : (tensor<2x4x4xf32>, tensor<2x4xi32>, tensor<2x4xi1>) -> tensor<2x4x4xf32>
  %first = tw.slice %y dim 0 start 0 size 1 : tensor<2x4x4xf32> -> tensor<1x4x4xf32>
  %rows = tw.reshape %first : tensor<1x4x4xf32> -> tensor<4x4xf32>
  %got = tw.slice %rows dim 0 start 0 size 2 : tensor<4x4xf32> -> tensor<2x4xf32>
  %a = tw.constant dense<[[1.0, 2.0, 3.0, 4.0], [-1.0, 0.5, 2.0, -3.0]]> : tensor<2x4xf32>
  %w = func.call @alone(%a) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  check.expect_close %got, %w {absolute = 1.0e-06 : f64} : tensor<2x4xf32>
  %second = tw.slice %y dim 0 start 1 size 1 : tensor<2x4x4xf32> -> tensor<1x4x4xf32>
  %zero = tw.constant dense<0.0> : tensor<1x4x4xf32>
  check.expect_eq %second, %zero : tensor<1x4x4xf32>
  return
}
