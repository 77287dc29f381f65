// RUN: %tw-opt %s | %tw-opt | FileCheck %s
// RUN: %tw-opt --mlir-print-op-generic %s | %tw-opt | FileCheck %s

// CHECK-LABEL: func.func @unary
func.func @unary(%x: tensor<?x576xf32>) -> tensor<?x576xf32> {
  // CHECK: tw.neg %{{.*}} : tensor<?x576xf32>
  %0 = tw.neg %x : tensor<?x576xf32>
  // CHECK: tw.abs %{{.*}} : tensor<?x576xf32>
  %1 = tw.abs %0 : tensor<?x576xf32>
  // CHECK: tw.exp %{{.*}} : tensor<?x576xf32>
  %2 = tw.exp %1 : tensor<?x576xf32>
  // CHECK: tw.log %{{.*}} : tensor<?x576xf32>
  %3 = tw.log %2 : tensor<?x576xf32>
  // CHECK: tw.sqrt %{{.*}} : tensor<?x576xf32>
  %4 = tw.sqrt %3 : tensor<?x576xf32>
  // CHECK: tw.rsqrt %{{.*}} : tensor<?x576xf32>
  %5 = tw.rsqrt %4 : tensor<?x576xf32>
  // CHECK: tw.tanh %{{.*}} : tensor<?x576xf32>
  %6 = tw.tanh %5 : tensor<?x576xf32>
  // CHECK: tw.erf %{{.*}} : tensor<?x576xf32>
  %7 = tw.erf %6 : tensor<?x576xf32>
  // CHECK: tw.sin %{{.*}} : tensor<?x576xf32>
  %8 = tw.sin %7 : tensor<?x576xf32>
  // CHECK: tw.cos %{{.*}} : tensor<?x576xf32>
  %9 = tw.cos %8 : tensor<?x576xf32>
  // CHECK: tw.sigmoid %{{.*}} : tensor<?x576xf32>
  %10 = tw.sigmoid %9 : tensor<?x576xf32>
  return %10 : tensor<?x576xf32>
}

// CHECK-LABEL: func.func @binary
func.func @binary(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xbf16> {
  // CHECK: tw.add %{{.*}}, %{{.*}} : tensor<4x4xf32>
  %0 = tw.add %a, %b : tensor<4x4xf32>
  // CHECK: tw.sub %{{.*}}, %{{.*}} : tensor<4x4xf32>
  %1 = tw.sub %0, %b : tensor<4x4xf32>
  // CHECK: tw.mul %{{.*}}, %{{.*}} : tensor<4x4xf32>
  %2 = tw.mul %1, %b : tensor<4x4xf32>
  // CHECK: tw.div %{{.*}}, %{{.*}} : tensor<4x4xf32>
  %3 = tw.div %2, %b : tensor<4x4xf32>
  // CHECK: tw.maximum %{{.*}}, %{{.*}} : tensor<4x4xf32>
  %4 = tw.maximum %3, %b : tensor<4x4xf32>
  // CHECK: tw.minimum %{{.*}}, %{{.*}} : tensor<4x4xf32>
  %5 = tw.minimum %4, %b : tensor<4x4xf32>
  // CHECK: tw.compare "le", %{{.*}}, %{{.*}} : tensor<4x4xf32> -> tensor<4x4xi1>
  %6 = tw.compare "le", %5, %b : tensor<4x4xf32> -> tensor<4x4xi1>
  // CHECK: tw.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x4xi1>, tensor<4x4xf32>
  %7 = tw.select %6, %5, %b : tensor<4x4xi1>, tensor<4x4xf32>
  // CHECK: tw.cast %{{.*}} : tensor<4x4xf32> -> tensor<4x4xbf16>
  %8 = tw.cast %7 : tensor<4x4xf32> -> tensor<4x4xbf16>
  return %8 : tensor<4x4xbf16>
}

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<?x576xf32>, %g: tensor<576xf32>, %ids: tensor<?xi32>, %places: tensor<?x5xi32>) -> tensor<?x9x96xf32> {
  // CHECK: tw.constant dense<1.000000e+00> : tensor<4xf32>
  %c = tw.constant dense<1.0> : tensor<4xf32>
  // CHECK: tw.iota %{{.*}} dim 1 : tensor<?x576xf32> -> tensor<?x576xi32>
  %i = tw.iota %x dim 1 : tensor<?x576xf32> -> tensor<?x576xi32>
  // CHECK: tw.broadcast %{{.*}} like %{{.*}} dims [1] : tensor<576xf32>, tensor<?x576xf32> -> tensor<?x576xf32>
  %b = tw.broadcast %g like %x dims [1] : tensor<576xf32>, tensor<?x576xf32> -> tensor<?x576xf32>
  // CHECK: tw.reduce "mean" %{{.*}} dims [1] : tensor<?x576xf32> -> tensor<?xf32>
  %r = tw.reduce "mean" %b dims [1] : tensor<?x576xf32> -> tensor<?xf32>
  // CHECK: tw.reshape %{{.*}} : tensor<?x576xf32> -> tensor<?x9x64xf32>
  %q = tw.reshape %b : tensor<?x576xf32> -> tensor<?x9x64xf32>
  // CHECK: tw.transpose %{{.*}} perm [1, 0, 2] : tensor<?x9x64xf32> -> tensor<9x?x64xf32>
  %t = tw.transpose %q perm [1, 0, 2] : tensor<?x9x64xf32> -> tensor<9x?x64xf32>
  // CHECK: tw.slice %{{.*}} dim 2 start 32 size -1 : tensor<?x9x64xf32> -> tensor<?x9x32xf32>
  %s = tw.slice %q dim 2 start 32 size -1 : tensor<?x9x64xf32> -> tensor<?x9x32xf32>
  // CHECK: tw.concat dim 2 %{{.*}}, %{{.*}} : tensor<?x9x64xf32>, tensor<?x9x32xf32> -> tensor<?x9x96xf32>
  %j = tw.concat dim 2 %q, %s : tensor<?x9x64xf32>, tensor<?x9x32xf32> -> tensor<?x9x96xf32>
  // CHECK: tw.gather %{{.*}}, %{{.*}} : tensor<?x576xf32>, tensor<?xi32> -> tensor<?x576xf32>
  %e = tw.gather %x, %ids : tensor<?x576xf32>, tensor<?xi32> -> tensor<?x576xf32>
  // CHECK: tw.gather %{{.*}}, %{{.*}} {batch_dims = 1 : i64} : tensor<?x9x96xf32>, tensor<?x5xi32> -> tensor<?x5x96xf32>
  %h = tw.gather %j, %places {batch_dims = 1 : i64} : tensor<?x9x96xf32>, tensor<?x5xi32> -> tensor<?x5x96xf32>
  return %j : tensor<?x9x96xf32>
}

// CHECK-LABEL: func.func @linear
func.func @linear(%x: tensor<?x576xf32>, %w: tensor<1536x576xf32>, %b: tensor<1536xf32>, %p: tensor<96x18x2048xi8>)
    -> tensor<?x1536xf32> {
  // CHECK: tw.linear %{{.*}}, %{{.*}} : tensor<?x576xf32>, tensor<1536x576xf32> -> tensor<?x1536xf32>
  %0 = tw.linear %x, %w : tensor<?x576xf32>, tensor<1536x576xf32> -> tensor<?x1536xf32>
  // CHECK: tw.linear %{{.*}}, %{{.*}} bias %{{.*}} : tensor<?x576xf32>, tensor<1536x576xf32>, tensor<1536xf32> -> tensor<?x1536xf32>
  %1 = tw.linear %x, %w bias %b : tensor<?x576xf32>, tensor<1536x576xf32>, tensor<1536xf32> -> tensor<?x1536xf32>
  // CHECK: tw.quantize_rows %{{.*}} block 32 : tensor<?x576xf32> -> tensor<?x576xi8>, tensor<?x18xf32>, tensor<?x18xf32>
  %q, %s, %z = tw.quantize_rows %x block 32 : tensor<?x576xf32> -> tensor<?x576xi8>, tensor<?x18xf32>, tensor<?x18xf32>
  // CHECK: tw.packed_linear %{{.*}} scales(%{{.*}} : tensor<?x18xf32>) sums(%{{.*}} : tensor<?x18xf32>) weight(%{{.*}} : tensor<96x18x2048xi8>) {element = f32} : tensor<?x576xi8> -> tensor<?x1536xf32>
  %2 = tw.packed_linear %q scales(%s : tensor<?x18xf32>) sums(%z : tensor<?x18xf32>) weight(%p : tensor<96x18x2048xi8>)
       {element = f32} : tensor<?x576xi8> -> tensor<?x1536xf32>
  // CHECK: tw.packed_linear %{{.*}} weight(%{{.*}} : tensor<96x18x2048xi8>) bias(%{{.*}} : tensor<1536xf32>) {element = f32} : tensor<?x576xf32> -> tensor<?x1536xf32>
  %3 = tw.packed_linear %x weight(%p : tensor<96x18x2048xi8>) bias(%b : tensor<1536xf32>) {element = f32} : tensor<?x576xf32> -> tensor<?x1536xf32>
  return %3 : tensor<?x1536xf32>
}

// CHECK-LABEL: func.func @attention_dense
func.func @attention_dense(%q: tensor<2x6x?x16xf32>, %k: tensor<2x2x?x16xf32>, %v: tensor<2x2x?x8xf32>,
                           %m: tensor<2x1x?x?xi1>, %b: tensor<?x?xf32>, %s: tensor<6xf32>) -> tensor<2x6x?x8xf32> {
  // CHECK: tw.attention query(%{{.*}} : tensor<2x6x?x16xf32>) key(%{{.*}} : tensor<2x2x?x16xf32>) value(%{{.*}} : tensor<2x2x?x8xf32>)
  // CHECK-SAME: mask(%{{.*}} : tensor<2x1x?x?xi1>) bias(%{{.*}} : tensor<?x?xf32>) sinks(%{{.*}} : tensor<6xf32>)
  // CHECK-SAME: {causal = "start", scale = 2.500000e-01 : f64, softcap = 3.000000e+01 : f64, window = 7 : i64} -> tensor<2x6x?x8xf32>
  %0 = tw.attention query(%q : tensor<2x6x?x16xf32>) key(%k : tensor<2x2x?x16xf32>) value(%v : tensor<2x2x?x8xf32>)
       mask(%m : tensor<2x1x?x?xi1>) bias(%b : tensor<?x?xf32>) sinks(%s : tensor<6xf32>)
       {scale = 0.25 : f64, causal = "start", window = 7 : i64, softcap = 30.0 : f64} -> tensor<2x6x?x8xf32>
  return %0 : tensor<2x6x?x8xf32>
}

// CHECK-LABEL: func.func @attention_everything
func.func @attention_everything(%q: tensor<2x?x6x16xf32>, %k: tensor<2x?x2x16xf32>, %m: tensor<2x1x?xi32>, %l: tensor<2xi32>)
    -> (tensor<2x?x6x16xf32>, tensor<2x6x?xf32>, tensor<2x6x?x?xf32>) {
  // CHECK: %[[R:.*]], %[[X:.*]]:2 = tw.attention query(%{{.*}} : tensor<2x?x6x16xf32>) key(%{{.*}} : tensor<2x?x2x16xf32>)
  // CHECK-SAME: mask(%{{[^ ]*}} : tensor<2x1x?xi32>) kv_start(%{{[^ ]*}} : tensor<2xi32>) kv_end(%{{[^ ]*}} : tensor<2xi32>)
  // CHECK-SAME: prefix_len(%{{[^ ]*}} : tensor<2xi32>) score {
  // CHECK-NEXT: ^bb0(%[[S:[^ ]*]]: f32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32):
  // CHECK-NEXT: tw.yield %[[S]] : f32
  // CHECK-NEXT: } {chunk = 4 : i64, layout = "bthd", offset = 2 : i64, radius = 3 : i64, scale = 2.500000e-01 : f64}
  // CHECK-SAME: -> tensor<2x?x6x16xf32>, tensor<2x6x?xf32>, tensor<2x6x?x?xf32>
  %0, %1, %2 = tw.attention query(%q : tensor<2x?x6x16xf32>) key(%k : tensor<2x?x2x16xf32>) value(%k : tensor<2x?x2x16xf32>)
       mask(%m : tensor<2x1x?xi32>) kv_start(%l : tensor<2xi32>) kv_end(%l : tensor<2xi32>) prefix_len(%l : tensor<2xi32>)
       score {
       ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
         tw.yield %s : f32
       } {scale = 0.25 : f64, radius = 3 : i64, chunk = 4 : i64, offset = 2 : i64, layout = "bthd"}
       -> tensor<2x?x6x16xf32>, tensor<2x6x?xf32>, tensor<2x6x?x?xf32>
  return %0, %1, %2 : tensor<2x?x6x16xf32>, tensor<2x6x?xf32>, tensor<2x6x?x?xf32>
}

// CHECK-LABEL: func.func @attention_packed
func.func @attention_packed(%q: tensor<1x9x3x4x8xf32>, %c: tensor<4xi32>) -> tensor<1x9x4x8xf32> {
  // CHECK: tw.attention query(%{{.*}} : tensor<1x9x3x4x8xf32>) cu_seqlens_q(%{{[^ ]*}} : tensor<4xi32>) cu_seqlens_kv(%{{[^ ]*}} : tensor<4xi32>)
  // CHECK-SAME: {causal = "end", layout = "bt3hd", scale = 2.500000e-01 : f64} -> tensor<1x9x4x8xf32>
  %0 = tw.attention query(%q : tensor<1x9x3x4x8xf32>) cu_seqlens_q(%c : tensor<4xi32>) cu_seqlens_kv(%c : tensor<4xi32>)
       {scale = 0.25 : f64, causal = "end", layout = "bt3hd"} -> tensor<1x9x4x8xf32>
  return %0 : tensor<1x9x4x8xf32>
}

// CHECK-LABEL: func.func @attention_ragged
func.func @attention_ragged(%q: tensor<?x9x64xf32>, %k: tensor<?x3x64xf32>, %r: tensor<?xi32>, %l: tensor<?xi32>,
    %p: tensor<?xi32>, %s: !tw.state<tensor<?x3x64xf32>, tensor<?x3x64xf32>>)
    -> (tensor<?x9x64xf32>, !tw.state<tensor<?x3x64xf32>, tensor<?x3x64xf32>>) {
  // CHECK: tw.append %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : !tw.state<tensor<?x3x64xf32>, tensor<?x3x64xf32>>, tensor<?xi32>, tensor<?x3x64xf32>, tensor<?x3x64xf32>
  %s1 = tw.append %s, %r, %k, %k
      : !tw.state<tensor<?x3x64xf32>, tensor<?x3x64xf32>>, tensor<?xi32>, tensor<?x3x64xf32>, tensor<?x3x64xf32>
  // CHECK: tw.attention query(%{{.*}} : tensor<?x9x64xf32>) state(%{{.*}} : !tw.state<tensor<?x3x64xf32>, tensor<?x3x64xf32>>)
  // CHECK-SAME: row_start(%{{.*}} : tensor<?xi32>) kv_len(%{{.*}} : tensor<?xi32>) positions(%{{.*}} : tensor<?xi32>)
  // CHECK-SAME: {causal = "end", scale = 1.250000e-01 : f64} -> tensor<?x9x64xf32>
  %0 = tw.attention query(%q : tensor<?x9x64xf32>) state(%s1 : !tw.state<tensor<?x3x64xf32>, tensor<?x3x64xf32>>)
       row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>) positions(%p : tensor<?xi32>)
       {scale = 0.125 : f64, causal = "end"} -> tensor<?x9x64xf32>
  return %0, %s1 : tensor<?x9x64xf32>, !tw.state<tensor<?x3x64xf32>, tensor<?x3x64xf32>>
}

// CHECK-LABEL: func.func @attention_of_a_source
func.func @attention_of_a_source(%q: tensor<?x9x64xf32>, %k: tensor<?x3x64xf32>, %r: tensor<?xi32>, %l: tensor<?xi32>,
    %p: tensor<?xi32>, %b: tensor<9x257xf32>, %s: !tw.state<tensor<?x3x64xf32>, tensor<?x3x64xf32> in source>,
    %t: !tw.state<tensor<?x3x64xf32> in transient>) -> !tw.state<tensor<?x3x64xf32> in transient> {
  // CHECK: tw.attention query(%{{.*}} : tensor<?x9x64xf32>) state(%{{.*}} : !tw.state<tensor<?x3x64xf32>, tensor<?x3x64xf32> in source>)
  // CHECK-SAME: bias(%{{.*}} : tensor<9x257xf32>) {radius = 64 : i64, scale = 1.250000e-01 : f64} -> tensor<?x9x64xf32>
  %0 = tw.attention query(%q : tensor<?x9x64xf32>) state(%s : !tw.state<tensor<?x3x64xf32>, tensor<?x3x64xf32> in source>)
       row_start(%r : tensor<?xi32>) kv_len(%l : tensor<?xi32>) positions(%p : tensor<?xi32>) bias(%b : tensor<9x257xf32>)
       {scale = 0.125 : f64, radius = 64 : i64} -> tensor<?x9x64xf32>
  // CHECK: tw.append %{{.*}}, %{{.*}}, %{{.*}} : !tw.state<tensor<?x3x64xf32> in transient>, tensor<?xi32>, tensor<?x3x64xf32>
  %t1 = tw.append %t, %r, %k : !tw.state<tensor<?x3x64xf32> in transient>, tensor<?xi32>, tensor<?x3x64xf32>
  return %t1 : !tw.state<tensor<?x3x64xf32> in transient>
}

// CHECK-LABEL: func.func @contractions
func.func @contractions(%a: tensor<2x9x?x64xf32>) -> tensor<2x9x?x?xf32> {
  // CHECK: tw.batch_matmul %{{.*}}, %{{.*}} {transpose_b = true} : tensor<2x9x?x64xf32>, tensor<2x9x?x64xf32> -> tensor<2x9x?x?xf32>
  %s = tw.batch_matmul %a, %a {transpose_b = true} : tensor<2x9x?x64xf32>, tensor<2x9x?x64xf32> -> tensor<2x9x?x?xf32>
  // CHECK: tw.softmax %{{.*}} dim 3 : tensor<2x9x?x?xf32>
  %p = tw.softmax %s dim 3 : tensor<2x9x?x?xf32>
  return %p : tensor<2x9x?x?xf32>
}

func.func private @kernel(tensor<?x64xf32> {tw.source = ["operand", 0]})

// CHECK-LABEL: func.func @tile_stage
func.func @tile_stage(%t: tensor<4x2x2048xi8>, %ids: tensor<?xi32>) -> tensor<?x64xf32> {
  // CHECK: tw.packed_gather %{{.*}}, %{{.*}} {element = f32} : tensor<4x2x2048xi8>, tensor<?xi32> -> tensor<?x64xf32>
  %x = tw.packed_gather %t, %ids {element = f32} : tensor<4x2x2048xi8>, tensor<?xi32> -> tensor<?x64xf32>
  // CHECK: tw.dispatch @kernel(%{{.*}}) chunks #{{.*}} : (tensor<?x64xf32>) -> tensor<?x64xf32>
  %y = tw.dispatch @kernel(%x) chunks affine_map<()[n, r, t, l] -> (n floordiv 16)> : (tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}
