// y = x * w^T, w in Q4_1 blocks packed [N/16][K/32][320 bytes], x as int8 in blocks of 32 with scale and scale * sum.
// A chunk is one row (m1), 8 rows (m8) or 16 (m16, more than registers hold) by one group of 16 columns; K and N are symbols.
#x = affine_map<(m, n, k, v) -> (m, k, v)>
#w = affine_map<(m, n, k, v) -> (k, n, v)>
#d = affine_map<(m, n, k, v) -> (m, n)>
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>
func.func @matmul_q4_1_m1(%x: memref<?x?x8x4xi8> {tw.dims = ["M", "KB", 8, 4]}, %xs: memref<?x?xf32> {tw.dims = ["M", "KB"]},
    %xsum: memref<?x?xf32> {tw.dims = ["M", "KB"]}, %w: memref<?x?x320xi8> {tw.dims = ["NG", "KB", 320]},
    %y: memref<?x?xf32> {tw.dims = ["M", "N"]}, %rows: index {tw.symbol = "M"}, %blocks: index {tw.symbol = "KB"},
    %groups: index {tw.symbol = "NG"}, %columns: index {tw.symbol = "N"}, %begin: index, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rowsPerTile = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %zeroi = arith.constant 0 : i32
  %X = bufferization.to_tensor %x restrict : memref<?x?x8x4xi8> to tensor<?x?x8x4xi8>
  %XS = bufferization.to_tensor %xs restrict : memref<?x?xf32> to tensor<?x?xf32>
  %XM = bufferization.to_tensor %xsum restrict : memref<?x?xf32> to tensor<?x?xf32>
  %W = bufferization.to_tensor %w restrict : memref<?x?x320xi8> to tensor<?x?x320xi8>
  %Y = bufferization.to_tensor %y restrict writable : memref<?x?xf32> to tensor<?x?xf32>
  %result = scf.for %chunk = %begin to %end step %c1 iter_args(%Yi = %Y) -> (tensor<?x?xf32>) {
    %mt = arith.divui %chunk, %groups : index
    %g = arith.remui %chunk, %groups : index
    %row = arith.muli %mt, %rowsPerTile : index
    %col = arith.muli %g, %c16 : index
    %e = tensor.empty() : tensor<1x16xf32>
    %acc0 = linalg.fill ins(%zero : f32) outs(%e : tensor<1x16xf32>) -> tensor<1x16xf32>
    %sum = scf.for %b = %c0 to %blocks step %c1 iter_args(%acc = %acc0) -> (tensor<1x16xf32>) {
      %q = tile.load_bits %W[%g, %b] at 0 width 4 items 0, 2 : tensor<?x?x320xi8> -> tensor<8x16x4xi8>
      %s = tile.load_field %W[%g, %b] at 256 : tensor<?x?x320xi8> -> tensor<16xf16>
      %mn = tile.load_field %W[%g, %b] at 288 : tensor<?x?x320xi8> -> tensor<16xf16>
      %xb = tensor.extract_slice %X[%row, %b, 0, 0] [1, 1, 8, 4] [1, 1, 1, 1] : tensor<?x?x8x4xi8> to tensor<1x8x4xi8>
      %de = tensor.empty() : tensor<1x16xi32>
      %dz = linalg.fill ins(%zeroi : i32) outs(%de : tensor<1x16xi32>) -> tensor<1x16xi32>
      %dot = linalg.generic {indexing_maps = [#x, #w, #d], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
          ins(%xb, %q : tensor<1x8x4xi8>, tensor<8x16x4xi8>) outs(%dz : tensor<1x16xi32>) {
      ^bb0(%a: i8, %c: i8, %o: i32):
        %ai = arith.extsi %a : i8 to i32
        %ci = arith.extui %c : i8 to i32
        %p = arith.muli %ai, %ci : i32
        %r = arith.addi %o, %p : i32
        linalg.yield %r : i32
      } -> tensor<1x16xi32>
      %xsb = tensor.extract_slice %XS[%row, %b] [1, 1] [1, 1] : tensor<?x?xf32> to tensor<1xf32>
      %xmb = tensor.extract_slice %XM[%row, %b] [1, 1] [1, 1] : tensor<?x?xf32> to tensor<1xf32>
      %next = linalg.generic {indexing_maps = [#mn, #m, #m, #n, #n, #mn], iterator_types = ["parallel", "parallel"]}
          ins(%dot, %xsb, %xmb, %s, %mn : tensor<1x16xi32>, tensor<1xf32>, tensor<1xf32>, tensor<16xf16>, tensor<16xf16>)
          outs(%acc : tensor<1x16xf32>) {
      ^bb0(%d: i32, %xsv: f32, %xmv: f32, %sv: f16, %mv: f16, %o: f32):
        %df = arith.sitofp %d : i32 to f32
        %sf = arith.extf %sv : f16 to f32
        %mf = arith.extf %mv : f16 to f32
        %t0 = arith.mulf %df, %sf : f32
        %t1 = arith.mulf %t0, %xsv : f32
        %t2 = arith.addf %o, %t1 : f32
        %t3 = arith.mulf %mf, %xmv : f32
        %t4 = arith.addf %t2, %t3 : f32
        linalg.yield %t4 : f32
      } -> tensor<1x16xf32>
      scf.yield %next : tensor<1x16xf32>
    }
    %Yn = tensor.insert_slice %sum into %Yi[%row, %col] [1, 16] [1, 1] : tensor<1x16xf32> into tensor<?x?xf32>
    scf.yield %Yn : tensor<?x?xf32>
  }
  bufferization.materialize_in_destination %result in restrict writable %y : (tensor<?x?xf32>, memref<?x?xf32>) -> ()
  return
}
func.func @matmul_q4_1_m8(%x: memref<?x?x8x4xi8> {tw.dims = ["M", "KB", 8, 4]}, %xs: memref<?x?xf32> {tw.dims = ["M", "KB"]},
    %xsum: memref<?x?xf32> {tw.dims = ["M", "KB"]}, %w: memref<?x?x320xi8> {tw.dims = ["NG", "KB", 320]},
    %y: memref<?x?xf32> {tw.dims = ["M", "N"]}, %rows: index {tw.symbol = "M"}, %blocks: index {tw.symbol = "KB"},
    %groups: index {tw.symbol = "NG"}, %columns: index {tw.symbol = "N"}, %begin: index, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rowsPerTile = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %zeroi = arith.constant 0 : i32
  %X = bufferization.to_tensor %x restrict : memref<?x?x8x4xi8> to tensor<?x?x8x4xi8>
  %XS = bufferization.to_tensor %xs restrict : memref<?x?xf32> to tensor<?x?xf32>
  %XM = bufferization.to_tensor %xsum restrict : memref<?x?xf32> to tensor<?x?xf32>
  %W = bufferization.to_tensor %w restrict : memref<?x?x320xi8> to tensor<?x?x320xi8>
  %Y = bufferization.to_tensor %y restrict writable : memref<?x?xf32> to tensor<?x?xf32>
  %result = scf.for %chunk = %begin to %end step %c1 iter_args(%Yi = %Y) -> (tensor<?x?xf32>) {
    %mt = arith.divui %chunk, %groups : index
    %g = arith.remui %chunk, %groups : index
    %row = arith.muli %mt, %rowsPerTile : index
    %col = arith.muli %g, %c16 : index
    %e = tensor.empty() : tensor<8x16xf32>
    %acc0 = linalg.fill ins(%zero : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
    %sum = scf.for %b = %c0 to %blocks step %c1 iter_args(%acc = %acc0) -> (tensor<8x16xf32>) {
      %q = tile.load_bits %W[%g, %b] at 0 width 4 items 0, 2 : tensor<?x?x320xi8> -> tensor<8x16x4xi8>
      %s = tile.load_field %W[%g, %b] at 256 : tensor<?x?x320xi8> -> tensor<16xf16>
      %mn = tile.load_field %W[%g, %b] at 288 : tensor<?x?x320xi8> -> tensor<16xf16>
      %xb = tensor.extract_slice %X[%row, %b, 0, 0] [8, 1, 8, 4] [1, 1, 1, 1] : tensor<?x?x8x4xi8> to tensor<8x8x4xi8>
      %de = tensor.empty() : tensor<8x16xi32>
      %dz = linalg.fill ins(%zeroi : i32) outs(%de : tensor<8x16xi32>) -> tensor<8x16xi32>
      %dot = linalg.generic {indexing_maps = [#x, #w, #d], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
          ins(%xb, %q : tensor<8x8x4xi8>, tensor<8x16x4xi8>) outs(%dz : tensor<8x16xi32>) {
      ^bb0(%a: i8, %c: i8, %o: i32):
        %ai = arith.extsi %a : i8 to i32
        %ci = arith.extui %c : i8 to i32
        %p = arith.muli %ai, %ci : i32
        %r = arith.addi %o, %p : i32
        linalg.yield %r : i32
      } -> tensor<8x16xi32>
      %xsb = tensor.extract_slice %XS[%row, %b] [8, 1] [1, 1] : tensor<?x?xf32> to tensor<8xf32>
      %xmb = tensor.extract_slice %XM[%row, %b] [8, 1] [1, 1] : tensor<?x?xf32> to tensor<8xf32>
      %next = linalg.generic {indexing_maps = [#mn, #m, #m, #n, #n, #mn], iterator_types = ["parallel", "parallel"]}
          ins(%dot, %xsb, %xmb, %s, %mn : tensor<8x16xi32>, tensor<8xf32>, tensor<8xf32>, tensor<16xf16>, tensor<16xf16>)
          outs(%acc : tensor<8x16xf32>) {
      ^bb0(%d: i32, %xsv: f32, %xmv: f32, %sv: f16, %mv: f16, %o: f32):
        %df = arith.sitofp %d : i32 to f32
        %sf = arith.extf %sv : f16 to f32
        %mf = arith.extf %mv : f16 to f32
        %t0 = arith.mulf %df, %sf : f32
        %t1 = arith.mulf %t0, %xsv : f32
        %t2 = arith.addf %o, %t1 : f32
        %t3 = arith.mulf %mf, %xmv : f32
        %t4 = arith.addf %t2, %t3 : f32
        linalg.yield %t4 : f32
      } -> tensor<8x16xf32>
      scf.yield %next : tensor<8x16xf32>
    }
    %Yn = tensor.insert_slice %sum into %Yi[%row, %col] [8, 16] [1, 1] : tensor<8x16xf32> into tensor<?x?xf32>
    scf.yield %Yn : tensor<?x?xf32>
  }
  bufferization.materialize_in_destination %result in restrict writable %y : (tensor<?x?xf32>, memref<?x?xf32>) -> ()
  return
}
func.func @matmul_q4_1_m16(%x: memref<?x?x8x4xi8> {tw.dims = ["M", "KB", 8, 4]}, %xs: memref<?x?xf32> {tw.dims = ["M", "KB"]},
    %xsum: memref<?x?xf32> {tw.dims = ["M", "KB"]}, %w: memref<?x?x320xi8> {tw.dims = ["NG", "KB", 320]},
    %y: memref<?x?xf32> {tw.dims = ["M", "N"]}, %rows: index {tw.symbol = "M"}, %blocks: index {tw.symbol = "KB"},
    %groups: index {tw.symbol = "NG"}, %columns: index {tw.symbol = "N"}, %begin: index, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rowsPerTile = arith.constant 16 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %zeroi = arith.constant 0 : i32
  %X = bufferization.to_tensor %x restrict : memref<?x?x8x4xi8> to tensor<?x?x8x4xi8>
  %XS = bufferization.to_tensor %xs restrict : memref<?x?xf32> to tensor<?x?xf32>
  %XM = bufferization.to_tensor %xsum restrict : memref<?x?xf32> to tensor<?x?xf32>
  %W = bufferization.to_tensor %w restrict : memref<?x?x320xi8> to tensor<?x?x320xi8>
  %Y = bufferization.to_tensor %y restrict writable : memref<?x?xf32> to tensor<?x?xf32>
  %result = scf.for %chunk = %begin to %end step %c1 iter_args(%Yi = %Y) -> (tensor<?x?xf32>) {
    %mt = arith.divui %chunk, %groups : index
    %g = arith.remui %chunk, %groups : index
    %row = arith.muli %mt, %rowsPerTile : index
    %col = arith.muli %g, %c16 : index
    %e = tensor.empty() : tensor<16x16xf32>
    %acc0 = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
    %sum = scf.for %b = %c0 to %blocks step %c1 iter_args(%acc = %acc0) -> (tensor<16x16xf32>) {
      %q = tile.load_bits %W[%g, %b] at 0 width 4 items 0, 2 : tensor<?x?x320xi8> -> tensor<8x16x4xi8>
      %s = tile.load_field %W[%g, %b] at 256 : tensor<?x?x320xi8> -> tensor<16xf16>
      %mn = tile.load_field %W[%g, %b] at 288 : tensor<?x?x320xi8> -> tensor<16xf16>
      %xb = tensor.extract_slice %X[%row, %b, 0, 0] [16, 1, 8, 4] [1, 1, 1, 1] : tensor<?x?x8x4xi8> to tensor<16x8x4xi8>
      %de = tensor.empty() : tensor<16x16xi32>
      %dz = linalg.fill ins(%zeroi : i32) outs(%de : tensor<16x16xi32>) -> tensor<16x16xi32>
      %dot = linalg.generic {indexing_maps = [#x, #w, #d], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
          ins(%xb, %q : tensor<16x8x4xi8>, tensor<8x16x4xi8>) outs(%dz : tensor<16x16xi32>) {
      ^bb0(%a: i8, %c: i8, %o: i32):
        %ai = arith.extsi %a : i8 to i32
        %ci = arith.extui %c : i8 to i32
        %p = arith.muli %ai, %ci : i32
        %r = arith.addi %o, %p : i32
        linalg.yield %r : i32
      } -> tensor<16x16xi32>
      %xsb = tensor.extract_slice %XS[%row, %b] [16, 1] [1, 1] : tensor<?x?xf32> to tensor<16xf32>
      %xmb = tensor.extract_slice %XM[%row, %b] [16, 1] [1, 1] : tensor<?x?xf32> to tensor<16xf32>
      %next = linalg.generic {indexing_maps = [#mn, #m, #m, #n, #n, #mn], iterator_types = ["parallel", "parallel"]}
          ins(%dot, %xsb, %xmb, %s, %mn : tensor<16x16xi32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf16>, tensor<16xf16>)
          outs(%acc : tensor<16x16xf32>) {
      ^bb0(%d: i32, %xsv: f32, %xmv: f32, %sv: f16, %mv: f16, %o: f32):
        %df = arith.sitofp %d : i32 to f32
        %sf = arith.extf %sv : f16 to f32
        %mf = arith.extf %mv : f16 to f32
        %t0 = arith.mulf %df, %sf : f32
        %t1 = arith.mulf %t0, %xsv : f32
        %t2 = arith.addf %o, %t1 : f32
        %t3 = arith.mulf %mf, %xmv : f32
        %t4 = arith.addf %t2, %t3 : f32
        linalg.yield %t4 : f32
      } -> tensor<16x16xf32>
      scf.yield %next : tensor<16x16xf32>
    }
    %Yn = tensor.insert_slice %sum into %Yi[%row, %col] [16, 16] [1, 1] : tensor<16x16xf32> into tensor<?x?xf32>
    scf.yield %Yn : tensor<?x?xf32>
  }
  bufferization.materialize_in_destination %result in restrict writable %y : (tensor<?x?xf32>, memref<?x?xf32>) -> ()
  return
}
