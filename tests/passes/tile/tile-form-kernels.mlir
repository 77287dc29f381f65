// RUN: %tw-opt %s --split-input-file --tile-form-kernels=shape-class=decode --tile-verify-kernel-ops --verify-diagnostics | FileCheck %s --check-prefixes=CHECK,DECODE
// RUN: %tw-opt %s --split-input-file --tile-form-kernels=shape-class=prefill --tile-verify-kernel-ops --verify-diagnostics | FileCheck %s --check-prefixes=CHECK,PREFILL
// RUN: %tw-opt %s --split-input-file '--tile-form-kernels=shape-class=decode kv-type=bf16' --tile-verify-kernel-ops --verify-diagnostics | FileCheck %s --check-prefix=BF16
// RUN: not %tw-opt %s '--tile-form-kernels=shape-class=decode kv-type=f16' 2>&1 | FileCheck %s --check-prefix=KV
// KV: tile-form-kernels: unknown kv-type 'f16', wanted f32 or bf16
// RUN: not %tw-opt %s --split-input-file --tile-form-kernels --remark-format=emitRemark --remarks-filter="receipt.*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=RECEIPT
// RECEIPT-DAG: [Passed] tile-form-kernels | Category:receipt:residual | Function=epilogue | Reason="tw.add: an epilogue, in one kernel with tw.packed_linear"
// RECEIPT-DAG: [Passed] tile-form-kernels | Category:receipt:elementwise | Function=joined | Reason="tw.mul: an epilogue, in one kernel with 2 x tw.packed_linear"

// What follows a linear map column by column shares its kernel; rows and columns both make chunks.
// DECODE: affine_map<()[s0, s1, s2, s3] -> (s0 * 2)>
// PREFILL: affine_map<()[s0, s1, s2, s3] -> ((s0 floordiv 16) * 2)>
// CHECK-LABEL: func.func @epilogue
// CHECK-SAME: attributes {tw.shape_class = "
func.func @epilogue(%x: tensor<?x64xf32>, %w: tensor<2x2x2048xi8>, %r: tensor<?x32xf32>) -> tensor<?x32xf32> {
  // CHECK: %[[Y:.*]] = tw.dispatch @[[K:epilogue_0_packed_linear_add]](%{{.*}}, %{{.*}}, %{{.*}}) chunks
  // CHECK-SAME: (tensor<?x64xf32>, tensor<2x2x2048xi8>, tensor<?x32xf32>) -> tensor<?x32xf32>
  // CHECK: return %[[Y]]
  %y = tw.packed_linear %x weight(%w : tensor<2x2x2048xi8>) {element = f32} : tensor<?x64xf32> -> tensor<?x32xf32>
  %z = tw.add %y, %r : tensor<?x32xf32>
  return %z : tensor<?x32xf32>
}
// CHECK: func.func @[[K]](
// CHECK-SAME: memref<?x64xf32> {tw.dims = ["N", 64], tw.source = ["operand", 0]}
// CHECK-SAME: memref<2x2x2048xi8> {tw.source = ["operand", 1]}
// CHECK-SAME: memref<?x32xf32> {tw.dims = ["N", 32], tw.source = ["operand", 2]}
// CHECK-SAME: memref<?x32xf32> {tw.dims = ["N", 32], tw.source = ["result", 0]}
// CHECK-SAME: index {tw.symbol = "N"}, %[[BEGIN:.*]]: index, %[[END:.*]]: index) attributes {tw.kernel}
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]]
// The reduction over blocks, then the residual, written to its place.
// CHECK: scf.for
// DECODE: linalg.generic {{.*}} "reduction"]} ins(%{{.*}} : tensor<1x32xf32>, tensor<32x16xf32>) outs(%{{.*}} : tensor<1x16xf32>)
// PREFILL: linalg.generic {{.*}} "reduction"]} ins(%{{.*}} : tensor<16x32xf32>, tensor<32x16xf32>) outs(%{{.*}} : tensor<16x16xf32>)
// CHECK: %[[PLACE:.*]] = tensor.extract_slice %[[DEST:arg[0-9]+]][
// CHECK: linalg.generic {{.*}} outs(%[[PLACE]]
// CHECK: arith.addf
// CHECK: tensor.insert_slice %{{.*}} into %[[DEST]]
// CHECK: bufferization.materialize_in_destination %{{.*}} in restrict writable

// -----

// A reshape to heads is part of the epilogue; two linear maps that meet share a kernel.
// CHECK-LABEL: func.func @joined
func.func @joined(%x: tensor<?x64xf32>, %a: tensor<12x2x2048xi8>, %b: tensor<12x2x2048xi8>) -> tensor<?x3x64xf32> {
  // CHECK: tw.dispatch @joined_0_packed_linear_mul(
  // CHECK-NOT: tw.dispatch
  %p = tw.packed_linear %x weight(%a : tensor<12x2x2048xi8>) {element = f32} : tensor<?x64xf32> -> tensor<?x192xf32>
  %q = tw.packed_linear %x weight(%b : tensor<12x2x2048xi8>) {element = f32} : tensor<?x64xf32> -> tensor<?x192xf32>
  %m = tw.mul %p, %q : tensor<?x192xf32>
  %y = tw.reshape %m : tensor<?x192xf32> -> tensor<?x3x64xf32>
  return %y : tensor<?x3x64xf32>
}
// A head is 64 columns: four groups of 16 rows of the weight.
// CHECK: func.func @joined_0_packed_linear_mul(
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}} : tensor<{{1|16}}x16xf32> into tensor<{{1|16}}x64xf32>

// -----

// Columns behind the last full group: a narrower tile of their own in the last chunk.
// CHECK-LABEL: func.func @tail
func.func @tail(%x: tensor<?x64xf32>, %w: tensor<3x2x2048xi8>, %bias: tensor<39xf32>) -> tensor<?x39xf32> {
  %y = tw.packed_linear %x weight(%w : tensor<3x2x2048xi8>) bias(%bias : tensor<39xf32>) {element = f32} : tensor<?x64xf32> -> tensor<?x39xf32>
  return %y : tensor<?x39xf32>
}
// CHECK: func.func @tail_0_packed_linear(
// CHECK: tensor.insert_slice %{{.*}} : tensor<{{1|16}}x16xf32> into tensor<?x39xf32>
// CHECK: tensor.insert_slice %{{.*}}, 32] [{{1|16}}, 7] [1, 1] : tensor<{{1|16}}x7xf32> into tensor<?x39xf32>

// -----

// Rows counted by something else name it; a gather takes its ids' rows; a view that nobody computes stays in the program.
// CHECK-LABEL: func.func @logits
func.func @logits(%x: tensor<?x64xf32> {tw.dims = ["N", 64]}, %rows: tensor<?xi32> {tw.dims = ["R"]}) -> tensor<?x2x32xf32> {
  // CHECK: %[[G:.*]] = tw.dispatch @logits_0_gather(%{{.*}}, %{{.*}}) chunks #[[MAP:.*]] :
  // CHECK: tw.reshape %[[G]]
  %g = tw.gather %x, %rows : tensor<?x64xf32>, tensor<?xi32> -> tensor<?x64xf32>
  %y = tw.reshape %g : tensor<?x64xf32> -> tensor<?x2x32xf32>
  return %y : tensor<?x2x32xf32>
}
// CHECK: func.func @logits_0_gather(
// CHECK-SAME: tw.dims = ["N", 64], tw.source = ["operand", 0]
// CHECK-SAME: tw.dims = ["R"], tw.source = ["operand", 1]
// CHECK-SAME: tw.dims = ["R", 64], tw.source = ["result", 0]

// -----

// Attention and append choose their own chunks; the state is dispatched as a value.
// CHECK-LABEL: func.func @attend
func.func @attend(%s: !tw.state<tensor<?x3x64xf32>, tensor<?x3x64xf32>>, %q: tensor<?x9x64xf32>, %k: tensor<?x3x64xf32>, %v: tensor<?x3x64xf32>,
                  %starts: tensor<?xi32>, %lengths: tensor<?xi32>, %positions: tensor<?xi32>) -> (tensor<?x9x64xf32>, !tw.state<tensor<?x3x64xf32>, tensor<?x3x64xf32>>) {
  // CHECK: %[[S:.*]] = tw.dispatch @attend_0_append(%{{.*}}, %{{.*}}, %{{.*}}) chunks #{{.*}} : (tensor<?x3x64xf32>, !tw.state<{{.*}}>, tensor<?x3x64xf32>) -> !tw.state
  // CHECK: tw.dispatch @attend_1_attention(%{{.*}}, %[[S]]) chunks #{{.*}} : (tensor<?x9x64xf32>, !tw.state<{{.*}}>) -> tensor<?x9x64xf32>
  %t = tw.append %s, %starts, %k, %v : !tw.state<tensor<?x3x64xf32>, tensor<?x3x64xf32>>, tensor<?xi32>, tensor<?x3x64xf32>, tensor<?x3x64xf32>
  %o = tw.attention query(%q : tensor<?x9x64xf32>) state(%t : !tw.state<tensor<?x3x64xf32>, tensor<?x3x64xf32>>) row_start(%starts : tensor<?xi32>)
         kv_len(%lengths : tensor<?xi32>) positions(%positions : tensor<?xi32>) {scale = 0.125 : f64, causal = "end"} -> tensor<?x9x64xf32>
  return %o, %t : tensor<?x9x64xf32>, !tw.state<tensor<?x3x64xf32>, tensor<?x3x64xf32>>
}
// States of f32 are kept in pairs of bf16; the graph does not change.
// BF16-LABEL: func.func @attend(
// BF16-SAME: !tw.state<tensor<?x3x64xf32>, tensor<?x3x64xf32>>
// BF16: func.func @attend_0_append(
// BF16-SAME: memref<?x3x32x64x2xbf16> {tw.dims = ["POOL", 3, 32, 64, 2], tw.source = ["state", 1, 0]}
// BF16-SAME: memref<?x3x32x64x2xbf16> {tw.dims = ["POOL", 3, 32, 64, 2], tw.source = ["state", 1, 1]}
// BF16: arith.truncf
// CHECK: func.func @attend_0_append(
// CHECK-SAME: memref<?x3x64x64xf32> {tw.dims = ["POOL", 3, 64, 64], tw.source = ["state", 1, 0]}
// CHECK-SAME: memref<?x2xi32> {tw.dims = ["N", 2], tw.source = ["table", "row_slots"]}
// CHECK: func.func @attend_1_attention(
// CHECK-SAME: memref<?x8xi32> {tw.dims = ["T", 8], tw.source = ["table", "tiles"]}
// CHECK-SAME: memref<?xi32> {tw.dims = ["P"], tw.source = ["table", "pages"]}

// -----

// Ops with a reference lowering alone are lowered before (tile-lower-by-reference).
func.func @none(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // expected-error @below {{'tw.softmax' op has no kernel form: a plugin or a pass that lowers it is missing}}
  %y = tw.softmax %x dim 1 : tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

// What the receipts of ops say that stand alone.
// RECEIPT-DAG: [Missed] tile-form-kernels | Category:receipt:elementwise | Function=alone | Reason="tw.exp has a kernel of its own: none of its operands is computed by a linear map of this function", ToChange="let it follow a linear map, through reshapes at most, or stand beside another op on the same rows"
func.func @alone(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %y = tw.exp %x : tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

// Attention that no plugin took up.
// RECEIPT-DAG: [Missed] tile-form-kernels | Category:receipt:attention | Function=unfused | Reason="no pass has fused it: tw.attention has a kernel of its own", ToChange="load a plugin that fuses ops of this kind, and see what its own receipt for this place says"
func.func @unfused(%q: tensor<?x4x64xf32>, %s: !tw.state<tensor<?x2x64xf32>, tensor<?x2x64xf32>>, %r: tensor<?xi32>, %l: tensor<?xi32>, %p: tensor<?xi32>) -> tensor<?x4x64xf32> {
  %o = tw.attention query(%q : tensor<?x4x64xf32>) state(%s : !tw.state<tensor<?x2x64xf32>, tensor<?x2x64xf32>>) row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>) positions(%p : tensor<?xi32>) {scale = 0.125 : f64, causal = "end"} -> tensor<?x4x64xf32>
  return %o : tensor<?x4x64xf32>
}

// -----

// RECEIPT-DAG: [Missed] tile-form-kernels | Category:receipt:elementwise | Function=static | Reason="tw.exp has a kernel of its own: it has no rows, so no linear map shares its tiles", ToChange="nothing: it is computed once a step"
func.func @static(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %y = tw.exp %x : tensor<4x64xf32>
  return %y : tensor<4x64xf32>
}
