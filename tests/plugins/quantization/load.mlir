// REQUIRES: plugin-quantization
// RUN: %tw-opt --plugin=%plugins/libtilewright_quantization.so %s | FileCheck %s
// RUN: not %tw-opt --no-plugin quantization %s 2>&1 | FileCheck %s --check-prefix=HIDDEN

// CHECK: tensor<16x32x!quantization.q4_1>
// HIDDEN: error: {{.*}}quantization
func.func @f(%w: tensor<16x32x!quantization.q4_1>) {
  return
}
