// REQUIRES: plugin-swiglu
// What the tile stage says of gated activations: the epilogue of gate and up, or why not.
// RUN: %tw-opt %s --tile-form-kernels --remark-format=emitRemark --remarks-filter="receipt.*" -o /dev/null 2>&1 | FileCheck %s

// CHECK: [Passed] tile-form-kernels | Category:receipt:feed_forward | Function=epilogue | Reason="swiglu.glu: an epilogue, in one kernel with 2 x tw.packed_linear"
func.func @epilogue(%x: tensor<?x64xf32>, %g: tensor<8x2x2048xi8>, %u: tensor<8x2x2048xi8>) -> tensor<?x128xf32> {
  %a = tw.packed_linear %x weight(%g : tensor<8x2x2048xi8>) {element = f32} : tensor<?x64xf32> -> tensor<?x128xf32>
  %b = tw.packed_linear %x weight(%u : tensor<8x2x2048xi8>) {element = f32} : tensor<?x64xf32> -> tensor<?x128xf32>
  %y = swiglu.glu %a, %b {activation = "silu"} : tensor<?x128xf32>
  return %y : tensor<?x128xf32>
}

// CHECK: [Missed] tile-form-kernels | Category:receipt:feed_forward | Function=arguments | Reason="swiglu.glu has a kernel of its own: none of its operands is computed by a linear map of this function"
func.func @arguments(%a: tensor<?x128xf32>, %b: tensor<?x128xf32>) -> tensor<?x128xf32> {
  %y = swiglu.glu %a, %b {activation = "silu"} : tensor<?x128xf32>
  return %y : tensor<?x128xf32>
}
