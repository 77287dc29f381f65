// y = x * w^T with w packed [N/16][K][16]; a chunk is 8 rows by one group of 16 columns; K = 576, N = 96.
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func @matmul_f32(%x: memref<?x576xf32> {tw.dims = ["N", 576]}, %w: memref<6x576x16xf32>,
                      %y: memref<?x96xf32> {tw.dims = ["N", 96]}, %rows: index {tw.symbol = "N"},
                      %begin: index, %end: index) {
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %X = bufferization.to_tensor %x restrict : memref<?x576xf32> to tensor<?x576xf32>
  %W = bufferization.to_tensor %w restrict : memref<6x576x16xf32> to tensor<6x576x16xf32>
  %Y = bufferization.to_tensor %y restrict writable : memref<?x96xf32> to tensor<?x96xf32>
  %result = scf.for %chunk = %begin to %end step %c1 iter_args(%Yi = %Y) -> (tensor<?x96xf32>) {
    %mt = arith.divui %chunk, %c6 : index
    %group = arith.remui %chunk, %c6 : index
    %row = arith.muli %mt, %c8 : index
    %col = arith.muli %group, %c16 : index
    %xs = tensor.extract_slice %X[%row, 0] [8, 576] [1, 1] : tensor<?x576xf32> to tensor<8x576xf32>
    %ws = tensor.extract_slice %W[%group, 0, 0] [1, 576, 16] [1, 1, 1] : tensor<6x576x16xf32> to tensor<576x16xf32>
    %d = tensor.extract_slice %Yi[%row, %col] [8, 16] [1, 1] : tensor<?x96xf32> to tensor<8x16xf32>
    %z = linalg.fill ins(%zero : f32) outs(%d : tensor<8x16xf32>) -> tensor<8x16xf32>
    %o = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%xs, %ws : tensor<8x576xf32>, tensor<576x16xf32>) outs(%z : tensor<8x16xf32>) {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %acc, %p : f32
      linalg.yield %s : f32
    } -> tensor<8x16xf32>
    %Yn = tensor.insert_slice %o into %Yi[%row, %col] [8, 16] [1, 1] : tensor<8x16xf32> into tensor<?x96xf32>
    scf.yield %Yn : tensor<?x96xf32>
  }
  bufferization.materialize_in_destination %result in restrict writable %y : (tensor<?x96xf32>, memref<?x96xf32>) -> ()
  return
}
