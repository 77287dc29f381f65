// REQUIRES: plugin-ring_attention
// RUN: %tw-opt --plugin=%plugins/libtilewright_ring_attention.so %s | FileCheck %s
// RUN: %tw-opt --plugin ring_attention %s | FileCheck %s
// RUN: not %tw-opt --no-plugin ring_attention %s 2>&1 | FileCheck %s --check-prefix=HIDDEN

// CHECK: ring_attention.attention
// HIDDEN: error: Dialect `ring_attention' not found for custom op 'ring_attention.attention'
func.func @f(%q: tensor<1x2x3x8xf32>) -> tensor<1x2x3x8xf32> {
  %o = ring_attention.attention query(%q : tensor<1x2x3x8xf32>) key(%q : tensor<1x2x3x8xf32>) value(%q : tensor<1x2x3x8xf32>) {scale = 1.0 : f64, num_shards = 2 : i64} -> tensor<1x2x3x8xf32>
  return %o : tensor<1x2x3x8xf32>
}
