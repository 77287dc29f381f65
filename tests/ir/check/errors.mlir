// RUN: %tw-opt --verify-diagnostics --split-input-file %s

func.func @expect_close_c1_negative(%x: tensor<?xf32>) {
  // expected-error@+1 {{'check.expect_close' op absolute is -1.000000e+00, wanted a finite number >= 0}}
  check.expect_close %x, %x {absolute = -1.0 : f64} : tensor<?xf32>
  return
}

// -----

func.func @expect_close_c1_infinite(%x: tensor<?xf32>) {
  // expected-error@+1 {{relative is}}
  check.expect_close %x, %x {relative = 0x7FF0000000000000 : f64} : tensor<?xf32>
  return
}

// -----

func.func @expect_close_integers(%x: tensor<?xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of floating-point values}}
  check.expect_close %x, %x : tensor<?xi32>
  return
}
