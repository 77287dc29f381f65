// y = f(x), one kernel per function; a chunk is 64 numbers.
#id = affine_map<(m) -> (m)>
func.func @exp2(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %begin: index, %end: index) {
  %c1 = arith.constant 1 : index
  %X = bufferization.to_tensor %x restrict : memref<?x64xf32> to tensor<?x64xf32>
  %Y = bufferization.to_tensor %y restrict writable : memref<?x64xf32> to tensor<?x64xf32>
  %result = scf.for %chunk = %begin to %end step %c1 iter_args(%Yi = %Y) -> (tensor<?x64xf32>) {
    %xs = tensor.extract_slice %X[%chunk, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<64xf32>
    %d = tensor.extract_slice %Yi[%chunk, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<64xf32>
    %o = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%xs : tensor<64xf32>) outs(%d : tensor<64xf32>) {
    ^bb0(%a: f32, %b: f32):
      %v = math.exp2 %a : f32
      linalg.yield %v : f32
    } -> tensor<64xf32>
    %Yn = tensor.insert_slice %o into %Yi[%chunk, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<?x64xf32>
    scf.yield %Yn : tensor<?x64xf32>
  }
  bufferization.materialize_in_destination %result in restrict writable %y : (tensor<?x64xf32>, memref<?x64xf32>) -> ()
  return
}
func.func @exp(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %begin: index, %end: index) {
  %c1 = arith.constant 1 : index
  %X = bufferization.to_tensor %x restrict : memref<?x64xf32> to tensor<?x64xf32>
  %Y = bufferization.to_tensor %y restrict writable : memref<?x64xf32> to tensor<?x64xf32>
  %result = scf.for %chunk = %begin to %end step %c1 iter_args(%Yi = %Y) -> (tensor<?x64xf32>) {
    %xs = tensor.extract_slice %X[%chunk, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<64xf32>
    %d = tensor.extract_slice %Yi[%chunk, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<64xf32>
    %o = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%xs : tensor<64xf32>) outs(%d : tensor<64xf32>) {
    ^bb0(%a: f32, %b: f32):
      %v = math.exp %a : f32
      linalg.yield %v : f32
    } -> tensor<64xf32>
    %Yn = tensor.insert_slice %o into %Yi[%chunk, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<?x64xf32>
    scf.yield %Yn : tensor<?x64xf32>
  }
  bufferization.materialize_in_destination %result in restrict writable %y : (tensor<?x64xf32>, memref<?x64xf32>) -> ()
  return
}
func.func @tanh(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %begin: index, %end: index) {
  %c1 = arith.constant 1 : index
  %X = bufferization.to_tensor %x restrict : memref<?x64xf32> to tensor<?x64xf32>
  %Y = bufferization.to_tensor %y restrict writable : memref<?x64xf32> to tensor<?x64xf32>
  %result = scf.for %chunk = %begin to %end step %c1 iter_args(%Yi = %Y) -> (tensor<?x64xf32>) {
    %xs = tensor.extract_slice %X[%chunk, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<64xf32>
    %d = tensor.extract_slice %Yi[%chunk, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<64xf32>
    %o = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%xs : tensor<64xf32>) outs(%d : tensor<64xf32>) {
    ^bb0(%a: f32, %b: f32):
      %v = math.tanh %a : f32
      linalg.yield %v : f32
    } -> tensor<64xf32>
    %Yn = tensor.insert_slice %o into %Yi[%chunk, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<?x64xf32>
    scf.yield %Yn : tensor<?x64xf32>
  }
  bufferization.materialize_in_destination %result in restrict writable %y : (tensor<?x64xf32>, memref<?x64xf32>) -> ()
  return
}
func.func @erf(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %begin: index, %end: index) {
  %c1 = arith.constant 1 : index
  %X = bufferization.to_tensor %x restrict : memref<?x64xf32> to tensor<?x64xf32>
  %Y = bufferization.to_tensor %y restrict writable : memref<?x64xf32> to tensor<?x64xf32>
  %result = scf.for %chunk = %begin to %end step %c1 iter_args(%Yi = %Y) -> (tensor<?x64xf32>) {
    %xs = tensor.extract_slice %X[%chunk, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<64xf32>
    %d = tensor.extract_slice %Yi[%chunk, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<64xf32>
    %o = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%xs : tensor<64xf32>) outs(%d : tensor<64xf32>) {
    ^bb0(%a: f32, %b: f32):
      %v = math.erf %a : f32
      linalg.yield %v : f32
    } -> tensor<64xf32>
    %Yn = tensor.insert_slice %o into %Yi[%chunk, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<?x64xf32>
    scf.yield %Yn : tensor<?x64xf32>
  }
  bufferization.materialize_in_destination %result in restrict writable %y : (tensor<?x64xf32>, memref<?x64xf32>) -> ()
  return
}
func.func @sin(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %begin: index, %end: index) {
  %c1 = arith.constant 1 : index
  %X = bufferization.to_tensor %x restrict : memref<?x64xf32> to tensor<?x64xf32>
  %Y = bufferization.to_tensor %y restrict writable : memref<?x64xf32> to tensor<?x64xf32>
  %result = scf.for %chunk = %begin to %end step %c1 iter_args(%Yi = %Y) -> (tensor<?x64xf32>) {
    %xs = tensor.extract_slice %X[%chunk, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<64xf32>
    %d = tensor.extract_slice %Yi[%chunk, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<64xf32>
    %o = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%xs : tensor<64xf32>) outs(%d : tensor<64xf32>) {
    ^bb0(%a: f32, %b: f32):
      %v = math.sin %a : f32
      linalg.yield %v : f32
    } -> tensor<64xf32>
    %Yn = tensor.insert_slice %o into %Yi[%chunk, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<?x64xf32>
    scf.yield %Yn : tensor<?x64xf32>
  }
  bufferization.materialize_in_destination %result in restrict writable %y : (tensor<?x64xf32>, memref<?x64xf32>) -> ()
  return
}
func.func @cos(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %begin: index, %end: index) {
  %c1 = arith.constant 1 : index
  %X = bufferization.to_tensor %x restrict : memref<?x64xf32> to tensor<?x64xf32>
  %Y = bufferization.to_tensor %y restrict writable : memref<?x64xf32> to tensor<?x64xf32>
  %result = scf.for %chunk = %begin to %end step %c1 iter_args(%Yi = %Y) -> (tensor<?x64xf32>) {
    %xs = tensor.extract_slice %X[%chunk, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<64xf32>
    %d = tensor.extract_slice %Yi[%chunk, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<64xf32>
    %o = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%xs : tensor<64xf32>) outs(%d : tensor<64xf32>) {
    ^bb0(%a: f32, %b: f32):
      %v = math.cos %a : f32
      linalg.yield %v : f32
    } -> tensor<64xf32>
    %Yn = tensor.insert_slice %o into %Yi[%chunk, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<?x64xf32>
    scf.yield %Yn : tensor<?x64xf32>
  }
  bufferization.materialize_in_destination %result in restrict writable %y : (tensor<?x64xf32>, memref<?x64xf32>) -> ()
  return
}
func.func @log2(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %begin: index, %end: index) {
  %c1 = arith.constant 1 : index
  %X = bufferization.to_tensor %x restrict : memref<?x64xf32> to tensor<?x64xf32>
  %Y = bufferization.to_tensor %y restrict writable : memref<?x64xf32> to tensor<?x64xf32>
  %result = scf.for %chunk = %begin to %end step %c1 iter_args(%Yi = %Y) -> (tensor<?x64xf32>) {
    %xs = tensor.extract_slice %X[%chunk, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<64xf32>
    %d = tensor.extract_slice %Yi[%chunk, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<64xf32>
    %o = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%xs : tensor<64xf32>) outs(%d : tensor<64xf32>) {
    ^bb0(%a: f32, %b: f32):
      %v = math.log2 %a : f32
      linalg.yield %v : f32
    } -> tensor<64xf32>
    %Yn = tensor.insert_slice %o into %Yi[%chunk, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<?x64xf32>
    scf.yield %Yn : tensor<?x64xf32>
  }
  bufferization.materialize_in_destination %result in restrict writable %y : (tensor<?x64xf32>, memref<?x64xf32>) -> ()
  return
}
func.func @log(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %begin: index, %end: index) {
  %c1 = arith.constant 1 : index
  %X = bufferization.to_tensor %x restrict : memref<?x64xf32> to tensor<?x64xf32>
  %Y = bufferization.to_tensor %y restrict writable : memref<?x64xf32> to tensor<?x64xf32>
  %result = scf.for %chunk = %begin to %end step %c1 iter_args(%Yi = %Y) -> (tensor<?x64xf32>) {
    %xs = tensor.extract_slice %X[%chunk, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<64xf32>
    %d = tensor.extract_slice %Yi[%chunk, 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<64xf32>
    %o = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%xs : tensor<64xf32>) outs(%d : tensor<64xf32>) {
    ^bb0(%a: f32, %b: f32):
      %v = math.log %a : f32
      linalg.yield %v : f32
    } -> tensor<64xf32>
    %Yn = tensor.insert_slice %o into %Yi[%chunk, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<?x64xf32>
    scf.yield %Yn : tensor<?x64xf32>
  }
  bufferization.materialize_in_destination %result in restrict writable %y : (tensor<?x64xf32>, memref<?x64xf32>) -> ()
  return
}
