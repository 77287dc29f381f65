// REQUIRES: plugin-swiglu
// RUN: %tw-opt --plugin=%plugins/libtilewright_swiglu.so %s | FileCheck %s
// RUN: %tw-opt --plugin swiglu %s | FileCheck %s
// RUN: not %tw-opt --no-plugin swiglu %s 2>&1 | FileCheck %s --check-prefix=HIDDEN
// RUN: env TILEWRIGHT_WITHOUT_PLUGINS=swiglu not %tw-opt %s 2>&1 | FileCheck %s --check-prefix=HIDDEN

// CHECK: swiglu.glu
// HIDDEN: error: Dialect `swiglu' not found for custom op 'swiglu.glu'
func.func @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = swiglu.glu %x, %x {activation = "relu"} : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
