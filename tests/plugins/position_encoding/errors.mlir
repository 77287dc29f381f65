// REQUIRES: plugin-position_encoding
// The samples hold a bad use for each constraint.
// RUN: %tw-opt %root/plugins/position_encoding/samples.mlir --split-input-file --verify-diagnostics -o /dev/null
// RUN: %tw-opt %s --reference-interpret --split-input-file --verify-diagnostics -o /dev/null

// A position past the table's end names it and the table's length.
func.func @test_position_past_the_table() {
  %t = tw.constant dense<1.0> : tensor<12x4xf32>
  %p = tw.constant dense<[[3, 11], [12, 0]]> : tensor<2x2xi32>
  // expected-error @+1 {{id 2 is 12, wanted 0 <= id < 12}}
  %y = position_encoding.learned %t, %p : tensor<12x4xf32>, tensor<2x2xi32> -> tensor<2x2x4xf32>
  return
}

// -----

func.func @test_negative_position() {
  %t = tw.constant dense<1.0> : tensor<12x4xf32>
  %p = tw.constant dense<[-1]> : tensor<1xi32>
  // expected-error @+1 {{id 0 is -1, wanted 0 <= id < 12}}
  %y = position_encoding.learned %t, %p : tensor<12x4xf32>, tensor<1xi32> -> tensor<1x4xf32>
  return
}

// -----

func.func @test_relation_past_the_table() {
  %t = tw.constant dense<1.0> : tensor<3x2xf32>
  %r = tw.constant dense<[[0, 1], [3, 2]]> : tensor<2x2xi32>
  // expected-error @+1 {{id 2 is 3, wanted 0 <= id < 3}}
  %y = position_encoding.relation_bias %r, %t : tensor<2x2xi32>, tensor<3x2xf32> -> tensor<1x2x2x2xf32>
  return
}
