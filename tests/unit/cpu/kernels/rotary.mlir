// Half-split rotary embedding of rows gathered by number: y[r, h] = rotate(x[ids[r], h]) by the angles of row r.
// A chunk is one row of 3 heads of 64.
#hd = affine_map<(h, d) -> (h, d)>
#d = affine_map<(h, d) -> (d)>
func.func @rotary(%x: memref<?x3x64xf32>, %ids: memref<?xi32>, %cos: memref<?x32xf32>, %sin: memref<?x32xf32>,
                  %y: memref<?x3x64xf32>, %begin: index, %end: index) {
  %c1 = arith.constant 1 : index
  %X = bufferization.to_tensor %x restrict : memref<?x3x64xf32> to tensor<?x3x64xf32>
  %C = bufferization.to_tensor %cos restrict : memref<?x32xf32> to tensor<?x32xf32>
  %S = bufferization.to_tensor %sin restrict : memref<?x32xf32> to tensor<?x32xf32>
  %Y = bufferization.to_tensor %y restrict writable : memref<?x3x64xf32> to tensor<?x3x64xf32>
  %r = scf.for %row = %begin to %end step %c1 iter_args(%Yi = %Y) -> (tensor<?x3x64xf32>) {
    %id32 = memref.load %ids[%row] : memref<?xi32>
    %id = arith.index_cast %id32 : i32 to index
    %a = tensor.extract_slice %X[%id, 0, 0] [1, 3, 32] [1, 1, 1] : tensor<?x3x64xf32> to tensor<3x32xf32>
    %b = tensor.extract_slice %X[%id, 0, 32] [1, 3, 32] [1, 1, 1] : tensor<?x3x64xf32> to tensor<3x32xf32>
    %cs = tensor.extract_slice %C[%row, 0] [1, 32] [1, 1] : tensor<?x32xf32> to tensor<32xf32>
    %sn = tensor.extract_slice %S[%row, 0] [1, 32] [1, 1] : tensor<?x32xf32> to tensor<32xf32>
    %d0 = tensor.extract_slice %Yi[%row, 0, 0] [1, 3, 32] [1, 1, 1] : tensor<?x3x64xf32> to tensor<3x32xf32>
    %o0 = linalg.generic {indexing_maps = [#hd, #hd, #d, #d, #hd], iterator_types = ["parallel", "parallel"]}
        ins(%a, %b, %cs, %sn : tensor<3x32xf32>, tensor<3x32xf32>, tensor<32xf32>, tensor<32xf32>) outs(%d0 : tensor<3x32xf32>) {
    ^bb0(%p: f32, %q: f32, %c: f32, %s: f32, %o: f32):
      %t = arith.mulf %p, %c : f32
      %u = arith.mulf %q, %s : f32
      %v = arith.subf %t, %u : f32
      linalg.yield %v : f32
    } -> tensor<3x32xf32>
    %Y0 = tensor.insert_slice %o0 into %Yi[%row, 0, 0] [1, 3, 32] [1, 1, 1] : tensor<3x32xf32> into tensor<?x3x64xf32>
    %d1 = tensor.extract_slice %Y0[%row, 0, 32] [1, 3, 32] [1, 1, 1] : tensor<?x3x64xf32> to tensor<3x32xf32>
    %o1 = linalg.generic {indexing_maps = [#hd, #hd, #d, #d, #hd], iterator_types = ["parallel", "parallel"]}
        ins(%a, %b, %cs, %sn : tensor<3x32xf32>, tensor<3x32xf32>, tensor<32xf32>, tensor<32xf32>) outs(%d1 : tensor<3x32xf32>) {
    ^bb0(%p: f32, %q: f32, %c: f32, %s: f32, %o: f32):
      %t = arith.mulf %q, %c : f32
      %u = arith.mulf %p, %s : f32
      %v = arith.addf %t, %u : f32
      linalg.yield %v : f32
    } -> tensor<3x32xf32>
    %Y1 = tensor.insert_slice %o1 into %Y0[%row, 0, 32] [1, 3, 32] [1, 1, 1] : tensor<3x32xf32> into tensor<?x3x64xf32>
    scf.yield %Y1 : tensor<?x3x64xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<?x3x64xf32>, memref<?x3x64xf32>) -> ()
  return
}
