// REQUIRES: plugin-flash_attention
// RUN: %tw-opt --plugin=%plugins/libtilewright_flash_attention.so %s | FileCheck %s
// RUN: %tw-opt --plugin flash_attention %s | FileCheck %s
// RUN: not %tw-opt --no-plugin flash_attention %s 2>&1 | FileCheck %s --check-prefix=HIDDEN
// RUN: env TILEWRIGHT_WITHOUT_PLUGINS=flash_attention not %tw-opt %s 2>&1 | FileCheck %s --check-prefix=HIDDEN

// CHECK: flash_attention.attention
// HIDDEN: error: Dialect `flash_attention' not found for custom op 'flash_attention.attention'
func.func @f(%q: tensor<1x2x?x8xf32>) -> tensor<1x2x?x8xf32> {
  %0 = flash_attention.attention query(%q : tensor<1x2x?x8xf32>) key(%q : tensor<1x2x?x8xf32>) value(%q : tensor<1x2x?x8xf32>) {scale = 1.0 : f64} -> tensor<1x2x?x8xf32>
  return %0 : tensor<1x2x?x8xf32>
}
