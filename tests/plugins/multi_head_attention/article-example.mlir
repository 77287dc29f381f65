// REQUIRES: plugin-multi_head_attention
// The example of the articles on self-attention (six words, Wq, Wk and Wv of 3 x 2): its context vectors to four digits.
// RUN: %tw-opt --reference-interpret %s -o /dev/null
// RUN: %tw-opt --reference-interpret=precision=f32 %s -o /dev/null

func.func @test_context() {
  %x = tw.constant dense<[[[0.43, 0.15, 0.89], [0.55, 0.87, 0.66], [0.57, 0.85, 0.64], [0.22, 0.58, 0.33], [0.77, 0.25, 0.10], [0.05, 0.80, 0.55]]]> : tensor<1x6x3xf32>
  %q = tw.constant dense<[[0.2961, 0.5166], [0.2517, 0.6886], [0.0740, 0.8665]]> : tensor<3x2xf32>
  %k = tw.constant dense<[[0.1366, 0.1025], [0.1841, 0.7264], [0.3153, 0.6871]]> : tensor<3x2xf32>
  %v = tw.constant dense<[[0.0756, 0.1966], [0.3164, 0.4017], [0.1186, 0.8274]]> : tensor<3x2xf32>
  %wq = tw.transpose %q perm [1, 0] : tensor<3x2xf32> -> tensor<2x3xf32>
  %wk = tw.transpose %k perm [1, 0] : tensor<3x2xf32> -> tensor<2x3xf32>
  %wv = tw.transpose %v perm [1, 0] : tensor<3x2xf32> -> tensor<2x3xf32>
  %y = "multi_head_attention.self_attention"(%x, %wq, %wk, %wv) {heads = 1 : i64, kv_heads = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<1x6x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<1x6x2xf32>
  %want = tw.constant dense<[[[0.2996, 0.8053], [0.3061, 0.8210], [0.3058, 0.8203], [0.2948, 0.7939], [0.2927, 0.7891], [0.2990, 0.8040]]]> : tensor<1x6x2xf32>
  check.expect_close %y, %want {absolute = 1.5e-04 : f64} : tensor<1x6x2xf32>
  return
}

// The untrained form: queries, keys and values are the input itself, unscaled. The weights of the second word on the six.
func.func @test_untrained() {
  %x = tw.constant dense<[[[[0.43, 0.15, 0.89], [0.55, 0.87, 0.66], [0.57, 0.85, 0.64], [0.22, 0.58, 0.33], [0.77, 0.25, 0.10], [0.05, 0.80, 0.55]]]]> : tensor<1x1x6x3xf32>
  %o = tw.attention query(%x : tensor<1x1x6x3xf32>) key(%x : tensor<1x1x6x3xf32>) value(%x : tensor<1x1x6x3xf32>) {scale = 1.0 : f64} -> tensor<1x1x6x3xf32>
  %second = tw.slice %o dim 2 start 1 size 1 : tensor<1x1x6x3xf32> -> tensor<1x1x1x3xf32>
  %want = tw.constant dense<[[[[0.4419, 0.6515, 0.5683]]]]> : tensor<1x1x1x3xf32>
  check.expect_close %second, %want {absolute = 1.0e-04 : f64} : tensor<1x1x1x3xf32>
  return
}
