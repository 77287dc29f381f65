// REQUIRES: plugin-rms_norm
// RUN: %tw-opt --rms-norm-recognise %s | FileCheck %s
// RUN: %tw-opt --rms-norm-recognise --remark-format=emitRemark --remarks-filter="receipt.*" %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=RECEIPT

// CHECK-LABEL: func.func @rms
// CHECK-SAME: (%[[X:.*]]: tensor<?x8xf32>, %[[G:.*]]: tensor<8xf32>)
// CHECK-NEXT: %[[Y:.*]] = rms_norm.norm %[[X]] weight(%[[G]] : tensor<8xf32>) {epsilon = 1.250000e-01 : f64} : tensor<?x8xf32>
// CHECK-NEXT: return %[[Y]]
// RECEIPT-DAG: [Passed] rms-norm-recognise | Category:receipt:norm | Function=rms | Reason="raised to rms_norm.norm"
func.func @rms(%x: tensor<?x8xf32>, %g: tensor<8xf32>) -> tensor<?x8xf32> {
  %s = tw.mul %x, %x : tensor<?x8xf32>
  %m = tw.reduce "mean" %s dims [1] : tensor<?x8xf32> -> tensor<?xf32>
  %c = tw.constant dense<0.125> : tensor<f32>
  %e = tw.broadcast %c like %m dims [] : tensor<f32>, tensor<?xf32> -> tensor<?xf32>
  %v = tw.add %e, %m : tensor<?xf32>
  %r = tw.rsqrt %v : tensor<?xf32>
  %rs = tw.broadcast %r like %x dims [0] : tensor<?xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  %n = tw.mul %rs, %x : tensor<?x8xf32>
  %gs = tw.broadcast %g like %n dims [1] : tensor<8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  %y = tw.mul %n, %gs : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// The mean keeps its dimension, the sum is divided by the width, the root is a quotient's, the weight an offset from one.
// CHECK-LABEL: func.func @rms_kept_dimension
// CHECK: rms_norm.norm %{{.*}} weight(%arg1 : tensor<8xf32>) bias(%arg2 : tensor<8xf32>) {epsilon = 1.250000e-01 : f64, unit_offset = true}
func.func @rms_kept_dimension(%x: tensor<2x3x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<2x3x8xf32> {
  %s = tw.mul %x, %x : tensor<2x3x8xf32>
  %sum = tw.reduce "sum" %s dims [2] : tensor<2x3x8xf32> -> tensor<2x3xf32>
  %kept = tw.reshape %sum : tensor<2x3xf32> -> tensor<2x3x1xf32>
  %eighth = tw.constant dense<0.125> : tensor<2x3x1xf32>
  %m = tw.mul %kept, %eighth : tensor<2x3x1xf32>
  %v = tw.add %m, %eighth : tensor<2x3x1xf32>
  %r = tw.sqrt %v : tensor<2x3x1xf32>
  %one = tw.constant dense<1.0> : tensor<2x3x1xf32>
  %i = tw.div %one, %r : tensor<2x3x1xf32>
  %row = tw.reshape %i : tensor<2x3x1xf32> -> tensor<2x3xf32>
  %is = tw.broadcast %row like %x dims [0, 1] : tensor<2x3xf32>, tensor<2x3x8xf32> -> tensor<2x3x8xf32>
  %n = tw.mul %x, %is : tensor<2x3x8xf32>
  %ones = tw.constant dense<1.0> : tensor<8xf32>
  %g1 = tw.add %ones, %g : tensor<8xf32>
  %gs = tw.broadcast %g1 like %n dims [2] : tensor<8xf32>, tensor<2x3x8xf32> -> tensor<2x3x8xf32>
  %w = tw.mul %n, %gs : tensor<2x3x8xf32>
  %bs = tw.broadcast %b like %n dims [2] : tensor<8xf32>, tensor<2x3x8xf32> -> tensor<2x3x8xf32>
  %y = tw.add %w, %bs : tensor<2x3x8xf32>
  return %y : tensor<2x3x8xf32>
}

// CHECK-LABEL: func.func @epsilon_outside
// CHECK: rms_norm.norm %{{.*}} {epsilon = 1.250000e-01 : f64, epsilon_outside = true}
func.func @epsilon_outside(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %s = tw.mul %x, %x : tensor<4x8xf32>
  %m = tw.reduce "mean" %s dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %r = tw.sqrt %m : tensor<4xf32>
  %e = tw.constant dense<0.125> : tensor<4xf32>
  %d = tw.add %r, %e : tensor<4xf32>
  %ds = tw.broadcast %d like %x dims [0] : tensor<4xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  %y = tw.div %x, %ds : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// A layer norm in 16 bits that is computed in f32 rounds once.
// CHECK-LABEL: func.func @narrow_layer
// CHECK-NEXT: rms_norm.layer_norm %arg0 weight(%arg1 : tensor<8xf32>) {epsilon = 0.000000e+00 : f64} : tensor<?x8xbf16>
// CHECK-NEXT: return
func.func @narrow_layer(%x: tensor<?x8xbf16>, %g: tensor<8xf32>) -> tensor<?x8xbf16> {
  %f = tw.cast %x : tensor<?x8xbf16> -> tensor<?x8xf32>
  %mean = tw.reduce "mean" %f dims [1] : tensor<?x8xf32> -> tensor<?xf32>
  %means = tw.broadcast %mean like %f dims [0] : tensor<?xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  %d = tw.sub %f, %means : tensor<?x8xf32>
  %s = tw.mul %d, %d : tensor<?x8xf32>
  %v = tw.reduce "mean" %s dims [1] : tensor<?x8xf32> -> tensor<?xf32>
  %r = tw.rsqrt %v : tensor<?xf32>
  %rs = tw.broadcast %r like %f dims [0] : tensor<?xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  %n = tw.mul %d, %rs : tensor<?x8xf32>
  %gs = tw.broadcast %g like %n dims [1] : tensor<8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  %w = tw.mul %n, %gs : tensor<?x8xf32>
  %y = tw.cast %w : tensor<?x8xf32> -> tensor<?x8xbf16>
  return %y : tensor<?x8xbf16>
}

// RMS in 16 bits: rounded before the weight is rms_norm.norm's own order; rounded behind it is not, and stays in f32.
// CHECK-LABEL: func.func @narrow_rms
// CHECK: %[[N:.*]] = rms_norm.norm %arg0 weight(%arg1 : tensor<8xbf16>) {{.*}} : tensor<4x8xbf16>
// CHECK: %[[F:.*]] = tw.cast %arg0 : tensor<4x8xbf16> -> tensor<4x8xf32>
// CHECK: %[[M:.*]] = rms_norm.norm %[[F]] weight(%{{.*}} : tensor<8xf32>) {{.*}} : tensor<4x8xf32>
// CHECK: %[[C:.*]] = tw.cast %[[M]]
// CHECK: return %[[N]], %[[C]]
func.func @narrow_rms(%x: tensor<4x8xbf16>, %g: tensor<8xbf16>) -> (tensor<4x8xbf16>, tensor<4x8xbf16>) {
  %f = tw.cast %x : tensor<4x8xbf16> -> tensor<4x8xf32>
  %s = tw.mul %f, %f : tensor<4x8xf32>
  %m = tw.reduce "mean" %s dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %r = tw.rsqrt %m : tensor<4xf32>
  %rs = tw.broadcast %r like %f dims [0] : tensor<4xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  %n = tw.mul %f, %rs : tensor<4x8xf32>
  %c = tw.cast %n : tensor<4x8xf32> -> tensor<4x8xbf16>
  %gs = tw.broadcast %g like %c dims [1] : tensor<8xbf16>, tensor<4x8xbf16> -> tensor<4x8xbf16>
  %first = tw.mul %c, %gs : tensor<4x8xbf16>
  %g2 = tw.cast %g : tensor<8xbf16> -> tensor<8xf32>
  %f2 = tw.cast %x : tensor<4x8xbf16> -> tensor<4x8xf32>
  %s2 = tw.mul %f2, %f2 : tensor<4x8xf32>
  %m2 = tw.reduce "mean" %s2 dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %r2 = tw.rsqrt %m2 : tensor<4xf32>
  %rs2 = tw.broadcast %r2 like %f2 dims [0] : tensor<4xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  %n2 = tw.mul %f2, %rs2 : tensor<4x8xf32>
  %gs2 = tw.broadcast %g2 like %n2 dims [1] : tensor<8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  %w2 = tw.mul %n2, %gs2 : tensor<4x8xf32>
  %second = tw.cast %w2 : tensor<4x8xf32> -> tensor<4x8xbf16>
  return %first, %second : tensor<4x8xbf16>, tensor<4x8xbf16>
}

// The normalised row is asked for as well: what is multiplied by the weight stays beside the norm.
// CHECK-LABEL: func.func @shared
// CHECK: %[[N:.*]] = rms_norm.norm %arg0 {epsilon
// CHECK: %[[W:.*]] = tw.mul %[[N]]
// CHECK: return %[[N]], %[[W]]
func.func @shared(%x: tensor<4x8xf32>, %g: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %s = tw.mul %x, %x : tensor<4x8xf32>
  %m = tw.reduce "mean" %s dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %r = tw.rsqrt %m : tensor<4xf32>
  %rs = tw.broadcast %r like %x dims [0] : tensor<4xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  %n = tw.mul %x, %rs : tensor<4x8xf32>
  %gs = tw.broadcast %g like %n dims [1] : tensor<8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  %w = tw.mul %n, %gs : tensor<4x8xf32>
  return %n, %w : tensor<4x8xf32>, tensor<4x8xf32>
}

// The mean of squares over columns is no norm of rows.
// CHECK-LABEL: func.func @columns
// CHECK-NOT: rms_norm
// CHECK: return
// RECEIPT-DAG: [Missed] rms-norm-recognise | Category:receipt:norm | Function=columns | Reason="the mean is not over the last dimension alone", ToChange="normalise over the last dimension, of static size, by its mean square plus a positive constant"
func.func @columns(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %s = tw.mul %x, %x : tensor<8x8xf32>
  %m = tw.reduce "mean" %s dims [0] : tensor<8x8xf32> -> tensor<8xf32>
  %r = tw.rsqrt %m : tensor<8xf32>
  %rs = tw.broadcast %r like %x dims [0] : tensor<8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %y = tw.mul %x, %rs : tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// The sample's deviation, which divides by one less than there are elements.
// RECEIPT-DAG: [Missed] rms-norm-recognise | Category:receipt:norm | Function=sample_deviation | Reason="a row's sum is multiplied by 0.142857, wanted 0.125000"
func.func @sample_deviation(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %s = tw.mul %x, %x : tensor<4x8xf32>
  %sum = tw.reduce "sum" %s dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %c = tw.constant dense<7.0> : tensor<4xf32>
  %m = tw.div %sum, %c : tensor<4xf32>
  %r = tw.sqrt %m : tensor<4xf32>
  %rs = tw.broadcast %r like %x dims [0] : tensor<4xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  %y = tw.div %x, %rs : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// RECEIPT-DAG: [Missed] rms-norm-recognise | Category:receipt:norm | Function=negative_epsilon | Reason="epsilon is -0.125000"
func.func @negative_epsilon(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %s = tw.mul %x, %x : tensor<4x8xf32>
  %m = tw.reduce "mean" %s dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %e = tw.constant dense<-0.125> : tensor<4xf32>
  %v = tw.add %m, %e : tensor<4xf32>
  %r = tw.rsqrt %v : tensor<4xf32>
  %rs = tw.broadcast %r like %x dims [0] : tensor<4xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  %y = tw.mul %x, %rs : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// RECEIPT-DAG: [Missed] rms-norm-recognise | Category:receipt:norm | Function=another_value | Reason="the root of a row's mean square divides another value than the one that was squared", ToChange="square and divide the same value"
func.func @another_value(%x: tensor<4x8xf32>, %z: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %s = tw.mul %x, %x : tensor<4x8xf32>
  %m = tw.reduce "mean" %s dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  %r = tw.rsqrt %m : tensor<4xf32>
  %rs = tw.broadcast %r like %x dims [0] : tensor<4xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  %y = tw.mul %z, %rs : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
