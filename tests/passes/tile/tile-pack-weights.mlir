// RUN: %tw-opt %s --split-input-file --tile-pack-weights --verify-diagnostics | FileCheck %s
// RUN: %tw-opt %s --split-input-file --tile-pack-weights --remark-format=emitRemark --remarks-filter="receipt.*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=RECEIPT
// RECEIPT-COUNT-2: [Passed] tile-pack-weights | Category:receipt:weights | Function={{layer|step}} | Reason="reads the weight in its packed layout f32_16x32", layout=f32_16x32, weight=199x64xf32
// RECEIPT: [Passed] tile-pack-weights | Category:receipt:weights | Function=rest | Reason="reads the weight in its packed layout f32_16x32", layout=f32_16x32, weight=32x40xf32
// RECEIPT: [Passed] tile-pack-weights | Category:receipt:weights | Function=grouped | Reason="reads the weight in its packed layout f32_16x32", layout=f32_16x32, weight=3x32x40xf32
// RECEIPT-NOT: [Passed]

// Globals, arguments of functions and operands of calls change together; a weight of rank 1 stays.
// CHECK: ml_program.global private @w({{.*}}) : tensor<13x2x2048xi8> {tw.element = f32, tw.layout = "f32_16x32", tw.shape = array<i64: 199, 64>}
// CHECK: ml_program.global private @g({{.*}}) : tensor<64xf32>
ml_program.global private @w(#ml_program.extern : tensor<199x64xf32>) : tensor<199x64xf32>
ml_program.global private @g(#ml_program.extern : tensor<64xf32>) : tensor<64xf32>
// CHECK-LABEL: func.func @layer(%{{.*}}: tensor<?x64xf32>, %{{.*}}: tensor<13x2x2048xi8>)
func.func @layer(%x: tensor<?x64xf32>, %w: tensor<199x64xf32>) -> tensor<?x199xf32> {
  // CHECK: tw.packed_linear %{{.*}} weight(%{{.*}} : tensor<13x2x2048xi8>) {element = f32} : tensor<?x64xf32> -> tensor<?x199xf32>
  %y = tw.linear %x, %w : tensor<?x64xf32>, tensor<199x64xf32> -> tensor<?x199xf32>
  return %y : tensor<?x199xf32>
}
// CHECK-LABEL: func.func @step
func.func @step(%ids: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x199xf32> {
  // CHECK: ml_program.global_load_const @w : tensor<13x2x2048xi8>
  %w = ml_program.global_load_const @w : tensor<199x64xf32>
  // CHECK: tw.packed_gather %{{.*}}, %{{.*}} {element = f32} : tensor<13x2x2048xi8>, tensor<?xi32> -> tensor<?x64xf32>
  %x = tw.gather %w, %ids : tensor<199x64xf32>, tensor<?xi32> -> tensor<?x64xf32>
  // A gather of activations is none of a weight.
  // CHECK: tw.gather %{{.*}} : tensor<?x64xf32>, tensor<?xi32> -> tensor<?x64xf32>
  %z = tw.gather %x, %rows : tensor<?x64xf32>, tensor<?xi32> -> tensor<?x64xf32>
  // CHECK: call @layer(%{{.*}}) : (tensor<?x64xf32>, tensor<13x2x2048xi8>) -> tensor<?x199xf32>
  %y = call @layer(%z, %w) : (tensor<?x64xf32>, tensor<199x64xf32>) -> tensor<?x199xf32>
  return %y : tensor<?x199xf32>
}

// -----

// What is computed has no packed layout; neither has a weight of floats that other ops read.
// CHECK-LABEL: func.func @computed
func.func @computed(%x: tensor<?x64xf32>, %w: tensor<32x64xf32>) -> tensor<?x32xf32> {
  // CHECK: tw.linear
  %v = tw.neg %w : tensor<32x64xf32>
  %y = tw.linear %x, %v : tensor<?x64xf32>, tensor<32x64xf32> -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// -----

// CHECK: ml_program.global private @shared({{.*}}) : tensor<32x64xf32>
ml_program.global private @shared(#ml_program.extern : tensor<32x64xf32>) : tensor<32x64xf32>
// CHECK-LABEL: func.func @inner(%{{.*}}: tensor<?x64xf32>, %{{.*}}: tensor<32x64xf32>)
func.func @inner(%x: tensor<?x64xf32>, %w: tensor<32x64xf32>) -> tensor<?x32xf32> {
  // CHECK: tw.linear
  %y = tw.linear %x, %w : tensor<?x64xf32>, tensor<32x64xf32> -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}
// CHECK-LABEL: func.func @other_use
func.func @other_use(%x: tensor<?x64xf32>) -> (tensor<?x32xf32>, tensor<32x64xf32>) {
  %w = ml_program.global_load_const @shared : tensor<32x64xf32>
  %y = call @inner(%x, %w) : (tensor<?x64xf32>, tensor<32x64xf32>) -> tensor<?x32xf32>
  %v = tw.neg %w : tensor<32x64xf32>
  return %y, %v : tensor<?x32xf32>, tensor<32x64xf32>
}

// -----

// The last block of a row is filled up; a map of more than two dimensions is one of a matrix.
// CHECK-LABEL: func.func @rest(%{{.*}}: tensor<2x3x40xf32>, %{{.*}}: tensor<2x2x2048xi8>)
func.func @rest(%x: tensor<2x3x40xf32>, %w: tensor<32x40xf32>) -> tensor<2x3x32xf32> {
  // CHECK: %[[X:.*]] = tw.reshape %{{.*}} : tensor<2x3x40xf32> -> tensor<6x40xf32>
  // CHECK: %[[Y:.*]] = tw.packed_linear %[[X]] {{.*}} : tensor<6x40xf32> -> tensor<6x32xf32>
  // CHECK: tw.reshape %[[Y]] : tensor<6x32xf32> -> tensor<2x3x32xf32>
  %y = tw.linear %x, %w : tensor<2x3x40xf32>, tensor<32x40xf32> -> tensor<2x3x32xf32>
  return %y : tensor<2x3x32xf32>
}

// -----

// The matrices of groups stand one behind the other.
// CHECK: ml_program.global private @experts({{.*}}) : tensor<6x2x2048xi8> {tw.element = f32, tw.layout = "f32_16x32", tw.shape = array<i64: 96, 40>}
ml_program.global private @experts(#ml_program.extern : tensor<3x32x40xf32>) : tensor<3x32x40xf32>
// CHECK-LABEL: func.func @grouped
func.func @grouped(%x: tensor<?x40xf32>, %o: tensor<4xi32>, %b: tensor<3x32xf32>) -> tensor<?x32xf32> {
  %w = ml_program.global_load_const @experts : tensor<3x32x40xf32>
  // CHECK: tw.packed_grouped_linear %{{.*}} weight(%{{.*}} : tensor<6x2x2048xi8>) offsets(%{{.*}} : tensor<4xi32>) bias(%{{.*}} : tensor<3x32xf32>) {element = f32} : tensor<?x40xf32> -> tensor<?x32xf32>
  %y = tw.grouped_linear %x, %w offsets %o bias %b : tensor<?x40xf32>, tensor<3x32x40xf32>, tensor<4xi32>, tensor<3x32xf32> -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// -----

// Floats whose matrices do not end with a group of packed rows stay as they are, and so do matrices [in, out].
// CHECK-LABEL: func.func @plain_groups(%{{.*}}: tensor<?x40xf32>, %{{.*}}: tensor<3x20x40xf32>, %{{.*}}: tensor<3x40x32xf32>
func.func @plain_groups(%x: tensor<?x40xf32>, %w: tensor<3x20x40xf32>, %v: tensor<3x40x32xf32>, %o: tensor<4xi32>) -> (tensor<?x20xf32>, tensor<?x32xf32>) {
  // CHECK-COUNT-2: tw.grouped_linear
  %y = tw.grouped_linear %x, %w offsets %o : tensor<?x40xf32>, tensor<3x20x40xf32>, tensor<4xi32> -> tensor<?x20xf32>
  %z = tw.grouped_linear %x, %v offsets %o {in_out = true} : tensor<?x40xf32>, tensor<3x40x32xf32>, tensor<4xi32> -> tensor<?x32xf32>
  return %y, %z : tensor<?x20xf32>, tensor<?x32xf32>
}
