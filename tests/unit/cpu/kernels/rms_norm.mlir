// y[r, :] = x[r, :] / sqrt(mean(x[r, :]^2) + 1e-5) * w; a chunk is 8 rows of 576.
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>
#id = affine_map<(m) -> (m)>
func.func @rms_norm(%x: memref<?x576xf32> {tw.dims = ["N", 576]}, %w: memref<576xf32>,
                    %y: memref<?x576xf32> {tw.dims = ["N", 576]}, %rows: index {tw.symbol = "N"},
                    %begin: index, %end: index) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 576.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %X = bufferization.to_tensor %x restrict : memref<?x576xf32> to tensor<?x576xf32>
  %W = bufferization.to_tensor %w restrict : memref<576xf32> to tensor<576xf32>
  %Y = bufferization.to_tensor %y restrict writable : memref<?x576xf32> to tensor<?x576xf32>
  %result = scf.for %chunk = %begin to %end step %c1 iter_args(%Yi = %Y) -> (tensor<?x576xf32>) {
    %row = arith.muli %chunk, %c8 : index
    %xs = tensor.extract_slice %X[%row, 0] [8, 576] [1, 1] : tensor<?x576xf32> to tensor<8x576xf32>
    %e = tensor.empty() : tensor<8xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %ss = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
        ins(%xs : tensor<8x576xf32>) outs(%z : tensor<8xf32>) {
    ^bb0(%a: f32, %s: f32):
      %sq = arith.mulf %a, %a : f32
      %t = arith.addf %s, %sq : f32
      linalg.yield %t : f32
    } -> tensor<8xf32>
    %e2 = tensor.empty() : tensor<8xf32>
    %inv = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%ss : tensor<8xf32>) outs(%e2 : tensor<8xf32>) {
    ^bb0(%s: f32, %o: f32):
      %mean = arith.divf %s, %count : f32
      %v = arith.addf %mean, %eps : f32
      %r = math.rsqrt %v : f32
      linalg.yield %r : f32
    } -> tensor<8xf32>
    %d = tensor.extract_slice %Yi[%row, 0] [8, 576] [1, 1] : tensor<?x576xf32> to tensor<8x576xf32>
    %o = linalg.generic {indexing_maps = [#mn, #m, #n, #mn], iterator_types = ["parallel", "parallel"]}
        ins(%xs, %inv, %W : tensor<8x576xf32>, tensor<8xf32>, tensor<576xf32>) outs(%d : tensor<8x576xf32>) {
    ^bb0(%a: f32, %r: f32, %g: f32, %old: f32):
      %t = arith.mulf %a, %r : f32
      %u = arith.mulf %t, %g : f32
      linalg.yield %u : f32
    } -> tensor<8x576xf32>
    %Yn = tensor.insert_slice %o into %Yi[%row, 0] [8, 576] [1, 1] : tensor<8x576xf32> into tensor<?x576xf32>
    scf.yield %Yn : tensor<?x576xf32>
  }
  bufferization.materialize_in_destination %result in restrict writable %y : (tensor<?x576xf32>, memref<?x576xf32>) -> ()
  return
}
