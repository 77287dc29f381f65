// RUN: %tw-opt %s --split-input-file --tile-pack-weights --verify-diagnostics | FileCheck %s
// RUN: not %tw-opt %s --split-input-file --tile-pack-weights --remark-format=emitRemark --remarks-filter="receipt.*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=RECEIPT
// RECEIPT-COUNT-2: [Passed] tile-pack-weights | Category:receipt:weights | Function={{layer|step}} | Reason="reads the weight in its packed layout f32_16x32", layout=f32_16x32, weight=199x64xf32
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

func.func @computed(%x: tensor<?x64xf32>, %w: tensor<32x64xf32>) -> tensor<?x32xf32> {
  %v = tw.neg %w : tensor<32x64xf32>
  // expected-error @below {{reads a weight that is computed, wanted one of the model's weights}}
  %y = tw.linear %x, %v : tensor<?x64xf32>, tensor<32x64xf32> -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// -----

func.func @other_use(%x: tensor<?x64xf32>, %w: tensor<32x64xf32>) -> (tensor<?x32xf32>, tensor<32x64xf32>) {
  %y = tw.linear %x, %w : tensor<?x64xf32>, tensor<32x64xf32> -> tensor<?x32xf32>
  // expected-error @below {{reads a packed weight of type 'tensor<32x64xf32>', which only tw.linear and tw.gather can}}
  %v = tw.neg %w : tensor<32x64xf32>
  return %y, %v : tensor<?x32xf32>, tensor<32x64xf32>
}

// -----

func.func @block(%x: tensor<?x40xf32>, %w: tensor<32x40xf32>) -> tensor<?x32xf32> {
  // expected-error @below {{whose rows are no multiple of the 32 elements of a block of 'f32'}}
  %y = tw.linear %x, %w : tensor<?x40xf32>, tensor<32x40xf32> -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}
