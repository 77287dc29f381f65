// Forms without an instruction of their own: a product of two row-major matrices, sums of columns and of all, a product of
// two signed bytes. A chunk is one problem.
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#mn = affine_map<(m, n) -> (m, n)>
#col = affine_map<(m, n) -> (n)>
#all = affine_map<(m, n) -> ()>
#xq = affine_map<(m, n, k, v) -> (m, k, v)>
#wq = affine_map<(m, n, k, v) -> (k, n, v)>
#dq = affine_map<(m, n, k, v) -> (m, n)>
func.func @nt(%x: memref<32x200xf32>, %w: memref<24x200xf32>, %y: memref<?x32x24xf32>, %begin: index, %end: index) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %X = bufferization.to_tensor %x restrict : memref<32x200xf32> to tensor<32x200xf32>
  %W = bufferization.to_tensor %w restrict : memref<24x200xf32> to tensor<24x200xf32>
  %Y = bufferization.to_tensor %y restrict writable : memref<?x32x24xf32> to tensor<?x32x24xf32>
  %r = scf.for %c = %begin to %end step %c1 iter_args(%Yi = %Y) -> (tensor<?x32x24xf32>) {
    %d = tensor.extract_slice %Yi[%c, 0, 0] [1, 32, 24] [1, 1, 1] : tensor<?x32x24xf32> to tensor<32x24xf32>
    %z = linalg.fill ins(%zero : f32) outs(%d : tensor<32x24xf32>) -> tensor<32x24xf32>
    %o = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%X, %W : tensor<32x200xf32>, tensor<24x200xf32>) outs(%z : tensor<32x24xf32>) {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %acc, %p : f32
      linalg.yield %s : f32
    } -> tensor<32x24xf32>
    %Yn = tensor.insert_slice %o into %Yi[%c, 0, 0] [1, 32, 24] [1, 1, 1] : tensor<32x24xf32> into tensor<?x32x24xf32>
    scf.yield %Yn : tensor<?x32x24xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<?x32x24xf32>, memref<?x32x24xf32>) -> ()
  return
}
func.func @cols(%x: memref<?x37x100xf32>, %y: memref<?x100xf32>, %t: memref<?x1xf32>, %begin: index, %end: index) {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %X = bufferization.to_tensor %x restrict : memref<?x37x100xf32> to tensor<?x37x100xf32>
  %Y = bufferization.to_tensor %y restrict writable : memref<?x100xf32> to tensor<?x100xf32>
  %T = bufferization.to_tensor %t restrict writable : memref<?x1xf32> to tensor<?x1xf32>
  %r:2 = scf.for %c = %begin to %end step %c1 iter_args(%Yi = %Y, %Ti = %T) -> (tensor<?x100xf32>, tensor<?x1xf32>) {
    %xs = tensor.extract_slice %X[%c, 0, 0] [1, 37, 100] [1, 1, 1] : tensor<?x37x100xf32> to tensor<37x100xf32>
    %d = tensor.extract_slice %Yi[%c, 0] [1, 100] [1, 1] : tensor<?x100xf32> to tensor<100xf32>
    %z = linalg.fill ins(%zero : f32) outs(%d : tensor<100xf32>) -> tensor<100xf32>
    %o = linalg.generic {indexing_maps = [#mn, #col], iterator_types = ["reduction", "parallel"]}
        ins(%xs : tensor<37x100xf32>) outs(%z : tensor<100xf32>) {
    ^bb0(%a: f32, %acc: f32):
      %s = arith.addf %acc, %a : f32
      linalg.yield %s : f32
    } -> tensor<100xf32>
    %e = tensor.empty() : tensor<f32>
    %ez = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %all = linalg.generic {indexing_maps = [#mn, #all], iterator_types = ["reduction", "reduction"]}
        ins(%xs : tensor<37x100xf32>) outs(%ez : tensor<f32>) {
    ^bb0(%a: f32, %acc: f32):
      %s = arith.addf %acc, %a : f32
      linalg.yield %s : f32
    } -> tensor<f32>
    %v = tensor.extract %all[] : tensor<f32>
    %td = tensor.extract_slice %Ti[%c, 0] [1, 1] [1, 1] : tensor<?x1xf32> to tensor<1xf32>
    %to = linalg.fill ins(%v : f32) outs(%td : tensor<1xf32>) -> tensor<1xf32>
    %Yn = tensor.insert_slice %o into %Yi[%c, 0] [1, 100] [1, 1] : tensor<100xf32> into tensor<?x100xf32>
    %Tn = tensor.insert_slice %to into %Ti[%c, 0] [1, 1] [1, 1] : tensor<1xf32> into tensor<?x1xf32>
    scf.yield %Yn, %Tn : tensor<?x100xf32>, tensor<?x1xf32>
  }
  bufferization.materialize_in_destination %r#0 in restrict writable %y : (tensor<?x100xf32>, memref<?x100xf32>) -> ()
  bufferization.materialize_in_destination %r#1 in restrict writable %t : (tensor<?x1xf32>, memref<?x1xf32>) -> ()
  return
}
func.func @both_signed(%x: memref<?x4x8x4xi8>, %w: memref<8x16x4xi8>, %y: memref<?x4x16xi32>, %begin: index, %end: index) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %X = bufferization.to_tensor %x restrict : memref<?x4x8x4xi8> to tensor<?x4x8x4xi8>
  %W = bufferization.to_tensor %w restrict : memref<8x16x4xi8> to tensor<8x16x4xi8>
  %Y = bufferization.to_tensor %y restrict writable : memref<?x4x16xi32> to tensor<?x4x16xi32>
  %r = scf.for %c = %begin to %end step %c1 iter_args(%Yi = %Y) -> (tensor<?x4x16xi32>) {
    %xs = tensor.extract_slice %X[%c, 0, 0, 0] [1, 4, 8, 4] [1, 1, 1, 1] : tensor<?x4x8x4xi8> to tensor<4x8x4xi8>
    %d = tensor.extract_slice %Yi[%c, 0, 0] [1, 4, 16] [1, 1, 1] : tensor<?x4x16xi32> to tensor<4x16xi32>
    %z = linalg.fill ins(%zero : i32) outs(%d : tensor<4x16xi32>) -> tensor<4x16xi32>
    %o = linalg.generic {indexing_maps = [#xq, #wq, #dq], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%xs, %W : tensor<4x8x4xi8>, tensor<8x16x4xi8>) outs(%z : tensor<4x16xi32>) {
    ^bb0(%a: i8, %b: i8, %acc: i32):
      %ai = arith.extsi %a : i8 to i32
      %bi = arith.extsi %b : i8 to i32
      %p = arith.muli %ai, %bi : i32
      %s = arith.addi %acc, %p : i32
      linalg.yield %s : i32
    } -> tensor<4x16xi32>
    %Yn = tensor.insert_slice %o into %Yi[%c, 0, 0] [1, 4, 16] [1, 1, 1] : tensor<4x16xi32> into tensor<?x4x16xi32>
    scf.yield %Yn : tensor<?x4x16xi32>
  }
  bufferization.materialize_in_destination %r in restrict writable %y : (tensor<?x4x16xi32>, memref<?x4x16xi32>) -> ()
  return
}
