// y = x * w^T in bf16 with f32 sums, w packed [N/16][K/2][16][2]; the result also rounded to bf16.
// A chunk is 8 rows by one group of 16 columns; K = 64, N = 32.
#x = affine_map<(m, n, k, v) -> (m, k, v)>
#w = affine_map<(m, n, k, v) -> (k, n, v)>
#y = affine_map<(m, n, k, v) -> (m, n)>
#mn = affine_map<(m, n) -> (m, n)>
func.func @matmul_bf16(%x: memref<?x32x2xbf16>, %w: memref<2x32x16x2xbf16>, %y: memref<?x32xf32>, %yh: memref<?x32xbf16>,
                       %begin: index, %end: index) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %X = bufferization.to_tensor %x restrict : memref<?x32x2xbf16> to tensor<?x32x2xbf16>
  %W = bufferization.to_tensor %w restrict : memref<2x32x16x2xbf16> to tensor<2x32x16x2xbf16>
  %Y = bufferization.to_tensor %y restrict writable : memref<?x32xf32> to tensor<?x32xf32>
  %H = bufferization.to_tensor %yh restrict writable : memref<?x32xbf16> to tensor<?x32xbf16>
  %result:2 = scf.for %chunk = %begin to %end step %c1 iter_args(%Yi = %Y, %Hi = %H) -> (tensor<?x32xf32>, tensor<?x32xbf16>) {
    %mt = arith.divui %chunk, %c2 : index
    %group = arith.remui %chunk, %c2 : index
    %row = arith.muli %mt, %c8 : index
    %col = arith.muli %group, %c16 : index
    %xs = tensor.extract_slice %X[%row, 0, 0] [8, 32, 2] [1, 1, 1] : tensor<?x32x2xbf16> to tensor<8x32x2xbf16>
    %ws = tensor.extract_slice %W[%group, 0, 0, 0] [1, 32, 16, 2] [1, 1, 1, 1] : tensor<2x32x16x2xbf16> to tensor<32x16x2xbf16>
    %d = tensor.extract_slice %Yi[%row, %col] [8, 16] [1, 1] : tensor<?x32xf32> to tensor<8x16xf32>
    %z = linalg.fill ins(%zero : f32) outs(%d : tensor<8x16xf32>) -> tensor<8x16xf32>
    %o = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%xs, %ws : tensor<8x32x2xbf16>, tensor<32x16x2xbf16>) outs(%z : tensor<8x16xf32>) {
    ^bb0(%a: bf16, %b: bf16, %acc: f32):
      %af = arith.extf %a : bf16 to f32
      %bf = arith.extf %b : bf16 to f32
      %p = arith.mulf %af, %bf : f32
      %s = arith.addf %acc, %p : f32
      linalg.yield %s : f32
    } -> tensor<8x16xf32>
    %dh = tensor.extract_slice %Hi[%row, %col] [8, 16] [1, 1] : tensor<?x32xbf16> to tensor<8x16xbf16>
    %oh = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]}
        ins(%o : tensor<8x16xf32>) outs(%dh : tensor<8x16xbf16>) {
    ^bb0(%a: f32, %b: bf16):
      %t = arith.truncf %a : f32 to bf16
      linalg.yield %t : bf16
    } -> tensor<8x16xbf16>
    %Yn = tensor.insert_slice %o into %Yi[%row, %col] [8, 16] [1, 1] : tensor<8x16xf32> into tensor<?x32xf32>
    %Hn = tensor.insert_slice %oh into %Hi[%row, %col] [8, 16] [1, 1] : tensor<8x16xbf16> into tensor<?x32xbf16>
    scf.yield %Yn, %Hn : tensor<?x32xf32>, tensor<?x32xbf16>
  }
  bufferization.materialize_in_destination %result#0 in restrict writable %y : (tensor<?x32xf32>, memref<?x32xf32>) -> ()
  bufferization.materialize_in_destination %result#1 in restrict writable %yh : (tensor<?x32xbf16>, memref<?x32xbf16>) -> ()
  return
}
