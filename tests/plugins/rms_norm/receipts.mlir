// REQUIRES: plugin-rms_norm
// What the tile stage says of norms: part of a neighbour's sweep, or why not.
// RUN: %tw-opt %s --tile-form-kernels --remark-format=emitRemark --remarks-filter="receipt.*" -o /dev/null 2>&1 | FileCheck %s

// CHECK: [Passed] tile-form-kernels | Category:receipt:norm | Function=sweep | Reason="rms_norm.norm: part of a sweep over rows, in one kernel with tw.quantize_rows"
func.func @sweep(%x: tensor<?x64xf32>) -> (tensor<?x64xi8>, tensor<?x2xf32>, tensor<?x2xf32>) {
  %n = rms_norm.norm %x {epsilon = 1.0e-05 : f64} : tensor<?x64xf32>
  %q, %s, %z = tw.quantize_rows %n block 32 : tensor<?x64xf32> -> tensor<?x64xi8>, tensor<?x2xf32>, tensor<?x2xf32>
  return %q, %s, %z : tensor<?x64xi8>, tensor<?x2xf32>, tensor<?x2xf32>
}

// Whole rows of 512 behind a linear map, whose tiles have at most 256 columns.
// CHECK: [Missed] tile-form-kernels | Category:receipt:norm | Function=behind_linear | Reason="rms_norm.norm has a kernel of its own: it works on 512 neighbouring elements of a row at once, and a tile of the linear map in front of it, 512 columns wide, holds at most 256 of them", ToChange="nothing where it sweeps over whole rows
func.func @behind_linear(%x: tensor<?x64xf32>, %w: tensor<32x2x2048xi8>) -> tensor<?x512xf32> {
  %y = tw.packed_linear %x weight(%w : tensor<32x2x2048xi8>) {element = f32} : tensor<?x64xf32> -> tensor<?x512xf32>
  %n = rms_norm.norm %y {epsilon = 1.0e-05 : f64} : tensor<?x512xf32>
  return %n : tensor<?x512xf32>
}
