// What `tilewright plugins check` tries (docs/conformance.md).
// For grouped-query-attention-share: keys and values repeated head by head.
func.func @repeat_interleave(%q: tensor<1x4x?x8xf32> {tw.symbols = [1, 4, "T", 8]}, %k: tensor<1x2x?x8xf32> {tw.symbols = [1, 2, "S", 8]},
    %v: tensor<1x2x?x8xf32> {tw.symbols = [1, 2, "S", 8]}, %like: tensor<1x2x2x?x8xf32> {tw.symbols = [1, 2, 2, "S", 8]}) -> tensor<1x4x?x8xf32> {
  %kb = tw.broadcast %k like %like dims [0, 1, 3, 4] : tensor<1x2x?x8xf32>, tensor<1x2x2x?x8xf32> -> tensor<1x2x2x?x8xf32>
  %kr = tw.reshape %kb : tensor<1x2x2x?x8xf32> -> tensor<1x4x?x8xf32>
  %vb = tw.broadcast %v like %like dims [0, 1, 3, 4] : tensor<1x2x?x8xf32>, tensor<1x2x2x?x8xf32> -> tensor<1x2x2x?x8xf32>
  %vr = tw.reshape %vb : tensor<1x2x2x?x8xf32> -> tensor<1x4x?x8xf32>
  %o = tw.attention query(%q : tensor<1x4x?x8xf32>) key(%kr : tensor<1x4x?x8xf32>) value(%vr : tensor<1x4x?x8xf32>) {scale = 0.35 : f64} -> tensor<1x4x?x8xf32>
  return %o : tensor<1x4x?x8xf32>
}

// -----

// The list of heads repeated as a whole is another thing, and stays.
func.func @tile(%q: tensor<1x4x?x8xf32> {tw.symbols = [1, 4, "T", 8]}, %k: tensor<1x2x?x8xf32> {tw.symbols = [1, 2, "S", 8]}) -> tensor<1x4x?x8xf32> {
  %kr = tw.concat dim 1 %k, %k : tensor<1x2x?x8xf32>, tensor<1x2x?x8xf32> -> tensor<1x4x?x8xf32>
  %o = tw.attention query(%q : tensor<1x4x?x8xf32>) key(%kr : tensor<1x4x?x8xf32>) value(%kr : tensor<1x4x?x8xf32>) {scale = 0.35 : f64} -> tensor<1x4x?x8xf32>
  return %o : tensor<1x4x?x8xf32>
}

// -----

func.func @groups_of_groups(%q: tensor<1x8x3x8xf32>, %k: tensor<1x2x5x8xf32>) -> tensor<1x8x3x8xf32> {
  %a = tw.slice %k dim 1 start 0 size 1 : tensor<1x2x5x8xf32> -> tensor<1x1x5x8xf32>
  %b = tw.slice %k dim 1 start 1 size 1 : tensor<1x2x5x8xf32> -> tensor<1x1x5x8xf32>
  %kr = tw.concat dim 1 %a, %a, %b, %b : tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32>, tensor<1x1x5x8xf32> -> tensor<1x4x5x8xf32>
  %o = tw.attention query(%q : tensor<1x8x3x8xf32>) key(%kr : tensor<1x4x5x8xf32>) value(%kr : tensor<1x4x5x8xf32>) {scale = 0.35 : f64} -> tensor<1x8x3x8xf32>
  return %o : tensor<1x8x3x8xf32>
}
