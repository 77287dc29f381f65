// Rows as int8 in blocks of 32: scale = max |x| / 127, q = x / scale rounded to nearest even, sum = scale * sum of q.
// A NaN makes its block's scale NaN. A chunk is one row of 18 blocks.
#bk = affine_map<(b, k) -> (b, k)>
#b = affine_map<(b, k) -> (b)>
#id = affine_map<(b) -> (b)>
func.func @quantize_rows(%x: memref<?x18x32xf32>, %q: memref<?x18x32xi8>, %s: memref<?x18xf32>, %sum: memref<?x18xf32>,
                         %begin: index, %end: index) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %zeroi = arith.constant 0 : i32
  %inv127 = arith.constant 7.874015748e-03 : f32
  %c127 = arith.constant 127.0 : f32
  %tiny = arith.constant 1.0e-36 : f32
  %X = bufferization.to_tensor %x restrict : memref<?x18x32xf32> to tensor<?x18x32xf32>
  %Q = bufferization.to_tensor %q restrict writable : memref<?x18x32xi8> to tensor<?x18x32xi8>
  %S = bufferization.to_tensor %s restrict writable : memref<?x18xf32> to tensor<?x18xf32>
  %M = bufferization.to_tensor %sum restrict writable : memref<?x18xf32> to tensor<?x18xf32>
  %r:3 = scf.for %row = %begin to %end step %c1 iter_args(%Qi = %Q, %Si = %S, %Mi = %M) -> (tensor<?x18x32xi8>, tensor<?x18xf32>, tensor<?x18xf32>) {
    %xs = tensor.extract_slice %X[%row, 0, 0] [1, 18, 32] [1, 1, 1] : tensor<?x18x32xf32> to tensor<18x32xf32>
    %e0 = tensor.empty() : tensor<18xf32>
    %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<18xf32>) -> tensor<18xf32>
    %amax = linalg.generic {indexing_maps = [#bk, #b], iterator_types = ["parallel", "reduction"]}
        ins(%xs : tensor<18x32xf32>) outs(%z0 : tensor<18xf32>) {
    ^bb0(%a: f32, %o: f32):
      %abs = math.absf %a : f32
      %m = arith.maximumf %abs, %o : f32
      linalg.yield %m : f32
    } -> tensor<18xf32>
    %ds = tensor.extract_slice %Si[%row, 0] [1, 18] [1, 1] : tensor<?x18xf32> to tensor<18xf32>
    %scale = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%amax : tensor<18xf32>) outs(%ds : tensor<18xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = arith.mulf %a, %inv127 : f32
      linalg.yield %t : f32
    } -> tensor<18xf32>
    %dq = tensor.extract_slice %Qi[%row, 0, 0] [1, 18, 32] [1, 1, 1] : tensor<?x18x32xi8> to tensor<18x32xi8>
    %quant = linalg.generic {indexing_maps = [#bk, #b, #bk], iterator_types = ["parallel", "parallel"]}
        ins(%xs, %amax : tensor<18x32xf32>, tensor<18xf32>) outs(%dq : tensor<18x32xi8>) {
    ^bb0(%a: f32, %m: f32, %o: i8):
      %positive = arith.cmpf ogt, %m, %tiny : f32
      %i = arith.divf %c127, %m : f32
      %inverse = arith.select %positive, %i, %zero : f32
      %scaled = arith.mulf %a, %inverse : f32
      %known = arith.cmpf ord, %scaled, %scaled : f32
      %safe = arith.select %known, %scaled, %zero : f32
      %n = math.roundeven %safe : f32
      %t = arith.fptosi %n : f32 to i8
      linalg.yield %t : i8
    } -> tensor<18x32xi8>
    %e1 = tensor.empty() : tensor<18xi32>
    %z1 = linalg.fill ins(%zeroi : i32) outs(%e1 : tensor<18xi32>) -> tensor<18xi32>
    %count = linalg.generic {indexing_maps = [#bk, #b], iterator_types = ["parallel", "reduction"]}
        ins(%quant : tensor<18x32xi8>) outs(%z1 : tensor<18xi32>) {
    ^bb0(%a: i8, %o: i32):
      %w = arith.extsi %a : i8 to i32
      %t = arith.addi %o, %w : i32
      linalg.yield %t : i32
    } -> tensor<18xi32>
    %dm = tensor.extract_slice %Mi[%row, 0] [1, 18] [1, 1] : tensor<?x18xf32> to tensor<18xf32>
    %total = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%count, %scale : tensor<18xi32>, tensor<18xf32>) outs(%dm : tensor<18xf32>) {
    ^bb0(%c: i32, %a: f32, %o: f32):
      %f = arith.sitofp %c : i32 to f32
      %t = arith.mulf %f, %a : f32
      linalg.yield %t : f32
    } -> tensor<18xf32>
    %Qn = tensor.insert_slice %quant into %Qi[%row, 0, 0] [1, 18, 32] [1, 1, 1] : tensor<18x32xi8> into tensor<?x18x32xi8>
    %Sn = tensor.insert_slice %scale into %Si[%row, 0] [1, 18] [1, 1] : tensor<18xf32> into tensor<?x18xf32>
    %Mn = tensor.insert_slice %total into %Mi[%row, 0] [1, 18] [1, 1] : tensor<18xf32> into tensor<?x18xf32>
    scf.yield %Qn, %Sn, %Mn : tensor<?x18x32xi8>, tensor<?x18xf32>, tensor<?x18xf32>
  }
  bufferization.materialize_in_destination %r#0 in restrict writable %q : (tensor<?x18x32xi8>, memref<?x18x32xi8>) -> ()
  bufferization.materialize_in_destination %r#1 in restrict writable %s : (tensor<?x18xf32>, memref<?x18xf32>) -> ()
  bufferization.materialize_in_destination %r#2 in restrict writable %sum : (tensor<?x18xf32>, memref<?x18xf32>) -> ()
  return
}
