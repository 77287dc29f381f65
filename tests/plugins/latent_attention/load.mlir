// REQUIRES: plugin-latent_attention
// Named by its file, found by its name, and hidden: then the op is unknown and the error says so.
// RUN: %tw-opt --plugin=%plugins/libtilewright_latent_attention.so %s | FileCheck %s
// RUN: %tw-opt --plugin latent_attention %s | FileCheck %s
// RUN: not %tw-opt --no-plugin latent_attention %s 2>&1 | FileCheck %s --check-prefix=HIDDEN
// RUN: env TILEWRIGHT_WITHOUT_PLUGINS=latent_attention not %tw-opt %s 2>&1 | FileCheck %s --check-prefix=HIDDEN

// CHECK: latent_attention.absorb
// HIDDEN: error: Dialect `latent_attention' not found for custom op 'latent_attention.absorb'
func.func @f(%x: tensor<?x2x3xf32>, %w: tensor<16x4xf32>) -> tensor<?x2x4xf32> {
  %0 = latent_attention.absorb "key" %x, %w : tensor<?x2x3xf32>, tensor<16x4xf32> -> tensor<?x2x4xf32>
  return %0 : tensor<?x2x4xf32>
}
