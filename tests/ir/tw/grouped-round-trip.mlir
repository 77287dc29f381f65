// RUN: %tw-opt %s | %tw-opt | FileCheck %s
// RUN: %tw-opt --mlir-print-op-generic %s | %tw-opt | FileCheck %s

// CHECK-LABEL: func.func @topk
func.func @topk(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>, %z: tensor<3xbf16>) {
  // CHECK: tw.topk %{{.*}} k 2 : tensor<?x8xf32> -> tensor<?x2xf32>, tensor<?x2xi32>
  %v, %i = tw.topk %x k 2 : tensor<?x8xf32> -> tensor<?x2xf32>, tensor<?x2xi32>
  // CHECK: tw.topk %{{.*}} take %{{.*}} k 2 : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x2xf32>, tensor<?x2xi32>
  %w, %j = tw.topk %x take %y k 2 : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<?x2xf32>, tensor<?x2xi32>
  // k is cut to what is there.
  // CHECK: tw.topk %{{.*}} k 5 : tensor<3xbf16> -> tensor<3xbf16>, tensor<3xi32>
  %u, %k = tw.topk %z k 5 : tensor<3xbf16> -> tensor<3xbf16>, tensor<3xi32>
  return
}

// CHECK-LABEL: func.func @grouped
func.func @grouped(%x: tensor<?x64xf32>, %ids: tensor<?xi32>, %w: tensor<8x96x64xf32>, %t: tensor<8x64x96xf32>, %b: tensor<8x96xf32>) {
  // CHECK: tw.group_rows %{{.*}} groups 8 per_row 2 : tensor<?xi32> -> tensor<?xi32>, tensor<?xi32>, tensor<9xi32>
  %rows, %places, %offsets = tw.group_rows %ids groups 8 per_row 2 : tensor<?xi32> -> tensor<?xi32>, tensor<?xi32>, tensor<9xi32>
  // CHECK: tw.grouped_linear %{{.*}}, %{{.*}} offsets %{{.*}} : tensor<?x64xf32>, tensor<8x96x64xf32>, tensor<9xi32> -> tensor<?x96xf32>
  %0 = tw.grouped_linear %x, %w offsets %offsets : tensor<?x64xf32>, tensor<8x96x64xf32>, tensor<9xi32> -> tensor<?x96xf32>
  // CHECK: tw.grouped_linear %{{.*}}, %{{.*}} offsets %{{.*}} bias %{{.*}} {in_out = true} : tensor<?x64xf32>, tensor<8x64x96xf32>, tensor<9xi32>, tensor<8x96xf32> -> tensor<?x96xf32>
  %1 = tw.grouped_linear %x, %t offsets %offsets bias %b {in_out = true} : tensor<?x64xf32>, tensor<8x64x96xf32>, tensor<9xi32>, tensor<8x96xf32> -> tensor<?x96xf32>
  return
}

// CHECK-LABEL: func.func @packed
func.func @packed(%x: tensor<?x64xf32>, %q: tensor<?x64xi8>, %s: tensor<?x2xf32>, %w: tensor<48x2x2048xi8>, %o: tensor<9xi32>, %b: tensor<8x96xf32>) {
  // CHECK: tw.packed_grouped_linear %{{.*}} weight(%{{.*}} : tensor<48x2x2048xi8>) offsets(%{{.*}} : tensor<9xi32>) bias(%{{.*}} : tensor<8x96xf32>) {element = f32} : tensor<?x64xf32> -> tensor<?x96xf32>
  %0 = tw.packed_grouped_linear %x weight(%w : tensor<48x2x2048xi8>) offsets(%o : tensor<9xi32>) bias(%b : tensor<8x96xf32>) {element = f32} : tensor<?x64xf32> -> tensor<?x96xf32>
  // CHECK: tw.packed_grouped_linear %{{.*}} scales(%{{.*}} : tensor<?x2xf32>) sums(%{{.*}} : tensor<?x2xf32>) weight
  %1 = tw.packed_grouped_linear %q scales(%s : tensor<?x2xf32>) sums(%s : tensor<?x2xf32>) weight(%w : tensor<48x2x2048xi8>) offsets(%o : tensor<9xi32>) {element = f32} : tensor<?x64xi8> -> tensor<?x96xf32>
  return
}
