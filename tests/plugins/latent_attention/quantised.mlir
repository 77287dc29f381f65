// REQUIRES: plugin-latent_attention, plugin-quantization
// RUN: %tw-opt %s --split-input-file --verify-diagnostics --latent-attention-choose-form | FileCheck %s

// A quantised up-projection is for the expanded form, whatever the lengths.
// CHECK-LABEL: func.func @one_query
// CHECK: tw.linear %{{.*}}, %{{.*}} : tensor<2x60x32xf32>, tensor<16x32x!quantization.q8_0> -> tensor<2x60x16xf32>
func.func @one_query(%qn: tensor<2x2x1x3xf32>, %qr: tensor<2x2x1x2xf32>, %w: tensor<16x32x!quantization.q8_0>, %c: tensor<2x60x32xf32>, %k: tensor<2x60x2xf32>)
    -> tensor<2x2x1x5xf32> {
  %o = latent_attention.attention query(%qn, %qr : tensor<2x2x1x3xf32>, tensor<2x2x1x2xf32>) up(%w : tensor<16x32x!quantization.q8_0>)
      latent(%c, %k : tensor<2x60x32xf32>, tensor<2x60x2xf32>) -> tensor<2x2x1x5xf32>
  return %o : tensor<2x2x1x5xf32>
}

// -----

func.func @attention_c5_quantised(%qn: tensor<2x2x7x3xf32>, %qr: tensor<2x2x7x2xf32>, %w: tensor<16x32x!quantization.q8_0>, %c: tensor<2x6x32xf32>, %k: tensor<2x6x2xf32>) {
  // expected-error@below {{wants an up-projection of floats in the absorbed form, which reads it in both directions; found}}
  %o = latent_attention.attention query(%qn, %qr : tensor<2x2x7x3xf32>, tensor<2x2x7x2xf32>) up(%w : tensor<16x32x!quantization.q8_0>)
      latent(%c, %k : tensor<2x6x32xf32>, tensor<2x6x2xf32>) {form = "absorbed"} -> tensor<2x2x7x5xf32>
  return
}
