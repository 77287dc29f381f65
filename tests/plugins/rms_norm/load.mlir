// REQUIRES: plugin-rms_norm
// Named by its file, found by its name, and hidden: then the op is unknown and the error says so.
// RUN: %tw-opt --plugin=%plugins/libtilewright_rms_norm.so %s | FileCheck %s
// RUN: %tw-opt --plugin rms_norm %s | FileCheck %s
// RUN: not %tw-opt --no-plugin rms_norm %s 2>&1 | FileCheck %s --check-prefix=HIDDEN
// RUN: env TILEWRIGHT_WITHOUT_PLUGINS=rms_norm not %tw-opt %s 2>&1 | FileCheck %s --check-prefix=HIDDEN

// CHECK: rms_norm.norm
// HIDDEN: error: Dialect `rms_norm' not found for custom op 'rms_norm.norm'
func.func @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = rms_norm.norm %x {epsilon = 1.0e-05 : f64} : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
