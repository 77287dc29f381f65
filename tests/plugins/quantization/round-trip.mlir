// REQUIRES: plugin-quantization
// RUN: %tw-opt %s | %tw-opt | FileCheck %s

// CHECK-LABEL: func.func @types
// CHECK-SAME: tensor<16x64x!quantization.q4_0>, %{{.*}}: tensor<16x64x!quantization.q4_1>, %{{.*}}: tensor<16x64x!quantization.q8_0>, %{{.*}}: tensor<16x64xf16>, %{{.*}}: tensor<16x64xbf16>
func.func @types(%a: tensor<16x64x!quantization.q4_0>, %b: tensor<16x64x!quantization.q4_1>, %c: tensor<16x64x!quantization.q8_0>, %d: tensor<16x64xf16>, %e: tensor<16x64xbf16>, %x: tensor<?x64xf32>, %i: tensor<?xi32>, %f: tensor<16x37x!quantization.int8>, %z: tensor<?x37xf32>) {
  // CHECK: tw.linear %{{.*}}, %{{.*}} : tensor<?x64xf32>, tensor<16x64x!quantization.q4_0> -> tensor<?x16xf32>
  %0 = tw.linear %x, %a : tensor<?x64xf32>, tensor<16x64x!quantization.q4_0> -> tensor<?x16xf32>
  %1 = tw.linear %x, %b : tensor<?x64xf32>, tensor<16x64x!quantization.q4_1> -> tensor<?x16xf32>
  %2 = tw.linear %x, %c : tensor<?x64xf32>, tensor<16x64x!quantization.q8_0> -> tensor<?x16xf32>
  %3 = tw.linear %x, %d : tensor<?x64xf32>, tensor<16x64xf16> -> tensor<?x16xf32>
  %4 = tw.linear %x, %e : tensor<?x64xf32>, tensor<16x64xbf16> -> tensor<?x16xf32>
  // CHECK: tw.gather %{{.*}}, %{{.*}} : tensor<16x64x!quantization.q8_0>, tensor<?xi32> -> tensor<?x64xf32>
  %5 = tw.gather %c, %i : tensor<16x64x!quantization.q8_0>, tensor<?xi32> -> tensor<?x64xf32>
  // CHECK: tw.linear %{{.*}}, %{{.*}} : tensor<?x37xf32>, tensor<16x37x!quantization.int8> -> tensor<?x16xf32>
  %6 = tw.linear %z, %f : tensor<?x37xf32>, tensor<16x37x!quantization.int8> -> tensor<?x16xf32>
  return
}
