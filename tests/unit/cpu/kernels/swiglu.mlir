// y = gate * sigmoid(gate) * up; a chunk is 4 rows of 1536.
#mn = affine_map<(m, n) -> (m, n)>
func.func @swiglu(%g: memref<?x1536xf32> {tw.dims = ["N", 1536]}, %u: memref<?x1536xf32> {tw.dims = ["N", 1536]},
                  %y: memref<?x1536xf32> {tw.dims = ["N", 1536]}, %rows: index {tw.symbol = "N"},
                  %begin: index, %end: index) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1.0 : f32
  %G = bufferization.to_tensor %g restrict : memref<?x1536xf32> to tensor<?x1536xf32>
  %U = bufferization.to_tensor %u restrict : memref<?x1536xf32> to tensor<?x1536xf32>
  %Y = bufferization.to_tensor %y restrict writable : memref<?x1536xf32> to tensor<?x1536xf32>
  %result = scf.for %chunk = %begin to %end step %c1 iter_args(%Yi = %Y) -> (tensor<?x1536xf32>) {
    %row = arith.muli %chunk, %c4 : index
    %gs = tensor.extract_slice %G[%row, 0] [4, 1536] [1, 1] : tensor<?x1536xf32> to tensor<4x1536xf32>
    %us = tensor.extract_slice %U[%row, 0] [4, 1536] [1, 1] : tensor<?x1536xf32> to tensor<4x1536xf32>
    %d = tensor.extract_slice %Yi[%row, 0] [4, 1536] [1, 1] : tensor<?x1536xf32> to tensor<4x1536xf32>
    %o = linalg.generic {indexing_maps = [#mn, #mn, #mn], iterator_types = ["parallel", "parallel"]}
        ins(%gs, %us : tensor<4x1536xf32>, tensor<4x1536xf32>) outs(%d : tensor<4x1536xf32>) {
    ^bb0(%a: f32, %b: f32, %old: f32):
      %n = arith.negf %a : f32
      %e = math.exp %n : f32
      %s = arith.addf %e, %one : f32
      %t = arith.divf %a, %s : f32
      %v = arith.mulf %t, %b : f32
      linalg.yield %v : f32
    } -> tensor<4x1536xf32>
    %Yn = tensor.insert_slice %o into %Yi[%row, 0] [4, 1536] [1, 1] : tensor<4x1536xf32> into tensor<?x1536xf32>
    scf.yield %Yn : tensor<?x1536xf32>
  }
  bufferization.materialize_in_destination %result in restrict writable %y : (tensor<?x1536xf32>, memref<?x1536xf32>) -> ()
  return
}
