// REQUIRES: plugin-rms_norm
// Layer norms against PyTorch's values (tests/golden/cases): parameters absent, one element a row, rows that are all one
// number, rows far from 0, a tiny epsilon.
// RUN: %python %golden/fill.py %golden/cases %s | %tw-opt --reference-interpret -o /dev/null
// RUN: %python %golden/fill.py %golden/cases %s | %tw-opt --reference-interpret=precision=f32 -o /dev/null
// What the recogniser makes of the same norms written in core ops is held to the same values.
// RUN: %python %golden/fill.py %golden/cases %s | %tw-opt --reference-lower --rms-norm-recognise --canonicalize | FileCheck %s
// RUN: %python %golden/fill.py %golden/cases %s | %tw-opt --reference-lower --rms-norm-recognise --reference-interpret -o /dev/null

// CHECK-LABEL: func.func @test_ln_full
// CHECK: rms_norm.layer_norm %{{.*}} weight({{.*}} bias(
// CHECK-NEXT: check.expect_close
func.func @test_ln_full() {
  %x = tw.constant {{ln_full:in.x}}
  %g = tw.constant {{ln_full:in.weight}}
  %b = tw.constant {{ln_full:in.bias}}
  %y = tw.constant {{ln_full:out.y}}
  %n = rms_norm.layer_norm %x weight(%g : tensor<48xf32>) bias(%b : tensor<48xf32>) {epsilon = 1.0e-05 : f64} : tensor<3x5x48xf32>
  check.expect_close %n, %y {absolute = {{ln_full:limit out.y}} : f64} : tensor<3x5x48xf32>
  return
}

// CHECK-LABEL: func.func @test_ln_gamma_only
// CHECK: rms_norm.layer_norm %{{.*}} weight(
// CHECK-NEXT: check.expect_close
func.func @test_ln_gamma_only() {
  %x = tw.constant {{ln_gamma_only:in.x}}
  %g = tw.constant {{ln_gamma_only:in.weight}}
  %y = tw.constant {{ln_gamma_only:out.y}}
  %n = rms_norm.layer_norm %x weight(%g : tensor<48xf32>) {epsilon = 1.0e-05 : f64} : tensor<3x5x48xf32>
  check.expect_close %n, %y {absolute = {{ln_gamma_only:limit out.y}} : f64} : tensor<3x5x48xf32>
  return
}

// CHECK-LABEL: func.func @test_ln_none
// CHECK: rms_norm.layer_norm %{{.*}} {epsilon
// CHECK-NEXT: check.expect_close
func.func @test_ln_none() {
  %x = tw.constant {{ln_none:in.x}}
  %y = tw.constant {{ln_none:out.y}}
  %n = rms_norm.layer_norm %x {epsilon = 1.0e-05 : f64} : tensor<3x5x48xf32>
  check.expect_close %n, %y {absolute = {{ln_none:limit out.y}} : f64} : tensor<3x5x48xf32>
  return
}

// CHECK-LABEL: func.func @test_ln_d1
// CHECK: rms_norm.layer_norm %{{.*}} weight({{.*}} bias(
// CHECK-NEXT: check.expect_close
func.func @test_ln_d1() {
  %x = tw.constant {{ln_d1:in.x}}
  %g = tw.constant {{ln_d1:in.weight}}
  %b = tw.constant {{ln_d1:in.bias}}
  %y = tw.constant {{ln_d1:out.y}}
  %n = rms_norm.layer_norm %x weight(%g : tensor<1xf32>) bias(%b : tensor<1xf32>) {epsilon = 1.0e-05 : f64} : tensor<3x1xf32>
  check.expect_close %n, %y {absolute = {{ln_d1:limit out.y}} : f64} : tensor<3x1xf32>
  return
}

// CHECK-LABEL: func.func @test_ln_const_rows
// CHECK: rms_norm.layer_norm %{{.*}} weight({{.*}} bias(
// CHECK-NEXT: check.expect_close
func.func @test_ln_const_rows() {
  %x = tw.constant {{ln_const_rows:in.x}}
  %g = tw.constant {{ln_const_rows:in.weight}}
  %b = tw.constant {{ln_const_rows:in.bias}}
  %y = tw.constant {{ln_const_rows:out.y}}
  %n = rms_norm.layer_norm %x weight(%g : tensor<48xf32>) bias(%b : tensor<48xf32>) {epsilon = 1.0e-05 : f64} : tensor<3x5x48xf32>
  check.expect_close %n, %y {absolute = {{ln_const_rows:limit out.y}} : f64} : tensor<3x5x48xf32>
  return
}

// CHECK-LABEL: func.func @test_ln_offset_1000
// CHECK: rms_norm.layer_norm %{{.*}} weight({{.*}} bias(
// CHECK-NEXT: check.expect_close
func.func @test_ln_offset_1000() {
  %x = tw.constant {{ln_offset_1000:in.x}}
  %g = tw.constant {{ln_offset_1000:in.weight}}
  %b = tw.constant {{ln_offset_1000:in.bias}}
  %y = tw.constant {{ln_offset_1000:out.y}}
  %n = rms_norm.layer_norm %x weight(%g : tensor<96xf32>) bias(%b : tensor<96xf32>) {epsilon = 1.0e-05 : f64} : tensor<4x96xf32>
  check.expect_close %n, %y {absolute = {{ln_offset_1000:limit out.y}} : f64} : tensor<4x96xf32>
  return
}

// CHECK-LABEL: func.func @test_ln_d129_eps1e_12
// CHECK: rms_norm.layer_norm %{{.*}} weight({{.*}} bias(
// CHECK-NEXT: check.expect_close
func.func @test_ln_d129_eps1e_12() {
  %x = tw.constant {{ln_d129_eps1e-12:in.x}}
  %g = tw.constant {{ln_d129_eps1e-12:in.weight}}
  %b = tw.constant {{ln_d129_eps1e-12:in.bias}}
  %y = tw.constant {{ln_d129_eps1e-12:out.y}}
  %n = rms_norm.layer_norm %x weight(%g : tensor<129xf32>) bias(%b : tensor<129xf32>) {epsilon = 1.0e-12 : f64} : tensor<4x129xf32>
  check.expect_close %n, %y {absolute = {{ln_d129_eps1e-12:limit out.y}} : f64} : tensor<4x129xf32>
  return
}
