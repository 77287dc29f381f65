// REQUIRES: plugin-position_encoding
// RUN: %tw-opt --plugin=%plugins/libtilewright_position_encoding.so %s | FileCheck %s
// RUN: %tw-opt --plugin position_encoding %s | FileCheck %s
// RUN: not %tw-opt --no-plugin position_encoding %s 2>&1 | FileCheck %s --check-prefix=HIDDEN
// RUN: env TILEWRIGHT_WITHOUT_PLUGINS=position_encoding not %tw-opt %s 2>&1 | FileCheck %s --check-prefix=HIDDEN

// CHECK: position_encoding.learned
// HIDDEN: error: Dialect `position_encoding' not found for custom op 'position_encoding.learned'
func.func @f(%t: tensor<12x8xf32>, %p: tensor<?xi32>) -> tensor<?x8xf32> {
  %0 = position_encoding.learned %t, %p : tensor<12x8xf32>, tensor<?xi32> -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
