// REQUIRES: plugin-rotary_embedding
// What the tile stage says of rotations: the epilogue of the linear map that they turn, or why not.
// RUN: %tw-opt %s --tile-form-kernels --remark-format=emitRemark --remarks-filter="receipt.*" -o /dev/null 2>&1 | FileCheck %s

// CHECK: [Passed] tile-form-kernels | Category:receipt:rotary | Function=epilogue | Reason="rotary_embedding.rotate: an epilogue, in one kernel with tw.packed_linear"
func.func @epilogue(%x: tensor<?x64xf32>, %w: tensor<8x2x2048xi8>, %p: tensor<?xi32>) -> tensor<?x2x64xf32> {
  %y = tw.packed_linear %x weight(%w : tensor<8x2x2048xi8>) {element = f32} : tensor<?x64xf32> -> tensor<?x128xf32>
  %h = tw.reshape %y : tensor<?x128xf32> -> tensor<?x2x64xf32>
  %r = rotary_embedding.rotate %h, %p {base = 1.0e+04 : f64, rotary_dim = 64 : i64} : tensor<?x2x64xf32>, tensor<?xi32>
  return %r : tensor<?x2x64xf32>
}

// A head wider than any tile of a linear map.
// CHECK: [Missed] tile-form-kernels | Category:receipt:rotary | Function=wide | Reason="rotary_embedding.rotate has a kernel of its own: it works on 512 neighbouring elements of a row at once, and a tile of the linear map in front of it, 512 columns wide, holds at most 256 of them", ToChange="nothing where it sweeps over whole rows; else a head or group width that divides the linear map's result into tiles of at most 256 columns"
func.func @wide(%x: tensor<?x64xf32>, %w: tensor<32x2x2048xi8>, %p: tensor<?xi32>) -> tensor<?x1x512xf32> {
  %y = tw.packed_linear %x weight(%w : tensor<32x2x2048xi8>) {element = f32} : tensor<?x64xf32> -> tensor<?x512xf32>
  %h = tw.reshape %y : tensor<?x512xf32> -> tensor<?x1x512xf32>
  %r = rotary_embedding.rotate %h, %p {base = 1.0e+04 : f64, rotary_dim = 512 : i64} : tensor<?x1x512xf32>, tensor<?xi32>
  return %r : tensor<?x1x512xf32>
}

// CHECK: [Missed] tile-form-kernels | Category:receipt:rotary | Function=argument | Reason="rotary_embedding.rotate has a kernel of its own: none of its operands is computed by a linear map of this function"
func.func @argument(%h: tensor<?x2x64xf32>, %p: tensor<?xi32>) -> tensor<?x2x64xf32> {
  %r = rotary_embedding.rotate %h, %p {base = 1.0e+04 : f64, rotary_dim = 64 : i64} : tensor<?x2x64xf32>, tensor<?xi32>
  return %r : tensor<?x2x64xf32>
}
