// RUN: %tw-opt --simplify-raise-softmax %s | FileCheck %s
// RUN: %tw-opt --simplify-raise-softmax --remark-format=emitRemark --remarks-filter="receipt.*" %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=RECEIPT
// Before and after: the same numbers.
// RUN: %tw-opt --reference-interpret %s -o /dev/null
// RUN: %tw-opt --simplify-raise-softmax --reference-interpret %s -o /dev/null

// CHECK-LABEL: func.func @with_maximum
// CHECK-SAME: (%[[X:.*]]: tensor<?x5xf32>)
// CHECK-NEXT: %[[Y:.*]] = tw.softmax %[[X]] dim 1 : tensor<?x5xf32>
// CHECK-NEXT: return %[[Y]]
// RECEIPT-DAG: [Passed] simplify-raise-softmax | Category:receipt:softmax | Function=with_maximum | Reason="raised to tw.softmax over dimension 1"
func.func @with_maximum(%x: tensor<?x5xf32>) -> tensor<?x5xf32> {
  %m = tw.reduce "max" %x dims [1] : tensor<?x5xf32> -> tensor<?xf32>
  %mb = tw.broadcast %m like %x dims [0] : tensor<?xf32>, tensor<?x5xf32> -> tensor<?x5xf32>
  %d = tw.sub %x, %mb : tensor<?x5xf32>
  %e = tw.exp %d : tensor<?x5xf32>
  %s = tw.reduce "sum" %e dims [1] : tensor<?x5xf32> -> tensor<?xf32>
  %sb = tw.broadcast %s like %x dims [0] : tensor<?xf32>, tensor<?x5xf32> -> tensor<?x5xf32>
  %y = tw.div %e, %sb : tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}

// A product with the reciprocal, in 16 bits, along the first dimension, without the maximum.
// CHECK-LABEL: func.func @reciprocal
// CHECK-SAME: (%[[X:.*]]: tensor<3x5xbf16>)
// CHECK: %[[W:.*]] = tw.cast %[[X]]
// CHECK: %[[Y:.*]] = tw.softmax %[[W]] dim 0 : tensor<3x5xf32>
// CHECK: return %[[Y]]
func.func @reciprocal(%x: tensor<3x5xbf16>) -> tensor<3x5xf32> {
  %w = tw.cast %x : tensor<3x5xbf16> -> tensor<3x5xf32>
  %e = tw.exp %w : tensor<3x5xf32>
  %s = tw.reduce "sum" %e dims [0] : tensor<3x5xf32> -> tensor<5xf32>
  %sb = tw.broadcast %s like %w dims [1] : tensor<5xf32>, tensor<3x5xf32> -> tensor<3x5xf32>
  %one = tw.constant dense<1.0> : tensor<3x5xf32>
  %r = tw.div %one, %sb : tensor<3x5xf32>
  %y = tw.mul %r, %e : tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// The maximum over the other dimension may be taken by mistake: left, with a receipt.
// CHECK-LABEL: func.func @other_maximum
// CHECK-NOT: tw.softmax
// CHECK: return
// RECEIPT-DAG: [Missed] simplify-raise-softmax | Category:receipt:softmax | Function=other_maximum | Reason="the maximum is over dimension 0 and the sum over 1", ToChange="take both over the same dimension"
func.func @other_maximum(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %m = tw.reduce "max" %x dims [0] : tensor<3x5xf32> -> tensor<5xf32>
  %mb = tw.broadcast %m like %x dims [1] : tensor<5xf32>, tensor<3x5xf32> -> tensor<3x5xf32>
  %d = tw.sub %x, %mb : tensor<3x5xf32>
  %e = tw.exp %d : tensor<3x5xf32>
  %s = tw.reduce "sum" %e dims [1] : tensor<3x5xf32> -> tensor<3xf32>
  %sb = tw.broadcast %s like %x dims [0] : tensor<3xf32>, tensor<3x5xf32> -> tensor<3x5xf32>
  %y = tw.div %e, %sb : tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// CHECK-LABEL: func.func @whole
// CHECK-NOT: tw.softmax
// CHECK: return
// RECEIPT-DAG: Function=whole | Reason="the sum is over 2 dimensions, wanted one", ToChange="join them by a reshape before the exponentials"
func.func @whole(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %e = tw.exp %x : tensor<3x5xf32>
  %s = tw.reduce "sum" %e dims [0, 1] : tensor<3x5xf32> -> tensor<f32>
  %sb = tw.broadcast %s like %x dims [] : tensor<f32>, tensor<3x5xf32> -> tensor<3x5xf32>
  %y = tw.div %e, %sb : tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// Over the sum of other exponentials, or over a maximum: no softmax, no candidate.
// CHECK-LABEL: func.func @other_sum
// CHECK-NOT: tw.softmax
// CHECK: return
// RECEIPT-NOT: other_sum
func.func @other_sum(%x: tensor<3x5xf32>, %z: tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>) {
  %e = tw.exp %x : tensor<3x5xf32>
  %f = tw.exp %z : tensor<3x5xf32>
  %s = tw.reduce "sum" %f dims [1] : tensor<3x5xf32> -> tensor<3xf32>
  %sb = tw.broadcast %s like %x dims [0] : tensor<3xf32>, tensor<3x5xf32> -> tensor<3x5xf32>
  %y = tw.div %e, %sb : tensor<3x5xf32>
  %m = tw.reduce "max" %e dims [1] : tensor<3x5xf32> -> tensor<3xf32>
  %mb = tw.broadcast %m like %x dims [0] : tensor<3xf32>, tensor<3x5xf32> -> tensor<3x5xf32>
  %w = tw.div %e, %mb : tensor<3x5xf32>
  return %y, %w : tensor<3x5xf32>, tensor<3x5xf32>
}

// CHECK-LABEL: func.func @test_numbers
// CHECK: tw.softmax
func.func @test_numbers() {
  %x = tw.constant dense<[[0.0, 1.0, 2.0], [-3.0, 700.0, 700.0]]> : tensor<2x3xf32>
  %m = tw.reduce "max" %x dims [1] : tensor<2x3xf32> -> tensor<2xf32>
  %mb = tw.broadcast %m like %x dims [0] : tensor<2xf32>, tensor<2x3xf32> -> tensor<2x3xf32>
  %d = tw.sub %x, %mb : tensor<2x3xf32>
  %e = tw.exp %d : tensor<2x3xf32>
  %s = tw.reduce "sum" %e dims [1] : tensor<2x3xf32> -> tensor<2xf32>
  %sb = tw.broadcast %s like %x dims [0] : tensor<2xf32>, tensor<2x3xf32> -> tensor<2x3xf32>
  %y = tw.div %e, %sb : tensor<2x3xf32>
  %w = tw.constant dense<[[0.09003057, 0.24472847, 0.66524096], [0.0, 0.5, 0.5]]> : tensor<2x3xf32>
  check.expect_close %y, %w {absolute = 1.0e-06 : f64} : tensor<2x3xf32>
  return
}
