// Needs: rms_norm rotary_embedding swiglu pre_norm
// One op a function, in its variants: compiled and compared with the reference. Rows have 37 elements of the leading dimension.
!x = tensor<?x160xf32>
!h = tensor<?x3x80xf32>
!p = tensor<?xi32>
!g = tensor<160xf32>
func.func @rotate_half(%x: !h, %p: !p) -> !h {
  %y = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 80 : i64} : !h, !p
  return %y : !h
}
func.func @rotate_half_partial(%x: !h, %p: !p) -> !h {
  %y = rotary_embedding.rotate %x, %p {base = 500000.0 : f64, rotary_dim = 32 : i64} : !h, !p
  return %y : !h
}
func.func @rotate_interleaved(%x: !h, %p: !p) -> !h {
  %y = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 80 : i64, layout = "interleaved"} : !h, !p
  return %y : !h
}
func.func @rotate_interleaved_partial(%x: !h, %p: !p) -> !h {
  %y = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 32 : i64, layout = "interleaved"} : !h, !p
  return %y : !h
}
func.func @rotate_factors(%x: !h, %p: !p, %f: tensor<40xf32>) -> !h {
  %y = rotary_embedding.rotate %x, %p factors(%f : tensor<40xf32>) {base = 10000.0 : f64, rotary_dim = 80 : i64} : !h, !p
  return %y : !h
}
func.func @norm(%x: !x) -> !x {
  %y = rms_norm.norm %x {epsilon = 1.0e-05 : f64} : !x
  return %y : !x
}
func.func @norm_bias(%x: !x, %g: !g, %b: !g) -> !x {
  %y = rms_norm.norm %x weight(%g : !g) bias(%b : !g) {epsilon = 1.0e-05 : f64} : !x
  return %y : !x
}
func.func @norm_unit_offset(%x: !x, %g: !g) -> !x {
  %y = rms_norm.norm %x weight(%g : !g) {epsilon = 0.1 : f64, unit_offset = true, epsilon_outside = true} : !x
  return %y : !x
}
func.func @norm_heads(%x: !h, %g: tensor<80xf32>) -> !h {
  %y = rms_norm.norm %x weight(%g : tensor<80xf32>) {epsilon = 1.0e-06 : f64} : !h
  return %y : !h
}
func.func @add_norm_sum(%x: !x, %u: !x, %g: !g) -> !x {
  %s, %n = pre_norm.add_norm "rms_norm.norm" %x, %u params(%g : !g) {norm_attributes = {epsilon = 1.0e-05 : f64, operandSegmentSizes = array<i32: 1, 1, 0>}} : !x
  %y = tw.mul %s, %n : !x
  return %y : !x
}
func.func @glu_silu(%a: !x, %b: !x) -> !x {
  %y = swiglu.glu %a, %b {activation = "silu", alpha = 1.702 : f64, limit = 1.5 : f64, up_offset = 1.0 : f64} : !x
  return %y : !x
}
func.func @glu_gelu(%a: !x, %b: !x) -> !x {
  %y = swiglu.glu %a, %b {activation = "gelu"} : !x
  return %y : !x
}
func.func @glu_gelu_tanh(%a: !x, %b: !x) -> !x {
  %y = swiglu.glu %a, %b {activation = "gelu_tanh"} : !x
  return %y : !x
}
func.func @glu_relu(%a: !x, %b: !x) -> !x {
  %y = swiglu.glu %a, %b {activation = "relu"} : !x
  return %y : !x
}
func.func @glu_sigmoid(%a: !x, %b: !x) -> !x {
  %y = swiglu.glu %a, %b {activation = "sigmoid"} : !x
  return %y : !x
}
func.func @elementwise(%a: !x, %b: !x) -> !x {
  %0 = tw.abs %a : !x
  %1 = tw.sqrt %0 : !x
  %2 = tw.exp %b : !x
  %3 = tw.add %1, %2 : !x
  %4 = tw.log %3 : !x
  %5 = tw.tanh %4 : !x
  %6 = tw.erf %b : !x
  %7 = tw.sin %a : !x
  %8 = tw.cos %b : !x
  %9 = tw.maximum %5, %6 : !x
  %10 = tw.minimum %7, %8 : !x
  %11 = tw.sub %9, %10 : !x
  %12 = tw.sigmoid %11 : !x
  %13 = tw.rsqrt %3 : !x
  %14 = tw.div %12, %13 : !x
  %15 = tw.compare "lt", %a, %b : !x -> tensor<?x160xi1>
  %16 = tw.select %15, %14, %11 : tensor<?x160xi1>, !x
  return %16 : !x
}
func.func @gather(%x: !x, %p: !p) -> !x {
  %y = tw.gather %x, %p : !x, !p -> !x
  return %y : !x
}
func.func @heads_as_rows(%x: !x, %g: tensor<32xf32>) -> !x {
  %0 = tw.reshape %x : !x -> tensor<?x32xf32>
  %1 = rms_norm.norm %0 weight(%g : tensor<32xf32>) {epsilon = 1.0e-05 : f64} : tensor<?x32xf32>
  %2 = tw.reshape %1 : tensor<?x32xf32> -> !x
  %y = tw.add %2, %x : !x
  return %y : !x
}
func.func @products(%x: !h, %w: tensor<?x80x5xf32>) -> tensor<?x3x5xf32> {
  %y = tw.batch_matmul %x, %w : !h, tensor<?x80x5xf32> -> tensor<?x3x5xf32>
  return %y : tensor<?x3x5xf32>
}
func.func @moves(%x: !h, %g: tensor<80xf32>) -> tensor<?x80x6xf32> {
  %0 = tw.transpose %x perm [0, 2, 1] : !h -> tensor<?x80x3xf32>
  %1 = tw.broadcast %g like %0 dims [1] : tensor<80xf32>, tensor<?x80x3xf32> -> tensor<?x80x3xf32>
  %2 = tw.mul %0, %1 : tensor<?x80x3xf32>
  %3 = tw.reduce "max" %2 dims [2] : tensor<?x80x3xf32> -> tensor<?x80xf32>
  %4 = tw.broadcast %3 like %2 dims [0, 1] : tensor<?x80xf32>, tensor<?x80x3xf32> -> tensor<?x80x3xf32>
  %5 = tw.softmax %2 dim 1 : tensor<?x80x3xf32>
  %6 = tw.concat dim 2 %4, %5 : tensor<?x80x3xf32>, tensor<?x80x3xf32> -> tensor<?x80x6xf32>
  %7 = tw.slice %6 dim 2 start 2 size 3 : tensor<?x80x6xf32> -> tensor<?x80x3xf32>
  %y = tw.concat dim 2 %7, %2 : tensor<?x80x3xf32>, tensor<?x80x3xf32> -> tensor<?x80x6xf32>
  return %y : tensor<?x80x6xf32>
}
