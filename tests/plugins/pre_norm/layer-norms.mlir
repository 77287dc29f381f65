// REQUIRES: plugin-pre_norm, plugin-rms_norm
// Layer norms written in core ops, in every place of a block: each is recognised, and shares a sweep with the sum that it
// reads, if it reads one.
// RUN: %tw-opt --rms-norm-recognise --pre-norm-fuse-residual %s | FileCheck %s

// norm(x + u): the sum is read by nothing else.
// CHECK-LABEL: func.func @post_norm
// CHECK-NEXT: %[[S:.*]], %[[N:.*]] = pre_norm.add_norm "rms_norm.layer_norm" %arg0, %arg1 params(%arg2, %arg3 : tensor<8xf32>, tensor<8xf32>)
// CHECK-NEXT: return %[[N]]
func.func @post_norm(%x: tensor<?x8xf32>, %u: tensor<?x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<?x8xf32> {
  %s = tw.add %x, %u : tensor<?x8xf32>
  %mean = tw.reduce "mean" %s dims [1] : tensor<?x8xf32> -> tensor<?xf32>
  %means = tw.broadcast %mean like %s dims [0] : tensor<?xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  %d = tw.sub %s, %means : tensor<?x8xf32>
  %d2 = tw.mul %d, %d : tensor<?x8xf32>
  %v = tw.reduce "mean" %d2 dims [1] : tensor<?x8xf32> -> tensor<?xf32>
  %eps = tw.constant dense<1.0e-05> : tensor<f32>
  %e = tw.broadcast %eps like %v dims [] : tensor<f32>, tensor<?xf32> -> tensor<?xf32>
  %ve = tw.add %v, %e : tensor<?xf32>
  %r = tw.rsqrt %ve : tensor<?xf32>
  %rs = tw.broadcast %r like %d dims [0] : tensor<?xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  %n = tw.mul %d, %rs : tensor<?x8xf32>
  %gs = tw.broadcast %g like %n dims [1] : tensor<8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  %w = tw.mul %n, %gs : tensor<?x8xf32>
  %bs = tw.broadcast %b like %w dims [1] : tensor<8xf32>, tensor<?x8xf32> -> tensor<?x8xf32>
  %y = tw.add %w, %bs : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// x + f(norm(x)), and the next norm of the sum.
// CHECK-LABEL: func.func @pre_norm
// CHECK: %[[N:.*]] = rms_norm.layer_norm %arg0 weight(%arg1 : tensor<8xf32>)
// CHECK: %[[F:.*]] = tw.linear %[[N]]
// CHECK: %[[S:.*]], %[[M:.*]] = pre_norm.add_norm "rms_norm.layer_norm" %arg0, %[[F]] params(%arg1 : tensor<8xf32>)
// CHECK: return %[[S]], %[[M]]
func.func @pre_norm(%x: tensor<?x8xf32>, %g: tensor<8xf32>, %w: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %n = rms_norm.layer_norm %x weight(%g : tensor<8xf32>) {epsilon = 1.0e-05 : f64} : tensor<?x8xf32>
  %f = tw.linear %n, %w : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>
  %s = tw.add %x, %f : tensor<?x8xf32>
  %m = rms_norm.layer_norm %s weight(%g : tensor<8xf32>) {epsilon = 1.0e-05 : f64} : tensor<?x8xf32>
  return %s, %m : tensor<?x8xf32>, tensor<?x8xf32>
}

// x + norm(f(norm(x))): neither norm reads a sum of this function, the sum behind them is the next layer's.
// CHECK-LABEL: func.func @sandwich
// CHECK: rms_norm.layer_norm
// CHECK: rms_norm.layer_norm
// CHECK-NOT: pre_norm
// CHECK: tw.add
func.func @sandwich(%x: tensor<?x8xf32>, %g: tensor<8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %n = rms_norm.layer_norm %x weight(%g : tensor<8xf32>) {epsilon = 1.0e-05 : f64} : tensor<?x8xf32>
  %f = tw.linear %n, %w : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>
  %m = rms_norm.layer_norm %f weight(%g : tensor<8xf32>) {epsilon = 1.0e-05 : f64} : tensor<?x8xf32>
  %s = tw.add %x, %m : tensor<?x8xf32>
  return %s : tensor<?x8xf32>
}

// x + f(n) + g(n), n the norm of x: one norm for both, and the next one shares the sweep of the second sum.
// CHECK-LABEL: func.func @parallel
// CHECK: %[[N:.*]] = rms_norm.layer_norm %arg0
// CHECK-DAG: %[[F:.*]] = tw.linear %[[N]], %arg2
// CHECK-DAG: %[[G:.*]] = tw.linear %[[N]], %arg3
// CHECK: %[[S:.*]] = tw.add %arg0, %[[F]]
// CHECK: %[[T:.*]], %[[M:.*]] = pre_norm.add_norm "rms_norm.layer_norm" %[[S]], %[[G]]
func.func @parallel(%x: tensor<?x8xf32>, %g: tensor<8xf32>, %v: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %n = rms_norm.layer_norm %x weight(%g : tensor<8xf32>) {epsilon = 1.0e-05 : f64} : tensor<?x8xf32>
  %f = tw.linear %n, %v : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>
  %h = tw.linear %n, %w : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>
  %s = tw.add %x, %f : tensor<?x8xf32>
  %t = tw.add %s, %h : tensor<?x8xf32>
  %m = rms_norm.layer_norm %t weight(%g : tensor<8xf32>) {epsilon = 1.0e-05 : f64} : tensor<?x8xf32>
  return %t, %m : tensor<?x8xf32>, tensor<?x8xf32>
}
