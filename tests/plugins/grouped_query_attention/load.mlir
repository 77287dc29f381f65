// REQUIRES: plugin-grouped_query_attention
// RUN: %tw-opt --plugin=%plugins/libtilewright_grouped_query_attention.so --grouped-query-attention-share %s | FileCheck %s
// RUN: not %tw-opt --no-plugin grouped_query_attention --grouped-query-attention-share %s 2>&1 | FileCheck %s --check-prefix=HIDDEN
// Without it attention stays as it is written.
// RUN: %tw-opt --no-plugin grouped_query_attention --no-plugin flash_attention --tilewright-stages %s | FileCheck %s

// CHECK: tw.attention
// HIDDEN: Unknown command line argument '--grouped-query-attention-share'
func.func @f(%q: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
  %o = tw.attention query(%q : tensor<1x2x3x4xf32>) key(%q : tensor<1x2x3x4xf32>) value(%q : tensor<1x2x3x4xf32>) {scale = 1.0 : f64} -> tensor<1x2x3x4xf32>
  return %o : tensor<1x2x3x4xf32>
}
