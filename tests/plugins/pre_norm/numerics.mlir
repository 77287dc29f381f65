// REQUIRES: plugin-pre_norm, plugin-rms_norm
// Half of x twice sums to x exactly, and the norm is PyTorch's (tests/golden/cases).
// RUN: %python %golden/fill.py %golden/cases %s | %tw-opt --reference-interpret -o /dev/null
// RUN: %python %golden/fill.py %golden/cases %s | %tw-opt --reference-interpret=precision=f32 -o /dev/null

func.func @test_add_norm() {
  %x = tw.constant {{rms_weight:in.x}}
  %g = tw.constant {{rms_weight:in.weight}}
  %y = tw.constant {{rms_weight:out.y}}
  %half = tw.constant dense<0.5> : tensor<3x5x48xf32>
  %h = tw.mul %x, %half : tensor<3x5x48xf32>
  %s, %n = pre_norm.add_norm "rms_norm.norm" %h, %h params(%g : tensor<48xf32>) {norm_attributes = {epsilon = 1.0e-06 : f64, operandSegmentSizes = array<i32: 1, 1, 0>}} : tensor<3x5x48xf32>
  check.expect_eq %s, %x : tensor<3x5x48xf32>
  check.expect_close %n, %y {absolute = {{rms_weight:limit out.y}} : f64} : tensor<3x5x48xf32>
  return
}
