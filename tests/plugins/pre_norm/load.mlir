// REQUIRES: plugin-pre_norm, plugin-rms_norm
// RUN: %tw-opt --plugin=%plugins/libtilewright_pre_norm.so %s | FileCheck %s
// RUN: %tw-opt --plugin pre_norm %s | FileCheck %s
// RUN: not %tw-opt --no-plugin pre_norm %s 2>&1 | FileCheck %s --check-prefix=HIDDEN
// RUN: env TILEWRIGHT_WITHOUT_PLUGINS=pre_norm not %tw-opt %s 2>&1 | FileCheck %s --check-prefix=HIDDEN

// CHECK: pre_norm.add_norm
// HIDDEN: error: Dialect `pre_norm' not found for custom op 'pre_norm.add_norm'
func.func @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0, %1 = pre_norm.add_norm "rms_norm.norm" %x, %x {norm_attributes = {epsilon = 1.0 : f64, operandSegmentSizes = array<i32: 1, 0, 0>}} : tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}
