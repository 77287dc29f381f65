// REQUIRES: plugin-rotary_embedding
// RUN: %tw-opt --plugin=%plugins/libtilewright_rotary_embedding.so %s | FileCheck %s
// RUN: %tw-opt --plugin rotary_embedding %s | FileCheck %s
// RUN: not %tw-opt --no-plugin rotary_embedding %s 2>&1 | FileCheck %s --check-prefix=HIDDEN
// RUN: env TILEWRIGHT_WITHOUT_PLUGINS=rotary_embedding not %tw-opt %s 2>&1 | FileCheck %s --check-prefix=HIDDEN

// CHECK: rotary_embedding.rotate
// HIDDEN: error: Dialect `rotary_embedding' not found for custom op 'rotary_embedding.rotate'
func.func @f(%x: tensor<?x2x8xf32>, %p: tensor<?xi32>) -> tensor<?x2x8xf32> {
  %0 = rotary_embedding.rotate %x, %p {base = 10000.0 : f64, rotary_dim = 8 : i64} : tensor<?x2x8xf32>, tensor<?xi32>
  return %0 : tensor<?x2x8xf32>
}
