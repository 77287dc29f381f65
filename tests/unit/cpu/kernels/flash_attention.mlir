// Causal flash attention on pages of 64 keys: K pages [D][64], V pages [64][D]; a chunk is one attention tile
// (runtime/api/abi.h) by one head. `scale` includes log2(e).
#mn = affine_map<(m, n) -> (m, n)>
#m0 = affine_map<(m, n) -> (m)>
#m1 = affine_map<(m) -> (m)>
#zero = affine_map<(m) -> (0)>
func.func @flash_16x64(%Qm: memref<?x?x64xf32> {tw.dims = ["N", "H", 64]},
    %Km: memref<?x?x64x64xf32> {tw.dims = ["P", "HKV", 64, 64]}, %Vm: memref<?x?x64x64xf32> {tw.dims = ["P", "HKV", 64, 64]},
    %tiles: memref<?x8xi32> {tw.dims = ["TILES", 8]}, %pages: memref<?xi32> {tw.dims = ["E"]},
    %Om: memref<?x?x64xf32> {tw.dims = ["N", "H", 64]}, %scale: f32, %n: index {tw.symbol = "N"}, %heads: index {tw.symbol = "H"},
    %kvHeads: index {tw.symbol = "HKV"}, %poolPages: index {tw.symbol = "P"}, %entries: index {tw.symbol = "E"},
    %tileCount: index {tw.symbol = "TILES"}, %begin: index, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %cN = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %ninf = arith.constant -1.0e30 : f32
  %Q = bufferization.to_tensor %Qm restrict : memref<?x?x64xf32> to tensor<?x?x64xf32>
  %K = bufferization.to_tensor %Km restrict : memref<?x?x64x64xf32> to tensor<?x?x64x64xf32>
  %V = bufferization.to_tensor %Vm restrict : memref<?x?x64x64xf32> to tensor<?x?x64x64xf32>
  %O = bufferization.to_tensor %Om restrict writable : memref<?x?x64xf32> to tensor<?x?x64xf32>
  %group = arith.divui %heads, %kvHeads : index
  %res = scf.for %chunk = %begin to %end step %c1 iter_args(%Oi = %O) -> (tensor<?x?x64xf32>) {
    %tile = arith.divui %chunk, %heads : index
    %h = arith.remui %chunk, %heads : index
    %kvh = arith.divui %h, %group : index
    %row32 = memref.load %tiles[%tile, %c0] : memref<?x8xi32>
    %row = arith.index_cast %row32 : i32 to index
    %rows32 = memref.load %tiles[%tile, %c1] : memref<?x8xi32>
    %rows = arith.index_cast %rows32 : i32 to index
    %pos32 = memref.load %tiles[%tile, %c2] : memref<?x8xi32>
    %pos = arith.index_cast %pos32 : i32 to index
    %first32 = memref.load %tiles[%tile, %c4] : memref<?x8xi32>
    %first = arith.index_cast %first32 : i32 to index
    %eQ = tensor.empty() : tensor<16x64xf32>
    %qz = linalg.fill ins(%zero : f32) outs(%eQ : tensor<16x64xf32>) -> tensor<16x64xf32>
    %q = scf.for %r = %c0 to %rows step %c1 iter_args(%qi = %qz) -> (tensor<16x64xf32>) {
      %from = arith.addi %row, %r : index
      %qs = tensor.extract_slice %Q[%from, %h, 0] [1, 1, 64] [1, 1, 1] : tensor<?x?x64xf32> to tensor<64xf32>
      %qd = tensor.extract_slice %qi[%r, 0] [1, 64] [1, 1] : tensor<16x64xf32> to tensor<64xf32>
      %qr = linalg.generic {indexing_maps = [#m1, #m1], iterator_types = ["parallel"]} ins(%qs : tensor<64xf32>) outs(%qd : tensor<64xf32>) {
      ^bb0(%x: f32, %y: f32):
        %t = arith.mulf %x, %scale : f32
        linalg.yield %t : f32
      } -> tensor<64xf32>
      %qn = tensor.insert_slice %qr into %qi[%r, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<16x64xf32>
      scf.yield %qn : tensor<16x64xf32>
    }
    // Pages whose keys every query sees, then those on the diagonal.
    %seen = arith.addi %pos, %c1 : index
    %nfull = arith.divui %seen, %cN : index
    %last = arith.addi %pos, %rows : index
    %nend = arith.ceildivui %last, %cN : index
    %eR = tensor.empty() : tensor<16xf32>
    %eR2 = tensor.empty() : tensor<16xf32>
    %eA = tensor.empty() : tensor<16x64xf32>
    %m0 = linalg.fill ins(%ninf : f32) outs(%eR : tensor<16xf32>) -> tensor<16xf32>
    %l0 = linalg.fill ins(%zero : f32) outs(%eR2 : tensor<16xf32>) -> tensor<16xf32>
    %a0 = linalg.fill ins(%zero : f32) outs(%eA : tensor<16x64xf32>) -> tensor<16x64xf32>
    %rf:3 = scf.for %kb = %c0 to %nfull step %c1 iter_args(%m = %m0, %l = %l0, %acc = %a0) -> (tensor<16xf32>, tensor<16xf32>, tensor<16x64xf32>) {
      %entry0 = arith.addi %first, %kb : index
      %page320 = memref.load %pages[%entry0] : memref<?xi32>
      %page = arith.index_cast %page320 : i32 to index
      %k = tensor.extract_slice %K[%page, %kvh, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : tensor<?x?x64x64xf32> to tensor<64x64xf32>
      %v = tensor.extract_slice %V[%page, %kvh, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : tensor<?x?x64x64xf32> to tensor<64x64xf32>
      %eS = tensor.empty() : tensor<16x64xf32>
      %zS = linalg.fill ins(%zero : f32) outs(%eS : tensor<16x64xf32>) -> tensor<16x64xf32>
      %s = linalg.matmul ins(%q, %k : tensor<16x64xf32>, tensor<64x64xf32>) outs(%zS : tensor<16x64xf32>) -> tensor<16x64xf32>
      %eM = tensor.empty() : tensor<16xf32>
      %fM = linalg.fill ins(%ninf : f32) outs(%eM : tensor<16xf32>) -> tensor<16xf32>
      %rm = linalg.generic {indexing_maps = [#mn, #m0], iterator_types = ["parallel", "reduction"]} ins(%s : tensor<16x64xf32>) outs(%fM : tensor<16xf32>) {
      ^bb0(%x: f32, %y: f32):
        %t = arith.maxnumf %x, %y : f32
        linalg.yield %t : f32
      } -> tensor<16xf32>
      // alpha before the new maximum: the old one is dead afterwards, so m is updated in place
      %eAl = tensor.empty() : tensor<16xf32>
      %al = linalg.generic {indexing_maps = [#m1, #m1, #m1], iterator_types = ["parallel"]} ins(%m, %rm : tensor<16xf32>, tensor<16xf32>) outs(%eAl : tensor<16xf32>) {
      ^bb0(%x: f32, %y: f32, %z: f32):
        %c = arith.cmpf ogt, %x, %y : f32
        %mm = arith.select %c, %x, %y : f32
        %d = arith.subf %x, %mm : f32
        %w = math.exp2 %d : f32
        linalg.yield %w : f32
      } -> tensor<16xf32>
      %mx = linalg.generic {indexing_maps = [#m1, #m1], iterator_types = ["parallel"]} ins(%rm : tensor<16xf32>) outs(%m : tensor<16xf32>) {
      ^bb0(%x: f32, %y: f32):
        %c = arith.cmpf ogt, %y, %x : f32
        %mm = arith.select %c, %y, %x : f32
        linalg.yield %mm : f32
      } -> tensor<16xf32>
      %l1 = linalg.generic {indexing_maps = [#m1, #m1], iterator_types = ["parallel"]} ins(%al : tensor<16xf32>) outs(%l : tensor<16xf32>) {
      ^bb0(%x: f32, %y: f32):
        %t = arith.mulf %x, %y : f32
        linalg.yield %t : f32
      } -> tensor<16xf32>
      %p, %l2 = linalg.generic {indexing_maps = [#m0, #mn, #m0], iterator_types = ["parallel", "reduction"]} ins(%mx : tensor<16xf32>) outs(%s, %l1 : tensor<16x64xf32>, tensor<16xf32>) {
      ^bb0(%y: f32, %x: f32, %z: f32):
        %d = arith.subf %x, %y : f32
        %w = math.exp2 %d : f32
        %t = arith.addf %z, %w : f32
        linalg.yield %w, %t : f32, f32
      } -> (tensor<16x64xf32>, tensor<16xf32>)
      %as = linalg.generic {indexing_maps = [#m0, #mn], iterator_types = ["parallel", "parallel"]} ins(%al : tensor<16xf32>) outs(%acc : tensor<16x64xf32>) {
      ^bb0(%x: f32, %y: f32):
        %t = arith.mulf %x, %y : f32
        linalg.yield %t : f32
      } -> tensor<16x64xf32>
      %a2 = linalg.matmul ins(%p, %v : tensor<16x64xf32>, tensor<64x64xf32>) outs(%as : tensor<16x64xf32>) -> tensor<16x64xf32>
      scf.yield %mx, %l2, %a2 : tensor<16xf32>, tensor<16xf32>, tensor<16x64xf32>
    }
    %rd:3 = scf.for %kb = %nfull to %nend step %c1 iter_args(%m = %rf#0, %l = %rf#1, %acc = %rf#2) -> (tensor<16xf32>, tensor<16xf32>, tensor<16x64xf32>) {
      %entry1 = arith.addi %first, %kb : index
      %page321 = memref.load %pages[%entry1] : memref<?xi32>
      %page = arith.index_cast %page321 : i32 to index
      %k = tensor.extract_slice %K[%page, %kvh, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : tensor<?x?x64x64xf32> to tensor<64x64xf32>
      %v = tensor.extract_slice %V[%page, %kvh, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : tensor<?x?x64x64xf32> to tensor<64x64xf32>
      %eS = tensor.empty() : tensor<16x64xf32>
      %zS = linalg.fill ins(%zero : f32) outs(%eS : tensor<16x64xf32>) -> tensor<16x64xf32>
      %s0 = linalg.matmul ins(%q, %k : tensor<16x64xf32>, tensor<64x64xf32>) outs(%zS : tensor<16x64xf32>) -> tensor<16x64xf32>
      %key0 = arith.muli %kb, %cN : index
      %s = linalg.generic {indexing_maps = [#mn], iterator_types = ["parallel", "parallel"]} outs(%s0 : tensor<16x64xf32>) {
      ^bb0(%x: f32):
        %ri = linalg.index 0 : index
        %ci = linalg.index 1 : index
        %key = arith.addi %ci, %key0 : index
        %query = arith.addi %ri, %pos : index
        %ok = arith.cmpi ule, %key, %query : index
        %xm = arith.select %ok, %x, %ninf : f32
        linalg.yield %xm : f32
      } -> tensor<16x64xf32>
      %eM = tensor.empty() : tensor<16xf32>
      %fM = linalg.fill ins(%ninf : f32) outs(%eM : tensor<16xf32>) -> tensor<16xf32>
      %rm = linalg.generic {indexing_maps = [#mn, #m0], iterator_types = ["parallel", "reduction"]} ins(%s : tensor<16x64xf32>) outs(%fM : tensor<16xf32>) {
      ^bb0(%x: f32, %y: f32):
        %t = arith.maxnumf %x, %y : f32
        linalg.yield %t : f32
      } -> tensor<16xf32>
      // alpha before the new maximum: the old one is dead afterwards, so m is updated in place
      %eAl = tensor.empty() : tensor<16xf32>
      %al = linalg.generic {indexing_maps = [#m1, #m1, #m1], iterator_types = ["parallel"]} ins(%m, %rm : tensor<16xf32>, tensor<16xf32>) outs(%eAl : tensor<16xf32>) {
      ^bb0(%x: f32, %y: f32, %z: f32):
        %c = arith.cmpf ogt, %x, %y : f32
        %mm = arith.select %c, %x, %y : f32
        %d = arith.subf %x, %mm : f32
        %w = math.exp2 %d : f32
        linalg.yield %w : f32
      } -> tensor<16xf32>
      %mx = linalg.generic {indexing_maps = [#m1, #m1], iterator_types = ["parallel"]} ins(%rm : tensor<16xf32>) outs(%m : tensor<16xf32>) {
      ^bb0(%x: f32, %y: f32):
        %c = arith.cmpf ogt, %y, %x : f32
        %mm = arith.select %c, %y, %x : f32
        linalg.yield %mm : f32
      } -> tensor<16xf32>
      %l1 = linalg.generic {indexing_maps = [#m1, #m1], iterator_types = ["parallel"]} ins(%al : tensor<16xf32>) outs(%l : tensor<16xf32>) {
      ^bb0(%x: f32, %y: f32):
        %t = arith.mulf %x, %y : f32
        linalg.yield %t : f32
      } -> tensor<16xf32>
      %p, %l2 = linalg.generic {indexing_maps = [#m0, #mn, #m0], iterator_types = ["parallel", "reduction"]} ins(%mx : tensor<16xf32>) outs(%s, %l1 : tensor<16x64xf32>, tensor<16xf32>) {
      ^bb0(%y: f32, %x: f32, %z: f32):
        %d = arith.subf %x, %y : f32
        %w = math.exp2 %d : f32
        %t = arith.addf %z, %w : f32
        linalg.yield %w, %t : f32, f32
      } -> (tensor<16x64xf32>, tensor<16xf32>)
      %as = linalg.generic {indexing_maps = [#m0, #mn], iterator_types = ["parallel", "parallel"]} ins(%al : tensor<16xf32>) outs(%acc : tensor<16x64xf32>) {
      ^bb0(%x: f32, %y: f32):
        %t = arith.mulf %x, %y : f32
        linalg.yield %t : f32
      } -> tensor<16x64xf32>
      %a2 = linalg.matmul ins(%p, %v : tensor<16x64xf32>, tensor<64x64xf32>) outs(%as : tensor<16x64xf32>) -> tensor<16x64xf32>
      scf.yield %mx, %l2, %a2 : tensor<16xf32>, tensor<16xf32>, tensor<16x64xf32>
    }
    %On = scf.for %r = %c0 to %rows step %c1 iter_args(%Or = %Oi) -> (tensor<?x?x64xf32>) {
      %to = arith.addi %row, %r : index
      %or = tensor.extract_slice %rd#2[%r, 0] [1, 64] [1, 1] : tensor<16x64xf32> to tensor<64xf32>
      %lr = tensor.extract_slice %rd#1[%r] [1] [1] : tensor<16xf32> to tensor<1xf32>
      %od = tensor.extract_slice %Or[%to, %h, 0] [1, 1, 64] [1, 1, 1] : tensor<?x?x64xf32> to tensor<64xf32>
      %oc = linalg.generic {indexing_maps = [#m1, #zero, #m1], iterator_types = ["parallel"]}
          ins(%or, %lr : tensor<64xf32>, tensor<1xf32>) outs(%od : tensor<64xf32>) {
      ^bb0(%x: f32, %y: f32, %z: f32):
        %t = arith.divf %x, %y : f32
        linalg.yield %t : f32
      } -> tensor<64xf32>
      %Ok = tensor.insert_slice %oc into %Or[%to, %h, 0] [1, 1, 64] [1, 1, 1] : tensor<64xf32> into tensor<?x?x64xf32>
      scf.yield %Ok : tensor<?x?x64xf32>
    }
    scf.yield %On : tensor<?x?x64xf32>
  }
  bufferization.materialize_in_destination %res in restrict writable %Om : (tensor<?x?x64xf32>, memref<?x?x64xf32>) -> ()
  return
}
func.func @flash_1x64(%Qm: memref<?x?x64xf32> {tw.dims = ["N", "H", 64]},
    %Km: memref<?x?x64x64xf32> {tw.dims = ["P", "HKV", 64, 64]}, %Vm: memref<?x?x64x64xf32> {tw.dims = ["P", "HKV", 64, 64]},
    %tiles: memref<?x8xi32> {tw.dims = ["TILES", 8]}, %pages: memref<?xi32> {tw.dims = ["E"]},
    %Om: memref<?x?x64xf32> {tw.dims = ["N", "H", 64]}, %scale: f32, %n: index {tw.symbol = "N"}, %heads: index {tw.symbol = "H"},
    %kvHeads: index {tw.symbol = "HKV"}, %poolPages: index {tw.symbol = "P"}, %entries: index {tw.symbol = "E"},
    %tileCount: index {tw.symbol = "TILES"}, %begin: index, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %cN = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %ninf = arith.constant -1.0e30 : f32
  %Q = bufferization.to_tensor %Qm restrict : memref<?x?x64xf32> to tensor<?x?x64xf32>
  %K = bufferization.to_tensor %Km restrict : memref<?x?x64x64xf32> to tensor<?x?x64x64xf32>
  %V = bufferization.to_tensor %Vm restrict : memref<?x?x64x64xf32> to tensor<?x?x64x64xf32>
  %O = bufferization.to_tensor %Om restrict writable : memref<?x?x64xf32> to tensor<?x?x64xf32>
  %group = arith.divui %heads, %kvHeads : index
  %res = scf.for %chunk = %begin to %end step %c1 iter_args(%Oi = %O) -> (tensor<?x?x64xf32>) {
    %tile = arith.divui %chunk, %heads : index
    %h = arith.remui %chunk, %heads : index
    %kvh = arith.divui %h, %group : index
    %row32 = memref.load %tiles[%tile, %c0] : memref<?x8xi32>
    %row = arith.index_cast %row32 : i32 to index
    %rows32 = memref.load %tiles[%tile, %c1] : memref<?x8xi32>
    %rows = arith.index_cast %rows32 : i32 to index
    %pos32 = memref.load %tiles[%tile, %c2] : memref<?x8xi32>
    %pos = arith.index_cast %pos32 : i32 to index
    %first32 = memref.load %tiles[%tile, %c4] : memref<?x8xi32>
    %first = arith.index_cast %first32 : i32 to index
    %eQ = tensor.empty() : tensor<1x64xf32>
    %qz = linalg.fill ins(%zero : f32) outs(%eQ : tensor<1x64xf32>) -> tensor<1x64xf32>
    %q = scf.for %r = %c0 to %rows step %c1 iter_args(%qi = %qz) -> (tensor<1x64xf32>) {
      %from = arith.addi %row, %r : index
      %qs = tensor.extract_slice %Q[%from, %h, 0] [1, 1, 64] [1, 1, 1] : tensor<?x?x64xf32> to tensor<64xf32>
      %qd = tensor.extract_slice %qi[%r, 0] [1, 64] [1, 1] : tensor<1x64xf32> to tensor<64xf32>
      %qr = linalg.generic {indexing_maps = [#m1, #m1], iterator_types = ["parallel"]} ins(%qs : tensor<64xf32>) outs(%qd : tensor<64xf32>) {
      ^bb0(%x: f32, %y: f32):
        %t = arith.mulf %x, %scale : f32
        linalg.yield %t : f32
      } -> tensor<64xf32>
      %qn = tensor.insert_slice %qr into %qi[%r, 0] [1, 64] [1, 1] : tensor<64xf32> into tensor<1x64xf32>
      scf.yield %qn : tensor<1x64xf32>
    }
    // Pages whose keys every query sees, then those on the diagonal.
    %seen = arith.addi %pos, %c1 : index
    %nfull = arith.divui %seen, %cN : index
    %last = arith.addi %pos, %rows : index
    %nend = arith.ceildivui %last, %cN : index
    %eR = tensor.empty() : tensor<1xf32>
    %eR2 = tensor.empty() : tensor<1xf32>
    %eA = tensor.empty() : tensor<1x64xf32>
    %m0 = linalg.fill ins(%ninf : f32) outs(%eR : tensor<1xf32>) -> tensor<1xf32>
    %l0 = linalg.fill ins(%zero : f32) outs(%eR2 : tensor<1xf32>) -> tensor<1xf32>
    %a0 = linalg.fill ins(%zero : f32) outs(%eA : tensor<1x64xf32>) -> tensor<1x64xf32>
    %rf:3 = scf.for %kb = %c0 to %nfull step %c1 iter_args(%m = %m0, %l = %l0, %acc = %a0) -> (tensor<1xf32>, tensor<1xf32>, tensor<1x64xf32>) {
      %entry0 = arith.addi %first, %kb : index
      %page320 = memref.load %pages[%entry0] : memref<?xi32>
      %page = arith.index_cast %page320 : i32 to index
      %k = tensor.extract_slice %K[%page, %kvh, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : tensor<?x?x64x64xf32> to tensor<64x64xf32>
      %v = tensor.extract_slice %V[%page, %kvh, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : tensor<?x?x64x64xf32> to tensor<64x64xf32>
      %eS = tensor.empty() : tensor<1x64xf32>
      %zS = linalg.fill ins(%zero : f32) outs(%eS : tensor<1x64xf32>) -> tensor<1x64xf32>
      %s = linalg.matmul ins(%q, %k : tensor<1x64xf32>, tensor<64x64xf32>) outs(%zS : tensor<1x64xf32>) -> tensor<1x64xf32>
      %eM = tensor.empty() : tensor<1xf32>
      %fM = linalg.fill ins(%ninf : f32) outs(%eM : tensor<1xf32>) -> tensor<1xf32>
      %rm = linalg.generic {indexing_maps = [#mn, #m0], iterator_types = ["parallel", "reduction"]} ins(%s : tensor<1x64xf32>) outs(%fM : tensor<1xf32>) {
      ^bb0(%x: f32, %y: f32):
        %t = arith.maxnumf %x, %y : f32
        linalg.yield %t : f32
      } -> tensor<1xf32>
      // alpha before the new maximum: the old one is dead afterwards, so m is updated in place
      %eAl = tensor.empty() : tensor<1xf32>
      %al = linalg.generic {indexing_maps = [#m1, #m1, #m1], iterator_types = ["parallel"]} ins(%m, %rm : tensor<1xf32>, tensor<1xf32>) outs(%eAl : tensor<1xf32>) {
      ^bb0(%x: f32, %y: f32, %z: f32):
        %c = arith.cmpf ogt, %x, %y : f32
        %mm = arith.select %c, %x, %y : f32
        %d = arith.subf %x, %mm : f32
        %w = math.exp2 %d : f32
        linalg.yield %w : f32
      } -> tensor<1xf32>
      %mx = linalg.generic {indexing_maps = [#m1, #m1], iterator_types = ["parallel"]} ins(%rm : tensor<1xf32>) outs(%m : tensor<1xf32>) {
      ^bb0(%x: f32, %y: f32):
        %c = arith.cmpf ogt, %y, %x : f32
        %mm = arith.select %c, %y, %x : f32
        linalg.yield %mm : f32
      } -> tensor<1xf32>
      %l1 = linalg.generic {indexing_maps = [#m1, #m1], iterator_types = ["parallel"]} ins(%al : tensor<1xf32>) outs(%l : tensor<1xf32>) {
      ^bb0(%x: f32, %y: f32):
        %t = arith.mulf %x, %y : f32
        linalg.yield %t : f32
      } -> tensor<1xf32>
      %p, %l2 = linalg.generic {indexing_maps = [#m0, #mn, #m0], iterator_types = ["parallel", "reduction"]} ins(%mx : tensor<1xf32>) outs(%s, %l1 : tensor<1x64xf32>, tensor<1xf32>) {
      ^bb0(%y: f32, %x: f32, %z: f32):
        %d = arith.subf %x, %y : f32
        %w = math.exp2 %d : f32
        %t = arith.addf %z, %w : f32
        linalg.yield %w, %t : f32, f32
      } -> (tensor<1x64xf32>, tensor<1xf32>)
      %as = linalg.generic {indexing_maps = [#m0, #mn], iterator_types = ["parallel", "parallel"]} ins(%al : tensor<1xf32>) outs(%acc : tensor<1x64xf32>) {
      ^bb0(%x: f32, %y: f32):
        %t = arith.mulf %x, %y : f32
        linalg.yield %t : f32
      } -> tensor<1x64xf32>
      %a2 = linalg.matmul ins(%p, %v : tensor<1x64xf32>, tensor<64x64xf32>) outs(%as : tensor<1x64xf32>) -> tensor<1x64xf32>
      scf.yield %mx, %l2, %a2 : tensor<1xf32>, tensor<1xf32>, tensor<1x64xf32>
    }
    %rd:3 = scf.for %kb = %nfull to %nend step %c1 iter_args(%m = %rf#0, %l = %rf#1, %acc = %rf#2) -> (tensor<1xf32>, tensor<1xf32>, tensor<1x64xf32>) {
      %entry1 = arith.addi %first, %kb : index
      %page321 = memref.load %pages[%entry1] : memref<?xi32>
      %page = arith.index_cast %page321 : i32 to index
      %k = tensor.extract_slice %K[%page, %kvh, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : tensor<?x?x64x64xf32> to tensor<64x64xf32>
      %v = tensor.extract_slice %V[%page, %kvh, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : tensor<?x?x64x64xf32> to tensor<64x64xf32>
      %eS = tensor.empty() : tensor<1x64xf32>
      %zS = linalg.fill ins(%zero : f32) outs(%eS : tensor<1x64xf32>) -> tensor<1x64xf32>
      %s0 = linalg.matmul ins(%q, %k : tensor<1x64xf32>, tensor<64x64xf32>) outs(%zS : tensor<1x64xf32>) -> tensor<1x64xf32>
      %key0 = arith.muli %kb, %cN : index
      %s = linalg.generic {indexing_maps = [#mn], iterator_types = ["parallel", "parallel"]} outs(%s0 : tensor<1x64xf32>) {
      ^bb0(%x: f32):
        %ri = linalg.index 0 : index
        %ci = linalg.index 1 : index
        %key = arith.addi %ci, %key0 : index
        %query = arith.addi %ri, %pos : index
        %ok = arith.cmpi ule, %key, %query : index
        %xm = arith.select %ok, %x, %ninf : f32
        linalg.yield %xm : f32
      } -> tensor<1x64xf32>
      %eM = tensor.empty() : tensor<1xf32>
      %fM = linalg.fill ins(%ninf : f32) outs(%eM : tensor<1xf32>) -> tensor<1xf32>
      %rm = linalg.generic {indexing_maps = [#mn, #m0], iterator_types = ["parallel", "reduction"]} ins(%s : tensor<1x64xf32>) outs(%fM : tensor<1xf32>) {
      ^bb0(%x: f32, %y: f32):
        %t = arith.maxnumf %x, %y : f32
        linalg.yield %t : f32
      } -> tensor<1xf32>
      // alpha before the new maximum: the old one is dead afterwards, so m is updated in place
      %eAl = tensor.empty() : tensor<1xf32>
      %al = linalg.generic {indexing_maps = [#m1, #m1, #m1], iterator_types = ["parallel"]} ins(%m, %rm : tensor<1xf32>, tensor<1xf32>) outs(%eAl : tensor<1xf32>) {
      ^bb0(%x: f32, %y: f32, %z: f32):
        %c = arith.cmpf ogt, %x, %y : f32
        %mm = arith.select %c, %x, %y : f32
        %d = arith.subf %x, %mm : f32
        %w = math.exp2 %d : f32
        linalg.yield %w : f32
      } -> tensor<1xf32>
      %mx = linalg.generic {indexing_maps = [#m1, #m1], iterator_types = ["parallel"]} ins(%rm : tensor<1xf32>) outs(%m : tensor<1xf32>) {
      ^bb0(%x: f32, %y: f32):
        %c = arith.cmpf ogt, %y, %x : f32
        %mm = arith.select %c, %y, %x : f32
        linalg.yield %mm : f32
      } -> tensor<1xf32>
      %l1 = linalg.generic {indexing_maps = [#m1, #m1], iterator_types = ["parallel"]} ins(%al : tensor<1xf32>) outs(%l : tensor<1xf32>) {
      ^bb0(%x: f32, %y: f32):
        %t = arith.mulf %x, %y : f32
        linalg.yield %t : f32
      } -> tensor<1xf32>
      %p, %l2 = linalg.generic {indexing_maps = [#m0, #mn, #m0], iterator_types = ["parallel", "reduction"]} ins(%mx : tensor<1xf32>) outs(%s, %l1 : tensor<1x64xf32>, tensor<1xf32>) {
      ^bb0(%y: f32, %x: f32, %z: f32):
        %d = arith.subf %x, %y : f32
        %w = math.exp2 %d : f32
        %t = arith.addf %z, %w : f32
        linalg.yield %w, %t : f32, f32
      } -> (tensor<1x64xf32>, tensor<1xf32>)
      %as = linalg.generic {indexing_maps = [#m0, #mn], iterator_types = ["parallel", "parallel"]} ins(%al : tensor<1xf32>) outs(%acc : tensor<1x64xf32>) {
      ^bb0(%x: f32, %y: f32):
        %t = arith.mulf %x, %y : f32
        linalg.yield %t : f32
      } -> tensor<1x64xf32>
      %a2 = linalg.matmul ins(%p, %v : tensor<1x64xf32>, tensor<64x64xf32>) outs(%as : tensor<1x64xf32>) -> tensor<1x64xf32>
      scf.yield %mx, %l2, %a2 : tensor<1xf32>, tensor<1xf32>, tensor<1x64xf32>
    }
    %On = scf.for %r = %c0 to %rows step %c1 iter_args(%Or = %Oi) -> (tensor<?x?x64xf32>) {
      %to = arith.addi %row, %r : index
      %or = tensor.extract_slice %rd#2[%r, 0] [1, 64] [1, 1] : tensor<1x64xf32> to tensor<64xf32>
      %lr = tensor.extract_slice %rd#1[%r] [1] [1] : tensor<1xf32> to tensor<1xf32>
      %od = tensor.extract_slice %Or[%to, %h, 0] [1, 1, 64] [1, 1, 1] : tensor<?x?x64xf32> to tensor<64xf32>
      %oc = linalg.generic {indexing_maps = [#m1, #zero, #m1], iterator_types = ["parallel"]}
          ins(%or, %lr : tensor<64xf32>, tensor<1xf32>) outs(%od : tensor<64xf32>) {
      ^bb0(%x: f32, %y: f32, %z: f32):
        %t = arith.divf %x, %y : f32
        linalg.yield %t : f32
      } -> tensor<64xf32>
      %Ok = tensor.insert_slice %oc into %Or[%to, %h, 0] [1, 1, 64] [1, 1, 1] : tensor<64xf32> into tensor<?x?x64xf32>
      scf.yield %Ok : tensor<?x?x64xf32>
    }
    scf.yield %On : tensor<?x?x64xf32>
  }
  bufferization.materialize_in_destination %res in restrict writable %Om : (tensor<?x?x64xf32>, memref<?x?x64xf32>) -> ()
  return
}
